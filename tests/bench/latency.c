/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times what the element adds to a live stream: from the moment a buffer
 * arrives at its sink pad to the moment that it leaves at its source pad.
 *
 *     gpuhistogram-bench-latency [--engine cuda] [--width 1920] [--height 1080]
 *                                [--rate 30] [--frames 300]
 */

#include <gst/gst.h>
#include <stdlib.h>

static gchar *engine = NULL;
static gint width = 1920;
static gint height = 1080;
static gint rate = 30;
static gint n_frames = 300;

static const GOptionEntry options[] = {
    {"engine", 0, 0, G_OPTION_ARG_STRING, &engine, "auto, cuda or cpu", "NAME"},
    {"width", 0, 0, G_OPTION_ARG_INT, &width, "Width of a frame", "PIXELS"},
    {"height", 0, 0, G_OPTION_ARG_INT, &height, "Height of a frame", "PIXELS"},
    {"rate", 0, 0, G_OPTION_ARG_INT, &rate, "Frames a second", "N"},
    {"frames", 0, 0, G_OPTION_ARG_INT, &n_frames, "Frames to time", "N"},
    {NULL}};

/* Frames keep their order, so the nth one in is the nth one out. */
typedef struct {
  gint64 *times; /* microseconds */
  gint n;
} Stamps;

static GstPadProbeReturn
stamp(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stamps *stamps = data;

  if (stamps->n < n_frames)
    stamps->times[stamps->n++] = g_get_monotonic_time();
  return GST_PAD_PROBE_OK;
}

static void
watch(GstElement *element, const gchar *name, Stamps *stamps)
{
  GstPad *pad = gst_element_get_static_pad(element, name);

  stamps->times = g_new0(gint64, n_frames);
  stamps->n = 0;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, stamp, stamps, NULL);
  gst_object_unref(pad);
}

static gint
compare_times(gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return (x > y) - (x < y);
}

static void
print_delays(GstElement *element, Stamps *in, Stamps *out)
{
  gint n = MIN(in->n, out->n);
  GstStructure *stats;

  if (n == 0) {
    g_printerr("no frame came out\n");
    exit(1);
  }
  for (gint i = 0; i < n; i++)
    out->times[i] -= in->times[i];
  qsort(out->times, n, sizeof(out->times[0]), compare_times);
  g_object_get(element, "stats", &stats, NULL);
  g_print("%s on %s, %dx%d at %d/s, %d frames, microseconds from sink pad to "
          "source pad: median %" G_GINT64_FORMAT ", 99th percentile "
          "%" G_GINT64_FORMAT ", most %" G_GINT64_FORMAT "\n",
          gst_structure_get_string(stats, "engine"),
          gst_structure_get_string(stats, "device"), width, height, rate, n,
          out->times[n / 2], out->times[n * 99 / 100], out->times[n - 1]);
  gst_structure_free(stats);
}

static int
run(GstElement *pipeline)
{
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), "histogram");
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message;
  Stamps in, out;
  int status = 0;

  watch(element, "sink", &in);
  watch(element, "src", &out);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE,
                                       GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error;

    gst_message_parse_error(message, &error, NULL);
    g_printerr("%s\n", error->message);
    g_error_free(error);
    status = 1;
  } else {
    print_delays(element, &in, &out);
  }
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_free(in.times);
  g_free(out.times);
  gst_object_unref(bus);
  gst_object_unref(element);
  return status;
}

int
main(int argc, char **argv)
{
  GOptionContext *context = g_option_context_new("- time a live stream");
  GstElement *pipeline;
  GError *error = NULL;
  gchar *description;
  int status;

  g_option_context_add_main_entries(context, options, NULL);
  g_option_context_add_group(context, gst_init_get_option_group());
  if (!g_option_context_parse(context, &argc, &argv, &error) || n_frames < 1) {
    g_printerr("%s\n", error ? error->message : "--frames has to be positive");
    return 2;
  }
  g_option_context_free(context);
  description = g_strdup_printf(
      "videotestsrc is-live=true pattern=ball num-buffers=%d ! "
      "video/x-raw,format=NV12,width=%d,height=%d,framerate=%d/1 ! "
      "gpuhistogram name=histogram engine=%s ! queue ! "
      "fakesink sync=true",
      n_frames, width, height, rate, engine ? engine : "auto");
  pipeline = gst_parse_launch(description, &error);
  g_free(description);
  if (error) {
    g_printerr("%s\n", error->message);
    return 2;
  }
  status = run(pipeline);
  gst_object_unref(pipeline);
  g_free(engine);
  return status;
}
