/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The figures in the element message: which of them are there, as the
 * properties statistics and percentiles have it, and their values. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define ALL                                                      \
  "mean+min+max+variance+standard-deviation+median+percentiles+" \
  "interpercentile-mean+clipped+entropy"

static const gchar *always[] = {
    "timestamp", "stream-time", "running-time", "duration",      "frame",
    "width",     "height",      "pixels",       "sum",           "region",
    "region-x",  "region-y",    "region-width", "region-height", "histogram"};

typedef struct {
  const gchar *flag;
  const gchar *field;
  GType type;
} Field;

static const Field fields[] = {
    {"mean", "mean", G_TYPE_DOUBLE},
    {"min", "min", G_TYPE_UINT},
    {"max", "max", G_TYPE_UINT},
    {"variance", "variance", G_TYPE_DOUBLE},
    {"standard-deviation", "standard-deviation", G_TYPE_DOUBLE},
    {"median", "median", G_TYPE_UINT},
    {"interpercentile-mean", "interpercentile-mean", G_TYPE_DOUBLE},
    {"clipped", "clipped-dark", G_TYPE_DOUBLE},
    {"clipped", "clipped-bright", G_TYPE_DOUBLE},
    {"entropy", "entropy", G_TYPE_DOUBLE},
};

/* Half of the frame is 0 and a quarter 100; the rest is 200, but for the last
 * row's 64 samples of 255. */
static guint8
pattern(guint x, guint y, gpointer unused)
{
  if (y == 47)
    return 255;
  return y < 24 ? 0 : y < 36 ? 100 : 200;
}

/* What the message says of the pattern, in the order of fields[]. */
static const gdouble expected[] = {
    (12 * 100 + 11 * 200 + 255) / 48.0,
    0,
    255,
    7223.1662326389, /* 625025 / 48 - mean^2 */
    84.9892124486,
    0,
    (12 * 100 + 11 * 200) / 47.0, /* without the brightest 64 */
    0.5,
    1 / 48.0,
    1.6034542126,
};

static void
set(TestFixture *f, const gchar *property, const gchar *value)
{
  gst_util_set_object_arg(G_OBJECT(f->element), property, value);
}

static GstMessage *
measure(TestFixture *f)
{
  test_fixture_push(f, test_frame_new(&f->info, NULL, pattern, NULL));
  return test_bus_pop_histogram(f->bus);
}

static void
check_field(const GstStructure *structure, guint i)
{
  const GValue *value = gst_structure_get_value(structure, fields[i].field);
  gdouble number;

  fail_unless(value != NULL, "%s is missing", fields[i].field);
  fail_unless(G_VALUE_TYPE(value) == fields[i].type);
  number = fields[i].type == G_TYPE_UINT ? g_value_get_uint(value)
                                         : g_value_get_double(value);
  fail_unless(ABS(number - expected[i]) < 1e-10 * (1 + expected[i]),
              "%s is %.12g", fields[i].field, number);
}

/* Exactly the fields of the flag, beside those that are always there. */
static void
check_flag(const GstStructure *structure, const gchar *flag)
{
  guint n = G_N_ELEMENTS(always);

  for (guint i = 0; i < G_N_ELEMENTS(always); i++)
    fail_unless(gst_structure_has_field(structure, always[i]), "%s", always[i]);
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    if (!g_str_equal(fields[i].flag, flag))
      continue;
    check_field(structure, i);
    n++;
  }
  fail_unless_equals_int(gst_structure_n_fields(structure), n);
}

GST_START_TEST(each_flag_brings_its_fields_alone)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    GstMessage *message;

    set(&f, "statistics", fields[i].flag);
    message = measure(&f);
    check_flag(gst_message_get_structure(message), fields[i].flag);
    gst_message_unref(message);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(no_flag_brings_no_figure)
{
  TestFixture f;
  GstMessage *message;

  test_fixture_setup(&f, CAPS, "statistics", 0, NULL);
  message = measure(&f);
  check_flag(gst_message_get_structure(message), "none");
  gst_message_unref(message);
  test_fixture_teardown(&f);
}
GST_END_TEST;

