/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties: their defaults, when they may change, and changes by other
 * threads while frames run. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

typedef struct {
  const gchar *name;
  const gchar *value;     /* the default */
  const gchar *other;     /* another valid value */
  GParamFlags changeable; /* up to which state */
} Property;

/* The engine comes last: another one may not be able to start. */
static const Property properties[] = {
    {"cuda-device-id", "-1", "0", GST_PARAM_MUTABLE_READY},
    {"algorithm", "auto", "sort", GST_PARAM_MUTABLE_READY},
    {"n-threads", "1", "2", GST_PARAM_MUTABLE_READY},
    {"async-depth", "2", "7", GST_PARAM_MUTABLE_READY},
    {"bins", "256", "16", GST_PARAM_MUTABLE_READY},
    {"significant-bits", "0", "12", GST_PARAM_MUTABLE_READY},
    {"attach-meta", "true", "false", GST_PARAM_MUTABLE_PLAYING},
    {"post-messages", "true", "false", GST_PARAM_MUTABLE_PLAYING},
    {"interval", "0", "12345678901234", GST_PARAM_MUTABLE_PLAYING},
    {"max-pending-messages", "256", "3", GST_PARAM_MUTABLE_PLAYING},
    {"verify", "false", "true", GST_PARAM_MUTABLE_PLAYING},
    {"register-memory", "true", "false", GST_PARAM_MUTABLE_PLAYING},
    {"statistics", "mean+min+max", "variance+entropy",
     GST_PARAM_MUTABLE_PLAYING},
    {"percentiles", "<5, 95>", "<99.9, 0, 50>", GST_PARAM_MUTABLE_PLAYING},
    {"roi", "", "0,0,64,48", GST_PARAM_MUTABLE_PLAYING},
    {"roi-metas", "false", "true", GST_PARAM_MUTABLE_PLAYING},
    {"crop-meta", "false", "true", GST_PARAM_MUTABLE_PLAYING},
    {"zones", "", "8x6", GST_PARAM_MUTABLE_PLAYING},
    {"zone-weights", "< >", "<0.5, 3, 1e300>", GST_PARAM_MUTABLE_PLAYING},
    {"rows", "false", "true", GST_PARAM_MUTABLE_PLAYING},
    {"engine", "auto", "cuda", GST_PARAM_MUTABLE_READY},
};

/* Of properties[], those that the test can change without another engine. */
#define N_PLAIN (G_N_ELEMENTS(properties) - 1)

static GParamSpec *
find_property(GstElement *element, const gchar *name)
{
  GParamSpec *pspec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);

  fail_unless(pspec != NULL, "no property %s", name);
  return pspec;
}

static void
check_value(GstElement *element, const gchar *name, const gchar *want)
{
  GParamSpec *pspec = find_property(element, name);
  GValue value = G_VALUE_INIT, wanted = G_VALUE_INIT;

  g_value_init(&value, pspec->value_type);
  g_value_init(&wanted, pspec->value_type);
  g_object_get_property(G_OBJECT(element), name, &value);
  fail_unless(gst_value_deserialize_with_pspec(&wanted, want, pspec));
  fail_unless(g_param_values_cmp(pspec, &value, &wanted) == 0, "%s is not %s",
              name, want);
  g_value_unset(&wanted);
  g_value_unset(&value);
}

GST_START_TEST(properties_have_their_defaults_and_flags)
{
  const guint mutable_flags = GST_PARAM_MUTABLE_READY |
                              GST_PARAM_MUTABLE_PAUSED |
                              GST_PARAM_MUTABLE_PLAYING;
  GstElement *element = gst_element_factory_make("gpuhistogram", NULL);
  GParamSpec *stats;

  gst_object_ref_sink(element);
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
    GParamSpec *pspec = find_property(element, properties[i].name);

    fail_unless_equals_int_hex(pspec->flags & G_PARAM_READWRITE,
                               G_PARAM_READWRITE);
    fail_unless_equals_int_hex(pspec->flags & mutable_flags,
                               properties[i].changeable);
    fail_if(pspec->flags & G_PARAM_CONSTRUCT);
    check_value(element, properties[i].name, properties[i].value);
  }
  stats = find_property(element, "stats");
  fail_unless_equals_int_hex(stats->flags & G_PARAM_READWRITE,
                             G_PARAM_READABLE);
  fail_unless(stats->value_type == GST_TYPE_STRUCTURE);
  gst_object_unref(element);
}
GST_END_TEST;

