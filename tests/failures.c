/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every call to the driver fails once, in turn, or from then on for ever: at
 * the start of the element, while frames run, at its end. Needs the fake
 * driver; see fake-driver/fake-driver.h.
 */

#include "testing-fake.h"
#include "testing-use.h"

#include <string.h>

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
#define PIXELS (64 * 48)
#define FRAMES 5

/* What may be more after some hundreds of runs, in bytes. */
#define HEAP 32768
#define RESIDENT (4 << 20)

#define NO_DEVICE 100

/* What a driver gives when memory is short, when it shuts down, when a device
 * is busy, not there, or without code for it, when a kernel or the device
 * breaks down, and what it has no name for. */
static const int codes[] = {2,   4,   46,  NO_DEVICE, 201, 209,  214,
                            700, 702, 719, 803,       999, 12345};

/* What came of one run. */
typedef struct {
  gboolean started;
  GstFlowReturn flow; /* of the last push */
  guint taken;        /* frames that the element took */
  guint counted;      /* those of them whose counts it had in the end */
  guint frames;       /* that came out, each of them exact */
  guint warnings;
  guint errors;
  gchar *engine; /* in use at the end */
  gchar *error;  /* text of the last error or warning */
} Outcome;

static void
outcome_clear(Outcome *outcome)
{
  g_free(outcome->engine);
  g_free(outcome->error);
}

static void
stream_frames(GstElement *element, Outcome *outcome)
{
  GstHarness *harness = gst_harness_new_with_element(element, "sink", "src");
  GstVideoInfo info;
  GstBuffer *buffer;

  test_video_info(&info, CAPS);
  gst_harness_set_src_caps_str(harness, CAPS);
  for (guint i = 0; i < FRAMES && outcome->flow == GST_FLOW_OK; i++) {
    outcome->flow =
        gst_harness_push(harness, test_frame_flat(&info, (guint8)(10 * i), i));
    outcome->taken += outcome->flow == GST_FLOW_OK;
  }
  gst_harness_push_event(harness, gst_event_new_eos());
  while ((buffer = gst_harness_try_pull(harness))) {
    test_check_flat(buffer, 10 * outcome->frames, PIXELS);
    outcome->frames++;
    gst_buffer_unref(buffer);
  }
  outcome->counted = (guint)test_stat(element, "frames");
  outcome->engine = test_stat_string(element, "engine");
  gst_harness_teardown(harness);
}

static void
take_messages(GstBus *bus, Outcome *outcome)
{
  const GstMessageType types = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered(bus, types))) {
    outcome->warnings += GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    outcome->errors += GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    g_free(outcome->error);
    outcome->error = test_message_text(message);
    gst_message_unref(message);
  }
}

/* To be followed by outcome_clear(). */
static void
run(const gchar *engine, guint call, int code, gboolean ever, Outcome *outcome)
{
  GstElement *element = gst_element_factory_make("gpuhistogram", NULL);
  GstBus *bus = gst_bus_new();

  *outcome = (Outcome){.flow = GST_FLOW_OK};
  gst_util_set_object_arg(G_OBJECT(element), "engine", engine);
  g_object_set(element, "post-messages", FALSE, NULL);
  gst_element_set_bus(element, bus);
  test_fake.fail_at(call, code, ever);
  outcome->started = gst_element_set_state(element, GST_STATE_PAUSED) !=
                     GST_STATE_CHANGE_FAILURE;
  if (outcome->started)
    stream_frames(element, outcome);
  test_set_state(element, GST_STATE_NULL);
  fail_unless_equals_int(test_fake.objects(), 0);
  gst_element_set_bus(element, NULL);
  take_messages(bus, outcome);
  if (outcome->error)
    test_fake_check_cause(outcome->error, code);
  gst_object_unref(bus);
  gst_object_unref(element);
}

/* Calls of a run in which nothing fails. */
static guint
calls_of_a_good_run(const gchar *engine)
{
  Outcome outcome;

  run(engine, 0, 0, FALSE, &outcome);
  fail_unless(outcome.started);
  fail_unless_equals_int(outcome.frames, FRAMES);
  fail_unless_equals_string(outcome.engine, "cuda");
  outcome_clear(&outcome);
  return test_fake.calls();
}

/* ---- Each call fails ---- */

/* Over all turns each call gives each code; half of them once, the others for
 * ever. */
#define TURNS ((gint)G_N_ELEMENTS(codes))

static int
code_of(gint turn, guint call)
{
  return codes[(call + (guint)turn) % G_N_ELEMENTS(codes)];
}

/* A sanitizer makes each run slow, so there the turns share the calls among
 * them. */
static guint
call_step(void)
{
  return test_repeats(TURNS) < TURNS ? TURNS : 1;
}

static guint
first_call(gint turn)
{
  return 1 + (guint)turn % call_step();
}

/* No device is no fault. */
static gboolean
is_no_fault(int code)
{
  return code == NO_DEVICE && test_fake.failed("cuInit");
}

