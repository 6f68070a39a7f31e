/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times one case. */

#include "element.h"

#include <sys/resource.h>

#define WARM_UP (3 * G_TIME_SPAN_SECOND / 10)
#define TIMED G_TIME_SPAN_SECOND

/* Every buffer of a pool has been seen after so many. */
#define WARM_UP_FRAMES 32

typedef struct {
  gint64 time; /* microseconds */
  gint64 cpu;  /* microseconds */
  guint64 n_frames, uploaded, copied;
} Reading;

static gint64
get_cpu_time(void)
{
  struct rusage usage;

  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * G_USEC_PER_SEC +
         usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* (transfer full) (nullable): identity has some as well, with other fields. */
static GstStructure *
get_stats(GstElement *element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS(element);
  GParamSpec *spec = g_object_class_find_property(klass, "stats");
  GstStructure *stats = NULL;

  if (spec && spec->value_type == GST_TYPE_STRUCTURE)
    g_object_get(element, "stats", &stats, NULL);
  return stats;
}

/* While no frame is in the element. */
static void
take_reading(BenchStream *stream, Reading *reading)
{
  GstStructure *stats = get_stats(bench_stream_get_element(stream));

  *reading = (Reading){.n_frames = bench_stream_get_n_pushed(stream)};
  if (stats) {
    gst_structure_get_uint64(stats, "bytes-uploaded", &reading->uploaded);
    gst_structure_get_uint64(stats, "bytes-copied", &reading->copied);
    gst_structure_free(stats);
  }
  reading->cpu = get_cpu_time();
  reading->time = g_get_monotonic_time();
}

/* At least @n_frames and for at least @duration, in microseconds, and until all
 * are through. */
static gboolean
push_frames(BenchStream *stream, BenchSource *source, gint n_frames,
            gint64 duration)
{
  gint64 end = g_get_monotonic_time() + duration;

  for (gint n = 0; n < n_frames || g_get_monotonic_time() < end; n++)
    if (!bench_stream_push(stream, source))
      return FALSE;
  return bench_stream_wait(stream);
}

static gchar *
get_text(const GstStructure *stats, const gchar *field)
{
  const gchar *text = stats ? gst_structure_get_string(stats, field) : NULL;

  return g_strdup(text ? text : "");
}

static void
make_figures(BenchStream *stream, const Reading *from, const Reading *to,
             BenchFigures *figures)
{
  GstStructure *stats = get_stats(bench_stream_get_element(stream));

  *figures = (BenchFigures){
      .n_frames = to->n_frames - from->n_frames,
      .seconds = (gdouble)(to->time - from->time) / G_USEC_PER_SEC,
      .cpu = (gdouble)(to->cpu - from->cpu) / G_USEC_PER_SEC,
      .uploaded = to->uploaded - from->uploaded,
      .copied = to->copied - from->copied,
      .engine = get_text(stats, "engine"),
      .device = get_text(stats, "device"),
      .reason = get_text(stats, "reason"),
  };
  g_clear_pointer(&stats, gst_structure_free);
}

void
bench_figures_clear(BenchFigures *figures)
{
  g_free(figures->engine);
  g_free(figures->device);
  g_free(figures->reason);
}

static BenchOutcome
time_stream(const BenchCase *what, BenchStream *stream, BenchSource *source,
            BenchFigures *figures, gchar **why)
{
  gint64 duration = what->n_frames > 0 ? 0 : TIMED;
  Reading from = {0}, to = {0};
  gboolean pushed;

  pushed = push_frames(stream, source, WARM_UP_FRAMES, WARM_UP);
  take_reading(stream, &from);
  pushed = pushed && push_frames(stream, source, what->n_frames, duration);
  take_reading(stream, &to);
  *why = bench_stream_finish(stream);
  if (!pushed && !*why)
    *why = g_strdup("the flow ended");
  if (*why)
    return BENCH_FAILED;
  make_figures(stream, &from, &to, figures);
  return BENCH_DONE;
}

/* (transfer full) */
static GstCaps *
make_caps(const BenchCase *what)
{
  GstCaps *caps = gst_caps_new_simple(
      "video/x-raw", "format", G_TYPE_STRING, what->format, "width", G_TYPE_INT,
      what->width, "height", G_TYPE_INT, what->height, "framerate",
      GST_TYPE_FRACTION, 60, 1, NULL);

  if (what->way == BENCH_WAY_CUDA)
    gst_caps_set_features(caps, 0,
                          gst_caps_features_new("memory:CUDAMemory", NULL));
  return caps;
}

BenchOutcome
bench_case_run(const BenchCase *what, BenchFigures *figures, gchar **why)
{
  GstCaps *caps = make_caps(what);
  BenchSource *source = NULL;
  BenchStream *stream;
  BenchOutcome outcome;
  const gchar *reason;

  stream = bench_stream_new(what, caps, &outcome, why);
  if (stream) {
    source = bench_source_new(what, bench_stream_get_pad(stream), caps,
                              &outcome, &reason);
    if (source)
      outcome = time_stream(what, stream, source, figures, why);
    else
      *why = g_strdup(reason);
    /* The areas of a source outlive the buffers over them. */
    bench_stream_free(stream);
  }
  g_clear_pointer(&source, bench_source_free);
  gst_caps_unref(caps);
  return outcome;
}