/* In the state, property after property, and back to its default. */
static void
change_each(GstElement *element, GParamFlags refused)
{
  for (guint i = 0; i < N_PLAIN; i++) {
    const Property *p = &properties[i];
    gboolean refuse = p->changeable == refused;

    gst_util_set_object_arg(G_OBJECT(element), p->name, p->other);
    fail_unless_equals_int(test_warnings_take(), refuse ? 1 : 0);
    check_value(element, p->name, refuse ? p->value : p->other);
    gst_util_set_object_arg(G_OBJECT(element), p->name, p->value);
    fail_unless_equals_int(test_warnings_take(), refuse ? 1 : 0);
    check_value(element, p->name, p->value);
  }
}

GST_START_TEST(properties_change_in_their_states_only)
{
  GstElement *element = test_element(NULL);

  test_warnings_watch(element);
  change_each(element, 0);
  test_set_state(element, GST_STATE_READY);
  change_each(element, 0);
  test_set_state(element, GST_STATE_PAUSED);
  change_each(element, GST_PARAM_MUTABLE_READY);
  gst_util_set_object_arg(G_OBJECT(element), "engine", "auto");
  fail_unless_equals_int(test_warnings_take(), 1);
  check_value(element, "engine", test_engine());
  test_set_state(element, GST_STATE_PLAYING);
  change_each(element, GST_PARAM_MUTABLE_READY);
  test_set_state(element, GST_STATE_READY);
  change_each(element, 0);
  test_set_state(element, GST_STATE_NULL);
  change_each(element, 0);
  gst_object_unref(element);
}
GST_END_TEST;

