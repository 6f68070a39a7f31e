/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times the element alone: frames are pushed into its sink pad as fast as it
 * takes them, and counted where they leave its source pad. No source element,
 * no queue, no sink.
 *
 *     GST_PLUGIN_PATH=build/plugin build/tests/bench/gpuhistogram-bench-element
 *         [--engine auto|cuda|cpu] [--size 1080p] [--way recycled]
 *         [--format NV12] [--content noise] [--async-depth N] [--messages]
 *         [--frames N] [--csv FILE] [--verify]
 *
 * The ways that the frames come:
 *
 *   pool        from the pool that the element proposes
 *   ordinary    other memory each time, from more than the caches hold
 *   recycled    from a pool of eight buffers in system memory; once more with
 *               the element's register-memory off, where it has that
 *   CUDAMemory  from a pool of four buffers on the device
 *
 * Each case warms up for 0.3 s and is timed for one, or for --frames. Beside
 * gpuhistogram stand identity, which does nothing, and videoanalyse, which
 * computes the mean and variance of the luma and posts them. Where a format
 * is not possible another one with the same luma is taken, and named.
 *
 * GB/s are those of the luma. The processor's time is that of all threads,
 * with the making of the buffers. Bytes are a frame's, as stats has them.
 *
 * With --verify each frame is written before it goes in and its meta is checked
 * when it comes out, so that the times mean little. The exit status is 1 when
 * something failed.
 */

#include "element.h"

#include <stdio.h>

static const struct {
  const gchar *name;
  gint width, height;
} sizes[] = {{"720p", 1280, 720},
             {"1080p", 1920, 1080},
             {"4K", 3840, 2160},
             {"8K", 7680, 4320}};

static const struct {
  BenchWay way;
  const gchar *option; /* that --way knows it by */
  const gchar *name;
} ways[] = {
    {BENCH_WAY_POOL, "pool", "pool"},
    {BENCH_WAY_ORDINARY, "ordinary", "ordinary"},
    {BENCH_WAY_RECYCLED, "recycled", "recycled"},
    {BENCH_WAY_UNREGISTERED, "recycled", "recycled, not registered"},
    {BENCH_WAY_CUDA, "CUDAMemory", "CUDAMemory"},
};

static const gchar *const elements[] = {BENCH_HISTOGRAM, "identity",
                                        "videoanalyse"};

static gchar *engine = NULL;
static gchar *format = NULL;
static gchar *content = NULL;
static gchar *size_name = NULL;
static gchar *way_name = NULL;
static gchar *csv_name = NULL;
static BenchCase asked;

static const GOptionEntry options[] = {
    {"engine", 0, 0, G_OPTION_ARG_STRING, &engine, "auto, cuda or cpu", "NAME"},
    {"format", 0, 0, G_OPTION_ARG_STRING, &format, "GRAY8, NV12, ...", "NAME"},
    {"content", 0, 0, G_OPTION_ARG_STRING, &content, "noise, natural, ...",
     "NAME"},
    {"size", 0, 0, G_OPTION_ARG_STRING, &size_name, "720p, 1080p, 4K or 8K",
     "NAME"},
    {"way", 0, 0, G_OPTION_ARG_STRING, &way_name,
     "pool, ordinary, recycled or CUDAMemory", "NAME"},
    {"async-depth", 0, 0, G_OPTION_ARG_INT, &asked.async_depth,
     "Frames in flight", "N"},
    {"frames", 0, 0, G_OPTION_ARG_INT, &asked.n_frames,
     "Frames to time; 0 = for a second", "N"},
    {"messages", 0, 0, G_OPTION_ARG_NONE, &asked.messages,
     "Post a message for each frame", NULL},
    {"verify", 0, 0, G_OPTION_ARG_NONE, &asked.verify,
     "Check each frame's meta", NULL},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_name, "Write the figures there",
     "FILE"},
    {NULL}};

static FILE *csv;
static gboolean failed;

static void
print_header(void)
{
  if (asked.verify)
    g_print("each frame is written and checked, so the times mean little\n");
  g_print("%-6s %-24s %-20s %10s %9s %11s %11s %11s  %s\n", "size", "way",
          "element", "frames/s", "GB/s", "CPU us", "uploaded", "copied",
          "engine");
  if (csv)
    fprintf(csv, "size,format,way,element,frames,frames_per_second,"
                 "luma_gb_per_second,cpu_us_per_frame,"
                 "bytes_uploaded_per_frame,bytes_copied_per_frame,engine,"
                 "device\n");
}

/* Once, and whenever it is another one. */
static void
print_choice(const BenchFigures *figures)
{
  static gchar *last = NULL;
  gchar *choice = g_strdup_printf("%s on %s: %s", figures->engine,
                                  figures->device, figures->reason);

  if (figures->engine[0] != '\0' && g_strcmp0(choice, last) != 0) {
    g_print("%s\n", choice);
    g_free(last);
    last = g_strdup(choice);
  }
  g_free(choice);
}

