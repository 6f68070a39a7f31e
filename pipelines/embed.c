/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An application with the element in its pipeline: it reads the histogram of
 * each frame from the buffer, in a pad probe behind the element.
 *
 * usage: gpuhistogram-embed [VIDEO-FILE]
 */

#include <glib-unix.h>
#include <gst/gpuhistogram/gstgpuhistogrammeta.h>
#include <gst/gst.h>

#define BEHIND                                                        \
  " ! videoconvert ! gpuhistogram name=histogram post-messages=false" \
  " ! fakesink sync=false"

typedef struct {
  GMainLoop *loop;
  gboolean failed;
} App;

/* On a thread of the pipeline, with the frame on its way to the next element:
 * whatever takes long here holds the stream up. */
static GstPadProbeReturn
on_frame(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstGpuHistogramMeta *meta = gst_buffer_get_gpu_histogram_meta(buffer);

  /* The element passes on what it cannot measure, a broken frame for
   * instance, without a meta. */
  if (meta == NULL)
    return GST_PAD_PROBE_OK;
  g_print("frame %" G_GUINT64_FORMAT " pts %" GST_TIME_FORMAT
          " mean %.2f min %u max %u p5 %u p95 %u\n",
          meta->frame, GST_TIME_ARGS(GST_BUFFER_PTS(buffer)),
          gst_gpu_histogram_meta_get_mean(meta),
          gst_gpu_histogram_meta_get_min(meta),
          gst_gpu_histogram_meta_get_max(meta),
          gst_gpu_histogram_meta_get_percentile(meta, 5.0),
          gst_gpu_histogram_meta_get_percentile(meta, 95.0));
  return GST_PAD_PROBE_OK;
}

static gboolean
on_message(GstBus *bus, GstMessage *message, gpointer data)
{
  App *app = data;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, NULL);
    g_printerr("%s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
    g_error_free(error);
    app->failed = TRUE;
    g_main_loop_quit(app->loop);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    g_main_loop_quit(app->loop);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
on_interrupt(gpointer loop)
{
  g_main_loop_quit(loop);
  return G_SOURCE_CONTINUE;
}

static GstElement *
make_pipeline(const gchar *file, GError **error)
{
  GstElement *pipeline =
      gst_parse_launch(file != NULL ? "filesrc name=source ! decodebin" BEHIND
                                    : "videotestsrc num-buffers=100" BEHIND,
                       error);
  GstElement *source;

  if (pipeline != NULL && file != NULL) {
    source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    g_object_set(source, "location", file, NULL);
    gst_object_unref(source);
  }
  return pipeline;
}

static void
add_probe(GstElement *pipeline)
{
  GstElement *histogram = gst_bin_get_by_name(GST_BIN(pipeline), "histogram");
  GstPad *pad = gst_element_get_static_pad(histogram, "src");

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, NULL, NULL);
  gst_object_unref(pad);
  gst_object_unref(histogram);
}

static void
play(App *app, GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus(pipeline);
  guint interrupt = g_unix_signal_add(SIGINT, on_interrupt, app->loop);
  guint watch = gst_bus_add_watch(bus, on_message, app);

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_main_loop_run(app->loop);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_source_remove(watch);
  g_source_remove(interrupt);
  gst_object_unref(bus);
}

int
main(int argc, char **argv)
{
  App app = {0};
  GError *error = NULL;
  GstElement *pipeline;

  gst_init(&argc, &argv);
  pipeline = make_pipeline(argc > 1 ? argv[1] : NULL, &error);
  if (pipeline == NULL || error != NULL) {
    g_printerr("%s\n", error->message);
    g_clear_error(&error);
    gst_clear_object(&pipeline);
    return 1;
  }
  app.loop = g_main_loop_new(NULL, FALSE);
  add_probe(pipeline);
  play(&app, pipeline);
  g_main_loop_unref(app.loop);
  gst_object_unref(pipeline);
  return app.failed ? 1 : 0;
}
