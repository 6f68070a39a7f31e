/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One element that lives as long as the soak, and is changed in every way that
 * an application and a stream have. */

#include "soak.h"
#include "testing-pool.h"

#include "testing-quiet.h"

#include <string.h>

static const gchar *const formats[] = {
    "GRAY8", "NV12",      "I420",        "YUY2",      "UYVY",
    "Y42B",  "GRAY16_LE", "GRAY16_BE",   "P010_10LE", "I420_10LE",
    "Y444",  "Y210",      "NV12_10LE32", "AYUV",      "VUYA"};

/* A frame that was pushed and has not come out yet. */
typedef struct {
  TestExpected expected;
  GstVideoInfo info;
  guint bins;
  gboolean measured;
  gboolean roi;
  guint n_zones;
} Waiting;

struct _SoakElement {
  Soak *soak;
  TestFixture fixture;
  gboolean started;
  GstBufferPool *pool; /* (nullable): for frames that are not made anew */
  guint in_pool;       /* its buffers */
  GQueue waiting;      /* of Waiting */
  guint number;        /* of the next frame */

  guint bins;
  gboolean measured;
  gboolean roi;
  guint n_zones;
};

/* ---- What comes out ---- */

static void
waiting_free(gpointer data)
{
  Waiting *waiting = data;

  test_expected_clear(&waiting->expected);
  g_free(waiting);
}

/* The plain count of a part of the frame. */
static void
check_part(const Waiting *waiting, GstBuffer *buffer,
           const GstGpuHistogramMeta *meta)
{
  const GstVideoRectangle *part = &meta->rectangle;
  GstVideoMeta *video = gst_buffer_get_video_meta(buffer);
  gsize offset = video ? video->offset[0] : waiting->info.offset[0];
  gsize stride = (gsize)(video ? video->stride[0] : waiting->info.stride[0]);
  guint width = waiting->expected.width;
  guint64 *bins = g_new0(guint64, meta->n_bins), sum = 0;
  TestLuma luma;
  gsize bytes;
  guint8 *row;

  test_luma(&luma, waiting->info.finfo);
  bytes = test_luma_row_bytes(&luma, width);
  row = g_malloc(bytes);
  for (gint y = part->y; y < part->y + part->h; y++) {
    gst_buffer_extract(buffer, offset + (gsize)y * stride, row, bytes);
    for (gint x = part->x; x < part->x + part->w; x++) {
      guint level = test_luma_get(&luma, row, (guint)x);

      bins[(guint64)level * meta->n_bins >> luma.depth]++;
      sum += level;
    }
  }
  fail_unless_equals_uint64(meta->sum, sum);
  fail_unless(memcmp(meta->bins, bins, meta->n_bins * sizeof *bins) == 0,
              "region %d was counted wrongly", meta->region_id);
  g_free(row);
  g_free(bins);
}

static void
check_part_fits(const Waiting *waiting, const GstGpuHistogramMeta *meta)
{
  const GstVideoRectangle *part = &meta->rectangle;

  fail_unless_equals_int(meta->n_bins, waiting->bins);
  fail_unless(part->x >= 0 && part->y >= 0 && part->w > 0 && part->h > 0);
  fail_unless(part->x + part->w <= (gint)waiting->expected.width);
  fail_unless(part->y + part->h <= (gint)waiting->expected.height);
  fail_unless_equals_uint64(meta->pixels, (guint64)part->w * (guint)part->h);
}

/* The frame's own meta, that of the rectangle, and those of zones, which
 * together are the frame. */
static void
check_metas(const Waiting *waiting, GstBuffer *buffer)
{
  guint64 in_zones = 0;
  gpointer state = NULL;
  GstMeta *meta;
  guint n = 0;

  for (; (meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_GPU_HISTOGRAM_META_API_TYPE)) != NULL;
       n++) {
    const GstGpuHistogramMeta *of = (const GstGpuHistogramMeta *)meta;

    if (of->region_id == GST_GPU_HISTOGRAM_REGION_FRAME) {
      test_check_meta(&waiting->expected, of, waiting->bins);
      continue;
    }
    check_part_fits(waiting, of);
    check_part(waiting, buffer, of);
    if (of->region_id >= GST_GPU_HISTOGRAM_REGION_ZONE)
      in_zones += of->pixels;
  }
  fail_unless_equals_int(
      n, waiting->measured ? 1 + waiting->roi + waiting->n_zones : 0);
  if (waiting->measured && waiting->n_zones > 0)
    fail_unless_equals_uint64(in_zones, waiting->expected.pixels);
}