/* (transfer full): the element, with the format if that was not asked for. */
static gchar *
get_label(const BenchCase *what)
{
  if (g_str_equal(what->format, asked.format))
    return g_strdup(what->element);
  return g_strdup_printf("%s %s", what->element, what->format);
}

static void
print_figures(const gchar *size, const gchar *way, const BenchCase *what,
              const BenchFigures *figures)
{
  gdouble n = (gdouble)figures->n_frames, rate = n / figures->seconds;
  gdouble gb = rate * what->width * what->height / 1e9;
  gdouble cpu = figures->cpu * G_USEC_PER_SEC / n;
  gdouble uploaded = (gdouble)figures->uploaded / n;
  gdouble copied = (gdouble)figures->copied / n;
  gchar *label = get_label(what);

  print_choice(figures);
  g_print("%-6s %-24s %-20s %10.1f %9.2f %11.1f %11.0f %11.0f  %s\n", size, way,
          label, rate, gb, cpu, uploaded, copied,
          figures->engine[0] != '\0' ? figures->engine : "-");
  g_free(label);
  if (csv)
    fprintf(csv,
            "%s,%s,\"%s\",%s,%" G_GUINT64_FORMAT
            ",%.3f,%.4f,%.3f,%.0f,%.0f,%s,\"%s\"\n",
            size, what->format, way, what->element, figures->n_frames, rate, gb,
            cpu, uploaded, copied, figures->engine, figures->device);
}

/* One with the same luma, where the asked one is none. GStreamer's CUDA library
 * makes no grey frames: 1.22 ends the program when it is asked for one. */
static const gchar *
get_format(const BenchCase *what)
{
  if (what->way == BENCH_WAY_CUDA && g_str_equal(what->format, "GRAY8"))
    return "NV12";
  if (g_str_equal(what->element, "videoanalyse"))
    return "I420";
  return what->format;
}

static void
run_case(const gchar *size, const gchar *way, BenchCase what)
{
  BenchFigures figures;
  gchar *why = NULL;
  BenchOutcome outcome;

  what.format = get_format(&what);
  outcome = bench_case_run(&what, &figures, &why);
  if (outcome == BENCH_DONE) {
    print_figures(size, way, &what, &figures);
    bench_figures_clear(&figures);
    return;
  }
  failed |= outcome == BENCH_FAILED;
  g_print("%-6s %-24s %-20s %s%s\n", size, way, what.element,
          outcome == BENCH_FAILED ? "FAILED: " : "skipped: ", why);
  g_free(why);
}

/* Others have no part in what the element does with a way. */
static gboolean
has_peers(BenchWay way)
{
  return way == BENCH_WAY_ORDINARY || way == BENCH_WAY_RECYCLED;
}

static void
run_way(gsize size, gsize way)
{
  gsize n = has_peers(ways[way].way) ? G_N_ELEMENTS(elements) : 1;
  BenchCase what = asked;

  what.width = sizes[size].width;
  what.height = sizes[size].height;
  what.way = ways[way].way;
  for (gsize i = 0; i < n; i++) {
    what.element = elements[i];
    run_case(sizes[size].name, ways[way].name, what);
  }
}

static gboolean
is_asked_for(const gchar *wish, const gchar *name)
{
  return !wish || g_ascii_strcasecmp(wish, name) == 0;
}

/* FALSE if nothing was. */
static gboolean
run_all(void)
{
  gboolean any = FALSE;

  for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (gsize w = 0; w < G_N_ELEMENTS(ways); w++)
      if (is_asked_for(size_name, sizes[s].name) &&
          is_asked_for(way_name, ways[w].option)) {
        run_way(s, w);
        any = TRUE;
      }
  return any;
}

static const gchar *
settle_options(void)
{
  asked.engine = engine ? engine : "auto";
  asked.format = format ? format : "GRAY8";
  for (gsize i = 0; i < bench_n_contents; i++)
    if (g_str_equal(content ? content : "noise", bench_contents[i].name))
      asked.content = &bench_contents[i];
  if (!asked.content)
    return "--content is not known";
  if (asked.n_frames < 0 || asked.async_depth < 0)
    return "--frames and --async-depth cannot be negative";
  if (gst_video_format_from_string(asked.format) == GST_VIDEO_FORMAT_UNKNOWN)
    return "--format is not known";
  if (csv_name && !(csv = fopen(csv_name, "w")))
    return "--csv cannot be written";
  return NULL;
}

int
main(int argc, char **argv)
{
  GOptionContext *context = g_option_context_new("- time the element alone");
  const gchar *wrong = NULL;
  GError *error = NULL;

  g_option_context_add_main_entries(context, options, NULL);
  g_option_context_add_group(context, gst_init_get_option_group());
  if (!g_option_context_parse(context, &argc, &argv, &error))
    wrong = error->message;
  else
    wrong = settle_options();
  g_option_context_free(context);
  if (!wrong) {
    print_header();
    if (!run_all())
      wrong = "--size or --way is not known";
  }
  if (wrong)
    g_printerr("%s\n", wrong);
  if (csv && fclose(csv) != 0)
    failed = TRUE;
  return wrong ? 2 : failed;
}
