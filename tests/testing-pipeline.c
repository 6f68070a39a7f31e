/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pipelines from their descriptions, and their ends. */

#include "testing.h"

#include <gst/app/app.h>

static void
set_engine(const GValue *item, gpointer unused)
{
  gst_util_set_object_arg(g_value_get_object(item), "engine", test_engine());
}

GstElement *
test_pipeline(const gchar *description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(description, &error);
  GstIterator *elements;

  fail_unless(pipeline != NULL && error == NULL, "%s: %s", description,
              error != NULL ? error->message : "no pipeline");
  elements = gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline),
                                                         "gpuhistogram");
  gst_iterator_foreach(elements, set_engine, NULL);
  gst_iterator_free(elements);
  return gst_object_ref_sink(pipeline);
}

GstElement *
test_child(GstElement *pipeline, const gchar *name)
{
  GstElement *child = gst_bin_get_by_name(GST_BIN(pipeline), name);

  fail_unless(child != NULL, "no element %s", name);
  return child;
}

TestTap *
test_tap_on(GstElement *pipeline, const gchar *name, const gchar *pad_name)
{
  GstElement *child = test_child(pipeline, name);
  GstPad *pad = gst_element_get_static_pad(child, pad_name);
  TestTap *tap = test_tap_new(pad);

  gst_object_unref(pad);
  gst_object_unref(child);
  return tap;
}

void
test_app_push(GstElement *pipeline, GstBuffer *buffer)
{
  GstElement *src = test_child(pipeline, "src");

  fail_unless_equals_int(gst_app_src_push_buffer(GST_APP_SRC(src), buffer),
                         GST_FLOW_OK);
  gst_object_unref(src);
}

void
test_app_end(GstElement *pipeline)
{
  GstElement *src = test_child(pipeline, "src");

  fail_unless_equals_int(gst_app_src_end_of_stream(GST_APP_SRC(src)),
                         GST_FLOW_OK);
  gst_object_unref(src);
}

/* Takes the sample, which may be NULL at the end of the stream. */
static GstBuffer *
buffer_of(GstSample *sample, GstAppSink *sink)
{
  GstBuffer *buffer = NULL;

  if (sample != NULL) {
    buffer = gst_buffer_ref(gst_sample_get_buffer(sample));
    gst_sample_unref(sample);
  } else {
    fail_unless(gst_app_sink_is_eos(sink), "no frame came to the sink");
  }
  gst_object_unref(sink);
  return buffer;
}

GstBuffer *
test_app_pull(GstElement *pipeline)
{
  GstAppSink *sink = GST_APP_SINK(test_child(pipeline, "sink"));

  return buffer_of(
      gst_app_sink_try_pull_sample(sink, TEST_PATIENCE * GST_USECOND), sink);
}

GstBuffer *
test_app_pull_preroll(GstElement *pipeline)
{
  GstAppSink *sink = GST_APP_SINK(test_child(pipeline, "sink"));

  return buffer_of(
      gst_app_sink_try_pull_preroll(sink, TEST_PATIENCE * GST_USECOND), sink);
}

void
test_set_state(GstElement *element, GstState state)
{
  const gint64 bound = test_two_seconds();
  gint64 start = g_get_monotonic_time();
  GstStateChangeReturn result = gst_element_set_state(element, state);

  if (result == GST_STATE_CHANGE_ASYNC)
    result = gst_element_get_state(element, NULL, NULL,
                                   (GstClockTime)bound * GST_USECOND);
  fail_unless(result == GST_STATE_CHANGE_SUCCESS ||
                  result == GST_STATE_CHANGE_NO_PREROLL,
              "%s to %s: %s", GST_OBJECT_NAME(element),
              gst_element_state_get_name(state),
              gst_element_state_change_return_get_name(result));
  fail_unless(g_get_monotonic_time() - start < bound,
              "the change to %s took over two seconds",
              gst_element_state_get_name(state));
}

guint
test_wait_for_eos(GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus(pipeline);
  guint histograms = 0;
  GstMessage *message;

  while (message = test_bus_pop(bus, GST_MESSAGE_EOS | GST_MESSAGE_ERROR |
                                         GST_MESSAGE_ELEMENT),
         GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT) {
    histograms += gst_message_has_name(message, "gpuhistogram");
    gst_message_unref(message);
  }
  fail_unless(GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS,
              "an error instead of the end of the stream");
  gst_message_unref(message);
  gst_object_unref(bus);
  return histograms;
}