/* Takes @buffer. */
static void
check_next(SoakElement *element, GstBuffer *buffer)
{
  Waiting *waiting = g_queue_pop_head(&element->waiting);

  fail_unless(waiting != NULL, "a frame came that was not pushed");
  test_check_untouched(&waiting->expected, buffer);
  check_metas(waiting, buffer);
  gst_buffer_unref(buffer);
  waiting_free(waiting);
  element->soak->checked++;
}

/* Takes @object. */
static void
check_object(SoakElement *element, GstMiniObject *object)
{
  if (GST_IS_BUFFER(object))
    check_next(element, GST_BUFFER(object));
  else
    gst_mini_object_unref(object);
}

/* Until at most @n frames have not come out. */
static void
check_down_to(SoakElement *element, guint n)
{
  while (element->waiting.length > n)
    check_object(element, test_tap_pop(element->fixture.tap));
}

/* What came out before the others were dropped. */
static void
check_rest(SoakElement *element)
{
  while (test_tap_count(element->fixture.tap) > 0)
    check_object(element, test_tap_pop(element->fixture.tap));
  g_queue_clear_full(&element->waiting, waiting_free);
}

/* The harness keeps all events for who wants to see them. */
static void
forget_events(SoakElement *element)
{
  GstHarness *harness = element->fixture.harness;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event(harness)) != NULL ||
         (event = gst_harness_try_pull_upstream_event(harness)) != NULL)
    gst_event_unref(event);
}

/* Nothing that it is given is a fault. */
static void
check_bus(SoakElement *element)
{
  GstBus *bus = element->fixture.bus;
  GstMessage *fault =
      gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);

  if (fault) {
    gchar *text = gst_structure_to_string(gst_message_get_structure(fault));

    fail_unless(fault == NULL, "%s", text);
  }
  test_bus_take(bus, GST_MESSAGE_ANY);
}

/* ---- What goes in ---- */

static void
drop_pool(SoakElement *element)
{
  if (element->pool)
    test_pool_free(element->pool);
  element->pool = NULL;
}

static void
choose_pool(SoakElement *element)
{
  drop_pool(element);
  switch (soak_number(element->soak, 0, 3)) {
  case 0:
    element->pool = test_pool_proposed(&element->fixture, &element->in_pool);
    break;
  case 1:
    element->in_pool = soak_number(element->soak, 2, 10);
    element->pool =
        test_pool_ordinary(&element->fixture.info, element->in_pool);
    break;
  }
}

static GstBuffer *
new_frame(SoakElement *element)
{
  const GstVideoInfo *info = &element->fixture.info;
  Soak *soak = element->soak;
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE(info, 0);
  TestLayout layout = {.before = 16 * soak_number(soak, 0, 5),
                       .stride = stride + 8 * (gint)soak_number(soak, 0, 9),
                       .rows_below = soak_number(soak, 0, 3)};

  if (soak_once_in(soak, 3))
    return test_frame_new(info, NULL, test_flat, NULL);
  return test_frame_new(info, &layout, test_flat, NULL);
}

static GstBuffer *
next_frame(SoakElement *element)
{
  GstBuffer *buffer;

  if (element->pool) {
    /* The tap keeps frames that are to come back to the pool. */
    check_down_to(element, element->in_pool - 1);
    buffer = test_pool_frame(element->pool, 0, element->number);
  } else {
    buffer = new_frame(element);
    test_stamp(buffer, element->number);
  }
  element->number++;
  soak_fill(element->soak, buffer);
  return buffer;
}

static void
push_frames(SoakElement *element)
{
  guint n = soak_number(element->soak, 1, 12);

  for (guint i = 0; i < n; i++) {
    Waiting *waiting = g_new0(Waiting, 1);
    GstBuffer *buffer = next_frame(element);

    waiting->info = element->fixture.info;
    test_expect(&waiting->expected, buffer, &waiting->info);
    waiting->bins = element->bins;
    waiting->measured = element->measured;
    waiting->roi = element->roi;
    waiting->n_zones = element->n_zones;
    g_queue_push_tail(&element->waiting, waiting);
    test_fixture_push(&element->fixture, buffer);
  }
}