/* What was set in READY holds from the next start on. */
GST_START_TEST(changes_in_ready_take_effect)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  for (guint i = 0; i < 5; i++) {
    guint bins = i % 2 == 0 ? 16 : 256;

    test_set_state(f.element, GST_STATE_READY);
    g_object_set(f.element, "bins", bins, "async-depth", 1 + i, "n-threads",
                 1 + i % 3, NULL);
    test_set_state(f.element, GST_STATE_PLAYING);
    gst_harness_push_event(f.harness, gst_event_new_stream_start("again"));
    fail_unless(test_fixture_renegotiate(&f, CAPS));
    test_fixture_start_segment(&f);
    test_fixture_measure(&f, test_frame_flat(&f.info, (guint8)i, i), bins);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(stats_tell_what_happens)
{
  TestFixture f;
  gchar *engine, *device, *reason;

  test_fixture_setup(&f, CAPS, NULL);
  for (guint i = 0; i < 7; i++)
    test_fixture_push(&f, test_frame_flat(&f.info, 1, i));
  test_fixture_drain(&f);
  engine = test_stat_string(f.element, "engine");
  device = test_stat_string(f.element, "device");
  reason = test_stat_string(f.element, "reason");
  fail_unless_equals_string(engine, test_engine());
  fail_unless(*device != '\0');
  fail_unless(*reason != '\0');
  fail_unless_equals_uint64(test_stat(f.element, "frames"), 7);
  fail_unless_equals_uint64(test_stat(f.element, "messages-dropped"), 0);
  fail_unless(test_stat(f.element, "in-flight-max") >= 1);
  fail_unless(test_stat(f.element, "in-flight-max") <= 2);
  if (g_str_equal(test_engine(), "cuda")) {
    fail_unless(test_stat(f.element, "bytes-uploaded") >= 7 * 64 * 48);
    fail_unless(test_stat(f.element, "device-time") > 0);
  } else {
    fail_unless_equals_uint64(test_stat(f.element, "bytes-uploaded"), 0);
    fail_unless_equals_uint64(test_stat(f.element, "bytes-copied"), 0);
  }
  g_free(engine);
  g_free(device);
  g_free(reason);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- Other threads ---- */

typedef struct {
  GstElement *element;
  GstBus *bus;
  gint running; /* atomic */
  guint errors;
  guint warnings;
  guint refused;
  GRand *random;
} Meddler;

static gboolean
is_ours(GParamSpec *pspec)
{
  return g_str_equal(g_type_name(pspec->owner_type), "GstGpuHistogram");
}

static void
set_numbers_at_random(GstElement *element, const gchar *name, GRand *random)
{
  GValue array = G_VALUE_INIT;
  gint n = g_rand_int_range(random, 0, 65);

  gst_value_array_init(&array, (guint)n);
  for (gint i = 0; i < n; i++) {
    GValue percent = G_VALUE_INIT;

    g_value_init(&percent, G_TYPE_DOUBLE);
    g_value_set_double(&percent, g_rand_double_range(random, 0.0, 100.0));
    gst_value_array_append_and_take_value(&array, &percent);
  }
  g_object_set_property(G_OBJECT(element), name, &array);
  g_value_unset(&array);
}

/* Rectangles and grids, some of them impossible: at times of the property, and
 * in frames of 64x48. */
static void
set_text_at_random(GstElement *element, const gchar *name, GRand *random)
{
  static const gchar *const texts[] = {
      "",    "",     "1,2,3,4", "10%,10%,50%,50%", "100,100,9,9", "?", "",
      "8x6", "64x1", "1x64"};

  g_object_set(element, name,
               texts[g_rand_int_range(random, 0, G_N_ELEMENTS(texts))], NULL);
}

static void
set_at_random(GstElement *element, GParamSpec *pspec, GRand *random)
{
  const gchar *name = pspec->name;

  if (G_IS_PARAM_SPEC_BOOLEAN(pspec)) {
    g_object_set(element, name, g_rand_boolean(random), NULL);
  } else if (G_IS_PARAM_SPEC_ENUM(pspec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM(pspec)->enum_class;
    guint which = (guint)g_rand_int_range(random, 0, (gint32)klass->n_values);

    g_object_set(element, name, klass->values[which].value, NULL);
  } else if (G_IS_PARAM_SPEC_FLAGS(pspec)) {
    const GFlagsClass *klass = G_PARAM_SPEC_FLAGS(pspec)->flags_class;

    g_object_set(element, name, g_rand_int(random) & klass->mask, NULL);
  } else if (GST_IS_PARAM_SPEC_ARRAY_LIST(pspec)) {
    set_numbers_at_random(element, name, random);
  } else if (G_IS_PARAM_SPEC_STRING(pspec)) {
    set_text_at_random(element, name, random);
  } else if (G_IS_PARAM_SPEC_UINT(pspec)) {
    const GParamSpecUInt *range = G_PARAM_SPEC_UINT(pspec);

    g_object_set(element, name,
                 range->minimum +
                     g_rand_int(random) % (range->maximum - range->minimum),
                 NULL);
  } else if (G_IS_PARAM_SPEC_INT(pspec)) {
    g_object_set(element, name, g_rand_int_range(random, -1, 1000), NULL);
  } else {
    fail_unless(G_IS_PARAM_SPEC_UINT64(pspec));
    g_object_set(element, name, (guint64)g_rand_int(random), NULL);
  }
}

/* As long as frames run, and 5000 times at least. */
static gpointer
write_properties(gpointer data)
{
  Meddler *meddler = data;
  GObjectClass *klass = G_OBJECT_GET_CLASS(meddler->element);
  guint n_specs, sets = 0;
  GParamSpec **specs = g_object_class_list_properties(klass, &n_specs);

  for (guint i = 0; sets < 5000 || g_atomic_int_get(&meddler->running);
       i = (i + 1) % n_specs) {
    if (!is_ours(specs[i]) || !(specs[i]->flags & G_PARAM_WRITABLE))
      continue;
    set_at_random(meddler->element, specs[i], meddler->random);
    if (specs[i]->flags & GST_PARAM_MUTABLE_READY)
      meddler->refused++;
    sets++;
  }
  g_free(specs);
  return NULL;
}

static void
take_messages(Meddler *meddler)
{
  GstMessage *message;

  while ((message = gst_bus_pop(meddler->bus))) {
    meddler->errors += GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    meddler->warnings += GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    gst_message_unref(message);
  }
}

/* Also takes what is on the bus, as the application's thread would. */
static gpointer
read_properties(gpointer data)
{
  Meddler *meddler = data;
  GObjectClass *klass = G_OBJECT_GET_CLASS(meddler->element);
  guint n_specs;
  GParamSpec **specs = g_object_class_list_properties(klass, &n_specs);

  while (g_atomic_int_get(&meddler->running)) {
    take_messages(meddler);
    for (guint i = 0; i < n_specs; i++) {
      GValue value = G_VALUE_INIT;

      if (!is_ours(specs[i]))
        continue;
      g_value_init(&value, specs[i]->value_type);
      g_object_get_property(G_OBJECT(meddler->element), specs[i]->name, &value);
      g_value_unset(&value);
    }
  }
  g_free(specs);
  return NULL;
}

static guint64
sum_bins(const GstGpuHistogramMeta *meta)
{
  guint64 sum = 0;

  for (guint bin = 0; bin < meta->n_bins; bin++)
    sum += meta->bins[bin];
  return sum;
}

/* Whatever is measured of the frame has this value; returns how many parts
 * are. */
static guint
check_flat_parts(GstBuffer *buffer, guint value)
{
  gpointer state = NULL;
  guint count = 0;
  GstMeta *next;

  while ((next = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_GPU_HISTOGRAM_META_API_TYPE))) {
    GstGpuHistogramMeta *meta = (GstGpuHistogramMeta *)next;
    guint64 pixels = (guint64)meta->rectangle.w * (guint64)meta->rectangle.h;

    fail_unless_equals_uint64(meta->pixels, pixels);
    fail_unless_equals_uint64(meta->sum, pixels * value);
    fail_unless_equals_uint64(meta->bins[value], pixels);
    fail_unless_equals_uint64(sum_bins(meta), pixels);
    count++;
  }
  return count;
}

/* What may not change while frames run has its default. */
static void
check_locked_values(GstElement *element)
{
  for (guint i = 0; i < N_PLAIN; i++)
    if (properties[i].changeable == GST_PARAM_MUTABLE_READY)
      check_value(element, properties[i].name, properties[i].value);
  check_value(element, "engine", test_engine());
}

GST_START_TEST(B22_properties_change_while_frames_run)
{
  const guint frames = 2000;
  Meddler meddler = {.running = TRUE, .random = test_random()};
  GThread *writer, *reader;
  guint metas = 0;
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_tap_skip_until(f.tap, GST_EVENT_SEGMENT);
  meddler.element = f.element;
  meddler.bus = f.bus;
  test_warnings_watch(f.element);
  writer = g_thread_new("writer", write_properties, &meddler);
  reader = g_thread_new("reader", read_properties, &meddler);
  for (guint i = 0; i < frames; i++)
    test_fixture_push(&f, test_frame_flat(&f.info, (guint8)i, i));
  for (guint i = 0; i < frames; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(f.tap);

    fail_unless_equals_int(test_first_sample(buffer), (guint8)i);
    metas += check_flat_parts(buffer, (guint8)i);
    gst_buffer_unref(buffer);
  }
  g_atomic_int_set(&meddler.running, FALSE);
  g_thread_join(writer);
  g_thread_join(reader);
  take_messages(&meddler);
  fail_unless_equals_int(test_warnings_take(),
                         meddler.refused + meddler.warnings);
  fail_unless(meddler.refused > 0);
  fail_unless(metas > 0, "no frame was measured");
  check_locked_values(f.element);
  fail_unless_equals_int(meddler.errors, 0);
  g_rand_free(meddler.random);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
properties_suite(void)
{
  Suite *suite = suite_create("properties");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, properties_have_their_defaults_and_flags);
  tcase_add_test(chain, properties_change_in_their_states_only);
  tcase_add_test(chain, changes_in_ready_take_effect);
  tcase_add_test(chain, stats_tell_what_happens);
  tcase_add_test(chain, B22_properties_change_while_frames_run);
  return suite;
}

TEST_MAIN(properties)