GST_START_TEST(all_flags_survive_as_text)
{
  const GstStructure *structure;
  GstStructure *parsed;
  GstMessage *message;
  TestFixture f;
  gchar *text;

  test_fixture_setup(&f, CAPS, NULL);
  set(&f, "statistics", ALL);
  message = measure(&f);
  structure = gst_message_get_structure(message);
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    check_field(structure, i);
  fail_unless(
      gst_structure_has_field_typed(structure, "percentiles", GST_TYPE_ARRAY));
  fail_unless_equals_int(gst_structure_n_fields(structure),
                         G_N_ELEMENTS(always) + G_N_ELEMENTS(fields) + 1);
  text = gst_structure_to_string(structure);
  parsed = gst_structure_from_string(text, NULL);
  fail_unless(parsed != NULL);
  fail_unless(gst_structure_is_equal(parsed, structure), "%s", text);
  gst_structure_free(parsed);
  g_free(text);
  gst_message_unref(message);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* ---- Percentiles ---- */

/* Sets percentiles, measures, and compares what the message says. */
static void
check_percentiles(TestFixture *f, const gchar *percentiles, guint n,
                  const guint *levels)
{
  GstMessage *message;
  const GValue *array;

  set(f, "percentiles", percentiles);
  message = measure(f);
  array = gst_structure_get_value(gst_message_get_structure(message),
                                  "percentiles");
  fail_unless(array != NULL && GST_VALUE_HOLDS_ARRAY(array));
  fail_unless_equals_int(gst_value_array_get_size(array), n);
  for (guint i = 0; i < n; i++)
    fail_unless_equals_int(
        g_value_get_uint(gst_value_array_get_value(array, i)), levels[i]);
  gst_message_unref(message);
}

GST_START_TEST(percentiles_come_in_the_order_of_the_property)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  set(&f, "statistics", "percentiles");
  check_percentiles(&f, "<5, 95>", 2, (const guint[]){0, 200});
  check_percentiles(&f, "<100, 50, 50.1, 75, 75.1, 97.9>", 6,
                    (const guint[]){255, 0, 100, 100, 200, 200});
  check_percentiles(&f, "<97.95>", 1, (const guint[]){255});
  check_percentiles(&f, "< >", 0, NULL);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static gdouble
measure_between(TestFixture *f, const gchar *percentiles)
{
  GstMessage *message;
  gdouble mean;

  set(f, "percentiles", percentiles);
  message = measure(f);
  if (!gst_structure_get_double(gst_message_get_structure(message),
                                "interpercentile-mean", &mean))
    mean = -1.0;
  gst_message_unref(message);
  return mean;
}

GST_START_TEST(mean_is_between_the_least_and_the_greatest)
{
  const gdouble inner = (12 * 100 + 11 * 200) / 23.0;
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  set(&f, "statistics", "interpercentile-mean");
  fail_unless_equals_float(measure_between(&f, "<60, 90>"), inner);
  fail_unless_equals_float(measure_between(&f, "<90, 60>"), inner);
  fail_unless_equals_float(measure_between(&f, "<70, 90, 51, 60>"), inner);
  fail_unless_equals_float(measure_between(&f, "<60>"), 100);
  /* Nothing is between none. */
  fail_unless(measure_between(&f, "< >") == -1.0);
  test_fixture_teardown(&f);
}
GST_END_TEST;

static gchar *
percentiles_as_text(guint n)
{
  GString *text = g_string_new("<0");

  for (guint i = 1; i < n; i++)
    g_string_append_printf(text, ", %u", i);
  g_string_append(text, ">");
  return g_string_free(text, FALSE);
}

static guint
count_percentiles(GstElement *element)
{
  GValue array = G_VALUE_INIT;
  guint n;

  g_value_init(&array, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(element), "percentiles", &array);
  n = gst_value_array_get_size(&array);
  g_value_unset(&array);
  return n;
}

GST_START_TEST(more_than_64_percentiles_are_refused)
{
  TestFixture f;

  test_fixture_setup(&f, CAPS, NULL);
  test_warnings_watch(f.element);
  for (guint n = 64; n <= 66; n++) {
    gchar *text = percentiles_as_text(n);

    set(&f, "percentiles", text);
    fail_unless_equals_int(count_percentiles(f.element), 64);
    fail_unless_equals_int(test_warnings_take(), n > 64 ? 1 : 0);
    g_free(text);
  }
  test_fixture_teardown(&f);
}
GST_END_TEST;

static Suite *
message_figures_suite(void)
{
  Suite *suite = suite_create("message-figures");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, each_flag_brings_its_fields_alone);
  tcase_add_test(chain, no_flag_brings_no_figure);
  tcase_add_test(chain, all_flags_survive_as_text);
  tcase_add_test(chain, percentiles_come_in_the_order_of_the_property);
  tcase_add_test(chain, mean_is_between_the_least_and_the_greatest);
  tcase_add_test(chain, more_than_64_percentiles_are_refused);
  return suite;
}

TEST_MAIN(message_figures)