/* No frame is lost, none is wrong, and there is one warning at most: a call
 * that fails at the end of the element's life hurts nobody. */
static gboolean
auto_counts_on(guint call, int code, gboolean ever)
{
  gboolean on_cpu;
  Outcome outcome;

  run("auto", call, code, ever, &outcome);
  fail_unless(outcome.started, "call %u", call);
  fail_unless(outcome.flow == GST_FLOW_OK, "call %u", call);
  fail_unless(outcome.frames == FRAMES, "call %u: %u frames", call,
              outcome.frames);
  fail_unless_equals_int(outcome.errors, 0);
  fail_unless(outcome.warnings <= 1, "call %u: %u warnings", call,
              outcome.warnings);
  on_cpu = g_str_equal(outcome.engine, "cpu");
  fail_unless(!on_cpu || outcome.warnings == 1 || is_no_fault(code),
              "call %u gave %d without a warning", call, code);
  outcome_clear(&outcome);
  return on_cpu;
}

/* Whether it was a frame's submission that failed. */
static gboolean
submit_failed(const Outcome *outcome)
{
  return outcome->started && (strstr(outcome->error, "cuMemcpyHtoDAsync") ||
                              strstr(outcome->error, "cuLaunchKernel") ||
                              strstr(outcome->error, "cuEventRecord"));
}

/* What was finished is delivered, then there is one error and no more frames;
 * or the element does not even start. */
static gboolean
cuda_stops(guint call, int code, gboolean ever)
{
  gboolean failed;
  Outcome outcome;

  run("cuda", call, code, ever, &outcome);
  failed = outcome.errors > 0;
  fail_unless_equals_int(outcome.warnings, 0);
  fail_unless_equals_int(outcome.frames, outcome.counted);
  if (failed) {
    fail_unless_equals_int(outcome.errors, 1);
    fail_unless(!outcome.started || outcome.frames < FRAMES, "call %u", call);
    /* The engine still owes the frames that it took before. */
    if (submit_failed(&outcome) && !ever)
      fail_unless(outcome.frames == outcome.taken, "call %u: %u of %u", call,
                  outcome.frames, outcome.taken);
  } else {
    fail_unless(outcome.started, "call %u", call);
    fail_unless(outcome.frames == FRAMES, "call %u", call);
  }
  outcome_clear(&outcome);
  return failed;
}

/* Nothing grows over all of the runs: a few bytes that each leaves would. */
static void
fail_each_call(gint turn, const gchar *engine,
               gboolean (*check)(guint call, int code, gboolean ever))
{
  guint n = calls_of_a_good_run(engine), felt = 0, runs = 0;
  TestUse use;

  test_use_take(&use);
  for (guint call = first_call(turn); call <= n; call += call_step()) {
    felt += check(call, code_of(turn, call), turn % 2);
    runs++;
  }
  test_use_check(&use, HEAP, RESIDENT);
  /* Most calls are not at the end. */
  fail_unless(felt > runs / 2, "%u of %u", felt, runs);
}

GST_START_TEST(auto_counts_on_after_every_failure)
{
  fail_each_call(__i__, "auto", auto_counts_on);
}
GST_END_TEST;

GST_START_TEST(cuda_stops_at_every_failure)
{
  fail_each_call(__i__, "cuda", cuda_stops);
}
GST_END_TEST;

/* ---- Others ---- */

/* New caps wait for a slow frame; a flush ends the wait. The frame still says
 * what it was. */
GST_START_TEST(flush_ends_the_wait_of_caps)
{
  GstCaps *caps = gst_caps_from_string(
      "video/x-raw,format=GRAY8,width=8,height=8,framerate=25/1");
  TestFixture f;
  GstMessage *message;

  for (guint i = 0; i < 20; i++) {
    TestPusher *pusher;

    test_fixture_setup(&f, CAPS, NULL);
    test_fake.delay(20000);
    test_fixture_push(&f, test_frame_flat(&f.info, 1, 0));
    pusher = test_pusher_new(&f, gst_event_new_caps(caps), NULL);
    gst_harness_push_event(f.harness, gst_event_new_flush_start());
    test_pusher_join(pusher);
    gst_harness_push_event(f.harness, gst_event_new_flush_stop(TRUE));
    while ((message = gst_bus_pop_filtered(f.bus, GST_MESSAGE_ELEMENT))) {
      fail_unless_equals_uint64(test_message_uint64(message, "width") *
                                    test_message_uint64(message, "height"),
                                test_message_uint64(message, "pixels"));
      gst_message_unref(message);
    }
    test_fake.delay(0);
    test_fixture_teardown(&f);
  }
  gst_caps_unref(caps);
}
GST_END_TEST;

static Suite *
failures_suite(void)
{
  Suite *suite = suite_create("failures");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_loop_test(chain, auto_counts_on_after_every_failure, 0, TURNS);
  tcase_add_loop_test(chain, cuda_stops_at_every_failure, 0, TURNS);
  tcase_add_test(chain, flush_ends_the_wait_of_caps);
  return suite;
}

TEST_FAKE_MAIN(failures)
