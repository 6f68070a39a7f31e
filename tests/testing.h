/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the element's tests share: the choice of the engine, frames, the plain
 * count that every histogram is compared with, and a record of what leaves a
 * pad. A helper that finds something wrong fails the test that called it. */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/gpuhistogram/gstgpuhistogrammeta.h>
#include <gst/video/video.h>

/* How long, in microseconds, a test waits for what has to come, and how long
 * it watches for what must not come. */
#define TEST_PATIENCE (10 * G_TIME_SPAN_SECOND)
#define TEST_ABSENCE (50 * G_TIME_SPAN_MILLISECOND)

#define TEST_FRAME_DURATION (40 * GST_MSECOND)

/* ---- Programs ---- */

/* Runs the suite on the engine that GPUHISTOGRAM_TEST_ENGINE names ("cpu", the
 * default, or "cuda"). Where no CUDA device works the program is skipped
 * (exit status 77), or fails if GPUHISTOGRAM_TEST_REQUIRE_CUDA is set to 1. */
int test_main(int argc, char **argv, Suite *(*suite)(void), const char *name);

#define TEST_MAIN(name)                                \
  int main(int argc, char **argv)                      \
  {                                                    \
    return test_main(argc, argv, name##_suite, #name); \
  }

const gchar *test_engine(void);

/* Values of the property engine. */
enum { TEST_AUTO, TEST_CUDA, TEST_CPU };

/* The number of repeats, divided by GPUHISTOGRAM_TEST_SCALE where a sanitizer
 * makes each of them slow. */
guint test_repeats(guint n);

/* Two seconds, or as many times more as GPUHISTOGRAM_TEST_SCALE says, in
 * microseconds. */
gint64 test_two_seconds(void);

/* A generator whose seed is printed; GPUHISTOGRAM_TEST_SEED overrides it. */
GRand *test_random(void);

/* TRUE if all the elements exist; otherwise it says which test is skipped. */
gboolean test_have(const gchar *test, const gchar *element,
                   ...) G_GNUC_NULL_TERMINATED;

/* ---- Frames ---- */

typedef guint8 (*TestPattern)(guint x, guint y, gpointer data);

guint8 test_flat(guint x, guint y, gpointer value);
guint8 test_ramp(guint x, guint y, gpointer unused);
guint8 test_noise(guint x, guint y, gpointer rand);

/* Where the planes lie when it is not where the caps alone would put them. */
typedef struct {
  gsize before;     /* bytes ahead of the first plane */
  gint stride;      /* of the first plane in bytes; 0 for the usual one */
  guint rows_below; /* rows of padding below the first plane */
} TestLayout;

/* A frame whose luma is the pattern and whose every other byte is 0xEE. A
 * layout other than NULL goes with it as GstVideoMeta. */
GstBuffer *test_frame_new(const GstVideoInfo *info, const TestLayout *layout,
                          TestPattern pattern, gpointer data);

/* The usual layout, one value everywhere, the times of frame @number. */
GstBuffer *test_frame_flat(const GstVideoInfo *info, guint8 value,
                           guint number);

void test_stamp(GstBuffer *buffer, guint number);

/* The first sample of the first plane; what marks a flat frame. */
guint8 test_first_sample(GstBuffer *buffer);

void test_video_info(GstVideoInfo *info, const gchar *caps);

/* ---- Samples of any format ---- */

/* Which bits of a row sample x has: those from first + x / group * group_bits +
 * x % group * apart on, as many as depth says. */
typedef struct {
  guint first;
  guint apart;
  guint group;
  guint group_bits;
  guint depth;
  guint unit;       /* bits of what has to be there as a whole: 8 or 16 */
  gboolean swapped; /* 16-bit words are big endian */
} TestLuma;

void test_luma(TestLuma *luma, const GstVideoFormatInfo *info);
guint test_luma_get(const TestLuma *luma, const guint8 *row, guint x);
void test_luma_set(const TestLuma *luma, guint8 *row, guint x, guint value);

/* From the start of a row to the end of its last sample. */
gsize test_luma_row_bytes(const TestLuma *luma, guint width);

typedef guint (*TestDeepPattern)(guint x, guint y, gpointer data);

/* As test_frame_new() for samples of any depth; all bits that are no sample's
 * are those of 0xEE. */
GstBuffer *test_deep_frame_new(const GstVideoInfo *info,
                               const TestLayout *layout,
                               TestDeepPattern pattern, gpointer data);

/* ---- What is expected ---- */

typedef struct {
  GstClockTime pts, dts, duration;
  guint64 offset;
  guint flags;
  guint n_memories;
  GstMemory *memories[16];
  gchar *digest;

  GstVideoFormat format;
  guint depth;
  guint width, height;
  guint64 *levels; /* how many samples have each grey level */
  guint64 pixels, sum;
  guint min, max;
} TestExpected;

/* Counts the first plane of @buffer with a plain loop, sample by sample, by
 * the strides and offsets in force, and keeps what must not change on the way
 * through the element. */
void test_expect(TestExpected *expected, GstBuffer *buffer,
                 const GstVideoInfo *info);

/* As above, where @luma is what counts of each sample. */
void test_expect_luma(TestExpected *expected, GstBuffer *buffer,
                      const GstVideoInfo *info, const TestLuma *luma);
void test_expected_clear(TestExpected *expected);

/* The same buffer data and times, and exactly one meta, which holds the
 * expected count in @n_bins bins. */
void test_check_frame(const TestExpected *expected, GstBuffer *buffer,
                      guint n_bins);

/* As above, but passed on without a measurement. */
void test_check_unmeasured(const TestExpected *expected, GstBuffer *buffer);

/* The same buffer data and times, whatever was measured. */
void test_check_untouched(const TestExpected *expected, GstBuffer *buffer);

void test_check_meta(const TestExpected *expected,
                     const GstGpuHistogramMeta *meta, guint n_bins);
void test_check_message(const TestExpected *expected, GstMessage *message);

/* One meta, which agrees with the plain count of the buffer that has it. */
void test_check_own_frame(GstBuffer *buffer, const GstVideoInfo *info);

guint test_count_metas(GstBuffer *buffer);

/* A meta that says: all its pixels have this one value. */
void test_check_flat(GstBuffer *buffer, guint value, guint64 pixels);

/* ---- A record of what passes a pad ---- */

typedef struct _TestTap TestTap;

/* Keeps every buffer and every downstream event that passes @pad. */
TestTap *test_tap_new(GstPad *pad);
void test_tap_free(TestTap *tap);

/* FALSE to keep events only. */
void test_tap_keep_buffers(TestTap *tap, gboolean keep);

/* While a tap is shut the thread that pushes a buffer waits before the buffer
 * is recorded; events pass. */
void test_tap_shut(TestTap *tap);
void test_tap_open(TestTap *tap);
void test_tap_wait_for_buffer_at_gate(TestTap *tap);

/* The next object, which the caller owns; waits for it. */
GstMiniObject *test_tap_pop(TestTap *tap);
GstBuffer *test_tap_pop_buffer(TestTap *tap);
void test_tap_skip_until(TestTap *tap, GstEventType type);
void test_tap_wait_for(TestTap *tap, GstEventType type);

guint test_tap_count(TestTap *tap);
void test_tap_stays_at(TestTap *tap, guint count);
void test_tap_clear(TestTap *tap);

/* Everything recorded so far, taken out, as words: the names of events and
 * the first sample of buffers. */
gchar *test_tap_take_text(TestTap *tap);

/* ---- The element under test, alone in a harness ---- */

typedef struct {
  GstElement *element;
  GstHarness *harness;
  GstBus *bus;
  TestTap *tap; /* on the element's src pad */
  GstVideoInfo info;
} TestFixture;

/* An element with the engine under test and the given properties. */
GstElement *test_element(const gchar *first_property, ...);

/* The same in PLAYING; @caps may be NULL for no stream yet. The tap has seen
 * stream-start, caps and segment. */
void test_fixture_setup(TestFixture *fixture, const gchar *caps,
                        const gchar *first_property, ...);
void test_fixture_teardown(TestFixture *fixture);

/* New caps in mid-stream, as one CAPS event. */
gboolean test_fixture_renegotiate(TestFixture *fixture, const gchar *caps);

/* A new segment; what the tap saw up to it is forgotten. */
void test_fixture_start_segment(TestFixture *fixture);

void test_fixture_push(TestFixture *fixture, GstBuffer *buffer);

/* Returns once every frame pushed before has left. */
void test_fixture_drain(TestFixture *fixture);

/* Pushes the frame, takes the next one that comes out, and compares. */
void test_fixture_measure(TestFixture *fixture, GstBuffer *buffer,
                          guint n_bins);

/* A thread that pushes buffers, events and serialized queries in the order
 * given; takes ownership of them. */
typedef struct _TestPusher TestPusher;
TestPusher *test_pusher_new(TestFixture *fixture, gpointer first,
                            ...) G_GNUC_NULL_TERMINATED;
guint test_pusher_returned(TestPusher *pusher);
void test_pusher_wait_for(TestPusher *pusher, guint returned);
void test_pusher_stays_at(TestPusher *pusher, guint returned);
void test_pusher_join(TestPusher *pusher);

/* ---- Bus ---- */

/* The next message of these types; waits for it. */
GstMessage *test_bus_pop(GstBus *bus, GstMessageType types);
GstMessage *test_bus_pop_histogram(GstBus *bus);
guint64 test_message_uint64(GstMessage *message, const gchar *field);

/* (transfer full): what an error or a warning tells the user. */
gchar *test_message_text(GstMessage *message);

/* The text has all these words, up to a NULL. */
void test_check_words(const gchar *text, const gchar *const *words);

/* Waits for an error or a warning; it is the only one of its type on the bus,
 * and its text has all these words. */
void test_bus_check_text(GstBus *bus, GstMessageType type,
                         const gchar *const *words);

/* How many messages of these types were on the bus; empties it. */
guint test_bus_take(GstBus *bus, GstMessageType types);
guint64 test_stat(GstElement *element, const gchar *field);
gchar *test_stat_string(GstElement *element, const gchar *field);

/* ---- The process ---- */

guint test_threads(void);
guint test_fds(void);

/* The number of threads without those that wait for work in GLib's pool; gives
 * those above @at_most two seconds to end. */
guint test_threads_left(guint at_most);
guint64 test_resident_bytes(void);

/* Whether at most @limit bytes more than @before are resident now. TRUE under a
 * sanitizer, which keeps memory that was freed. */
gboolean test_has_not_grown(guint64 before, guint64 limit);

/* Counts what @element logs at the levels WARNING and ERROR. */
void test_warnings_watch(GstElement *element);
guint test_warnings_take(void);

/* ---- Pipelines ---- */

/* A pipeline from its description; its gpuhistogram elements get the engine
 * under test. */
GstElement *test_pipeline(const gchar *description);
GstElement *test_child(GstElement *pipeline, const gchar *name);
TestTap *test_tap_on(GstElement *pipeline, const gchar *name, const gchar *pad);

/* Pushes to the appsrc named "src", and ends its stream. */
void test_app_push(GstElement *pipeline, GstBuffer *buffer);
void test_app_end(GstElement *pipeline);
/* The next buffer at the appsink named "sink"; waits for it. NULL at the end
 * of the stream. */
GstBuffer *test_app_pull(GstElement *pipeline);
GstBuffer *test_app_pull_preroll(GstElement *pipeline); /* in PAUSED */

/* A state change that must succeed within two seconds; waits for it if it is
 * asynchronous. */
void test_set_state(GstElement *element, GstState state);

/* Waits for the end of the stream. Returns how many histograms were on the
 * bus before. */
guint test_wait_for_eos(GstElement *pipeline);
