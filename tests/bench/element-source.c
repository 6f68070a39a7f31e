/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the frames come from. */

#include "element.h"

#include <string.h>

/* More than any processor's last cache, and more areas than frames can be in
 * flight. */
#define ORDINARY_BYTES ((gsize)512 << 20)
#define ORDINARY_AREAS 32

#define RECYCLED_BUFFERS 8
#define CUDA_BUFFERS 4

struct BenchSource {
  GstVideoInfo info;
  gboolean rewrite;
  guint8 *content; /* luma without gaps; NULL if it is rewritten */
  /* Either of them. */
  GstBufferPool *pool;
  GPtrArray *areas;
};

static void
fill_luma(BenchSource *source, GstVideoFrame *frame, guint64 number)
{
  gint width = GST_VIDEO_FRAME_WIDTH(frame);
  guint8 *row = GST_VIDEO_FRAME_PLANE_DATA(frame, 0);

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT(frame); y++) {
    if (source->rewrite)
      memset(row, BENCH_FLAT_LEVEL(number), width);
    else
      memcpy(row, source->content + (gsize)y * width, width);
    row += GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
  }
}

static void
fill_chroma(GstVideoFrame *frame)
{
  for (guint c = 1; c < GST_VIDEO_FRAME_N_COMPONENTS(frame); c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(frame, c); y++) {
      guint8 *sample = GST_VIDEO_FRAME_COMP_DATA(frame, c);

      sample += (gssize)y * GST_VIDEO_FRAME_COMP_STRIDE(frame, c);
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(frame, c); x++)
        sample[x * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, c)] = 128;
    }
}

static gboolean
fill(BenchSource *source, GstBuffer *buffer, guint64 number, gboolean chroma)
{
  GstVideoFrame frame;

  if (!gst_video_frame_map(&frame, &source->info, buffer, GST_MAP_WRITE))
    return FALSE;
  fill_luma(source, &frame, number);
  if (chroma)
    fill_chroma(&frame);
  gst_video_frame_unmap(&frame);
  return TRUE;
}

/* Each time another GstMemory, though the area comes again. */
static GstBuffer *
wrap_area(BenchSource *source, guint i)
{
  gsize size = GST_VIDEO_INFO_SIZE(&source->info);

  return gst_buffer_new_wrapped_full(0, g_ptr_array_index(source->areas, i),
                                     size, 0, size, NULL, NULL);
}

static gboolean
make_areas(BenchSource *source)
{
  gsize size = GST_VIDEO_INFO_SIZE(&source->info);
  gsize n = MAX(ORDINARY_BYTES / size, ORDINARY_AREAS);
  gboolean filled = TRUE;

  source->areas = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < n && filled; i++) {
    GstBuffer *buffer;

    g_ptr_array_add(source->areas, g_malloc(size));
    buffer = wrap_area(source, i);
    filled = fill(source, buffer, i, TRUE);
    gst_buffer_unref(buffer);
  }
  return filled;
}

/* Takes @config. A pool that refuses has put in what it can do instead. */
static gboolean
set_config(GstBufferPool *pool, GstStructure *config)
{
  if (gst_buffer_pool_set_config(pool, config))
    return TRUE;
  return gst_buffer_pool_set_config(pool, gst_buffer_pool_get_config(pool));
}

static gboolean
activate_pool(GstBufferPool *pool, GstCaps *caps, guint size, guint min,
              guint max)
{
  GstStructure *config = gst_buffer_pool_get_config(pool);

  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (gst_buffer_pool_has_option(pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option(config,
                                      GST_BUFFER_POOL_OPTION_VIDEO_META);
  return set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE);
}

/* The first one that is more than a number of buffers. */
static GstBufferPool *
find_proposed_pool(GstQuery *query, guint *size, guint *min, guint *max)
{
  guint n = gst_query_get_n_allocation_pools(query);
  GstBufferPool *pool = NULL;

  for (guint i = 0; i < n && !pool; i++)
    gst_query_parse_nth_allocation_pool(query, i, &pool, size, min, max);
  return pool;
}

static const gchar *
ask_for_pool(BenchSource *source, GstPad *pad, GstCaps *caps,
             BenchOutcome *outcome)
{
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  guint size, min, max;

  if (gst_pad_peer_query(pad, query))
    source->pool = find_proposed_pool(query, &size, &min, &max);
  gst_query_unref(query);
  if (!source->pool)
    return "no pool";
  if (activate_pool(source->pool, caps, size, min, max))
    return NULL;
  *outcome = BENCH_FAILED;
  return "the proposed pool cannot be used";
}

static const gchar *
open_source(BenchSource *source, BenchWay way, GstPad *pad, GstCaps *caps,
            BenchOutcome *outcome)
{
  guint size = GST_VIDEO_INFO_SIZE(&source->info);
  guint n = way == BENCH_WAY_CUDA ? CUDA_BUFFERS : RECYCLED_BUFFERS;
  const gchar *why = NULL;

  if (way == BENCH_WAY_POOL)
    return ask_for_pool(source, pad, caps, outcome);
  if (way == BENCH_WAY_ORDINARY)
    return make_areas(source) ? NULL : "an area cannot be written";
  source->pool = way == BENCH_WAY_CUDA ? bench_cuda_pool_new(&why)
                                       : gst_video_buffer_pool_new();
  if (!source->pool)
    return why;
  return activate_pool(source->pool, caps, size, n, n)
             ? NULL
             : "no pool for such frames";
}

BenchSource *
bench_source_new(const BenchCase *what, GstPad *pad, GstCaps *caps,
                 BenchOutcome *outcome, const gchar **why)
{
  BenchSource *source = g_new0(BenchSource, 1);
  gsize pixels = (gsize)what->width * what->height;

  gst_video_info_from_caps(&source->info, caps);
  source->rewrite = what->verify;
  if (!source->rewrite) {
    source->content = g_malloc(pixels);
    bench_fill(what->content, source->content, pixels, what->width, 256, 1);
  }
  *outcome = BENCH_SKIPPED;
  *why = open_source(source, what->way, pad, caps, outcome);
  if (!*why)
    return source;
  bench_source_free(source);
  return NULL;
}

void
bench_source_free(BenchSource *source)
{
  if (source->pool)
    gst_buffer_pool_set_active(source->pool, FALSE);
  gst_clear_object(&source->pool);
  g_clear_pointer(&source->areas, g_ptr_array_unref);
  g_free(source->content);
  g_free(source);
}

/* Memory that is new, be it only to us: a pool may make some at any time. */
static gboolean
is_first_seen(GstBuffer *buffer)
{
  GstMiniObject *memory = GST_MINI_OBJECT(gst_buffer_peek_memory(buffer, 0));
  GQuark quark = g_quark_from_static_string("gpuhistogram-bench-written");

  if (gst_mini_object_get_qdata(memory, quark))
    return FALSE;
  gst_mini_object_set_qdata(memory, quark, GINT_TO_POINTER(TRUE), NULL);
  return TRUE;
}

GstBuffer *
bench_source_next(BenchSource *source, guint64 number)
{
  GstBuffer *buffer = NULL;
  gboolean first = FALSE;

  if (source->areas)
    buffer = wrap_area(source, number % source->areas->len);
  else if (gst_buffer_pool_acquire_buffer(source->pool, &buffer, NULL) !=
           GST_FLOW_OK)
    return NULL;
  else
    first = is_first_seen(buffer);
  if ((source->rewrite || first) && !fill(source, buffer, number, first))
    gst_clear_buffer(&buffer);
  return buffer;
}