/* ---- Changes ---- */

static void
change_caps(SoakElement *element)
{
  gchar *caps = soak_caps(element->soak, formats, G_N_ELEMENTS(formats));

  fail_unless(test_fixture_renegotiate(&element->fixture, caps), "%s", caps);
  choose_pool(element);
  g_free(caps);
}

static void
change_segment(SoakElement *element)
{
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = soak_number(element->soak, 0, 1000) * GST_MSECOND;
  gst_harness_push_event(element->fixture.harness,
                         gst_event_new_segment(&segment));
}

static void
flush(SoakElement *element)
{
  GstHarness *harness = element->fixture.harness;

  gst_harness_push_event(harness, gst_event_new_flush_start());
  gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
  check_rest(element);
  change_segment(element);
}

/* What holds from the next frame on. */
static void
change_properties(SoakElement *element)
{
  guint columns = soak_number(element->soak, 0, 4);
  guint rows = soak_number(element->soak, 1, 4);
  gchar *zones = columns ? g_strdup_printf("%ux%u", columns, rows) : NULL;

  element->n_zones = columns * rows;
  element->roi = soak_once_in(element->soak, 2);
  element->measured = !soak_once_in(element->soak, 5);
  g_object_set(
      element->fixture.element, "zones", zones, "roi",
      element->roi ? "25%,25%,50%,40%" : "", "attach-meta", element->measured,
      "post-messages", soak_once_in(element->soak, 2), "rows",
      soak_once_in(element->soak, 3), "verify", soak_once_in(element->soak, 2),
      "register-memory", !soak_once_in(element->soak, 3), NULL);
  g_free(zones);
}

static void
drain(SoakElement *element)
{
  test_fixture_drain(&element->fixture);
  check_down_to(element, 0);
}

static void
stop(SoakElement *element)
{
  const GstState state =
      soak_once_in(element->soak, 2) ? GST_STATE_NULL : GST_STATE_READY;

  test_set_state(element->fixture.element, state);
  check_rest(element);
  drop_pool(element);
  element->started = FALSE;
}

static void
start(SoakElement *element)
{
  element->bins = 1u << soak_number(element->soak, 1, 9);
  g_object_set(element->fixture.element, "bins", element->bins, "async-depth",
               soak_number(element->soak, 1, 6), "n-threads",
               soak_number(element->soak, 1, 4), NULL);
  test_set_state(element->fixture.element, GST_STATE_PLAYING);
  gst_harness_push_event(element->fixture.harness,
                         gst_event_new_stream_start("soak"));
  change_caps(element);
  change_segment(element);
  element->started = TRUE;
}

/* ---- The soak ---- */

SoakElement *
soak_element_new(Soak *soak)
{
  SoakElement *element = g_new0(SoakElement, 1);

  element->soak = soak;
  element->measured = TRUE;
  g_queue_init(&element->waiting);
  test_fixture_setup(&element->fixture, NULL, NULL);
  soak_element_rest(element);
  return element;
}

void
soak_element_free(SoakElement *element)
{
  soak_element_rest(element);
  test_fixture_teardown(&element->fixture);
  g_free(element);
}

void
soak_element_step(SoakElement *element)
{
  static void (*const changes[])(SoakElement *) = {
      change_caps, change_caps,       change_segment,
      flush,       change_properties, drain};
  Soak *soak = element->soak;

  if (!element->started)
    start(element);
  push_frames(element);
  if (soak_once_in(soak, 10))
    stop(element);
  else
    changes[soak_number(soak, 0, G_N_ELEMENTS(changes))](element);
  check_down_to(element, soak_number(soak, 0, 20));
  check_bus(element);
  forget_events(element);
}

void
soak_element_rest(SoakElement *element)
{
  if (element->started)
    drain(element);
  test_set_state(element->fixture.element, GST_STATE_NULL);
  check_rest(element);
  check_bus(element);
  forget_events(element);
  drop_pool(element);
  element->started = FALSE;
}
