/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A device that is unplugged while frames are in flight: from then on it does
 * nothing more, and all calls fail, those that end the element too. Needs the
 * fake driver.
 */

#include "testing-fake.h"
#include "testing-pool.h"

/* Large enough to be registered. */
#define CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"
#define PIXELS (320 * 240)

#define DEPTH 4
#define IN_FLIGHT 3
#define AFTERWARDS 10

#define NO_DEVICE 100

/* CUDA_ERROR_DEVICE_UNAVAILABLE and CUDA_ERROR_UNKNOWN beside that. */
static const int codes[] = {NO_DEVICE, 46, 999};

/* Where the frames are. */
typedef enum { ORDINARY, REGISTERED, PINNED, N_MEMORIES } Memory;

#define TURNS ((gint)(N_MEMORIES * G_N_ELEMENTS(codes)))

static Memory
memory_of(gint turn)
{
  return (Memory)(turn % N_MEMORIES);
}

static int
code_of(gint turn)
{
  return codes[turn / N_MEMORIES];
}

/* An element and a pool whose frames the GPU has come to read from where they
 * are, if it does so at all. */
static GstBufferPool *
start(TestFixture *fixture, Memory memory, gint engine)
{
  guint min, before;
  GstBufferPool *pool;

  test_fixture_setup(fixture, CAPS, "async-depth", DEPTH, "register-memory",
                     memory == REGISTERED, "engine", engine, NULL);
  test_tap_clear(fixture->tap);
  pool = memory == PINNED ? test_pool_proposed(fixture, &min)
                          : test_pool_ordinary(&fixture->info, DEPTH + 1);
  /* A memory is registered at its third sight. */
  test_pool_push(fixture, pool, 3 * (DEPTH + 1));
  before = (guint)test_stat(fixture->element, "bytes-copied");
  test_pool_push(fixture, pool, 1);
  fail_unless_equals_int(test_stat(fixture->element, "bytes-copied") - before,
                         memory == ORDINARY ? PIXELS : 0);
  return pool;
}

/* One frame is counted and waits to leave; the GPU still works on others. */
static void
unplug_with_frames_in_flight(TestFixture *fixture, GstBufferPool *pool,
                             int code)
{
  test_tap_shut(fixture->tap);
  test_fixture_push(fixture, test_pool_frame(pool, 0, 0));
  test_tap_wait_for_buffer_at_gate(fixture->tap);
  test_fake.delay(20000);
  for (guint i = 1; i < IN_FLIGHT; i++)
    test_fixture_push(fixture, test_pool_frame(pool, (guint8)i, i));
  test_fake.unplug(code);
  test_tap_open(fixture->tap);
}

/* The only message there is names what failed. */
static void
check_message(TestFixture *fixture, GstMessageType type, int code)
{
  GstMessage *message = test_bus_pop(fixture->bus, type);
  gchar *text = test_message_text(message);

  test_fake_check_cause(text, code);
  fail_unless_equals_int(
      test_bus_take(fixture->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  g_free(text);
  gst_message_unref(message);
}

/* In NULL within the two seconds of test_set_state(), with nothing left, and no
 * more to say. */
static void
stop(TestFixture *fixture, GstBufferPool *pool)
{
  test_set_state(fixture->element, GST_STATE_NULL);
  fail_unless_equals_int(
      test_bus_take(fixture->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING), 0);
  test_pool_free(pool);
  test_fixture_teardown(fixture);
  fail_unless_equals_int(test_fake.objects(), 0);
}

/* A new element counts on the CPU; with the device back, on the GPU again. */
static void
check_new_elements(int code)
{
  TestFixture fixture;
  GstBufferPool *pool;

  test_fixture_setup(&fixture, CAPS, "engine", TEST_AUTO, NULL);
  test_tap_clear(fixture.tap);
  if (code != NO_DEVICE)
    check_message(&fixture, GST_MESSAGE_WARNING, code);
  pool = test_pool_ordinary(&fixture.info, DEPTH + 1);
  test_pool_push(&fixture, pool, AFTERWARDS);
  stop(&fixture, pool);

  test_fake.delay(0);
  test_fake.fail_at(0, 0, FALSE);
  pool = start(&fixture, PINNED, TEST_CUDA);
  stop(&fixture, pool);
}

GST_START_TEST(auto_goes_on_without_the_device)
{
  TestFixture fixture;
  GstBufferPool *pool = start(&fixture, memory_of(__i__), TEST_AUTO);

  unplug_with_frames_in_flight(&fixture, pool, code_of(__i__));
  for (guint i = 0; i < IN_FLIGHT; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(fixture.tap);

    test_check_flat(buffer, i, PIXELS);
    gst_buffer_unref(buffer);
  }
  test_pool_push(&fixture, pool, AFTERWARDS);
  check_message(&fixture, GST_MESSAGE_WARNING, code_of(__i__));
  stop(&fixture, pool);
  check_new_elements(code_of(__i__));
}
GST_END_TEST;

/* Pushes until a frame is refused. */
static void
push_until_refused(TestFixture *fixture, GstBufferPool *pool)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i <= DEPTH && flow == GST_FLOW_OK; i++)
    flow = gst_harness_push(fixture->harness, test_pool_frame(pool, 99, 99));
  fail_unless_equals_int(flow, GST_FLOW_ERROR);
}

GST_START_TEST(cuda_ends_without_the_device)
{
  TestFixture fixture;
  GstBufferPool *pool = start(&fixture, memory_of(__i__), TEST_CUDA);
  guint came;

  unplug_with_frames_in_flight(&fixture, pool, code_of(__i__));
  check_message(&fixture, GST_MESSAGE_ERROR, code_of(__i__));
  push_until_refused(&fixture, pool);
  test_set_state(fixture.element, GST_STATE_NULL);
  came = test_tap_count(fixture.tap);
  fail_unless(came >= 1 && came <= IN_FLIGHT, "%u frames came", came);
  for (guint i = 0; i < came; i++) {
    GstBuffer *buffer = test_tap_pop_buffer(fixture.tap);

    test_check_flat(buffer, i, PIXELS);
    gst_buffer_unref(buffer);
  }
  stop(&fixture, pool);
  check_new_elements(code_of(__i__));
}
GST_END_TEST;

static Suite *
unplugged_suite(void)
{
  Suite *suite = suite_create("unplugged");
  TCase *tcase = tcase_create("all");

  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, auto_goes_on_without_the_device, 0, TURNS);
  tcase_add_loop_test(tcase, cuda_ends_without_the_device, 0, TURNS);
  return suite;
}

TEST_FAKE_MAIN(unplugged)
