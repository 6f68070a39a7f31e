/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Many elements in one process, on several threads, that start and stop at
 * random and disturb no other. */

#include "testing-fake.h"
#include "testing-use.h"

#include "testing-quiet.h"

#define THREADS 16
#define ELEMENTS_EACH 4
#define STEPS 150      /* of each thread */
#define HEAP (1 << 20) /* what may be more in the end, in bytes */
#define RESIDENT (16 << 20)

static const gchar *const formats[] = {"GRAY8", "NV12", "I420", "GRAY16_LE",
                                       "P010_10LE"};

/* One of a thread's elements. */
typedef struct {
  GstElement *element;
  GstHarness *harness; /* (nullable): while it runs */
  GstVideoInfo info;
  guint bins;
  guint number; /* of the next frame */
} Member;

typedef struct {
  GThread *thread;
  GRand *random;
  guint frames; /* checked */
  Member members[ELEMENTS_EACH];
} Group;

static guint
pick(Group *group, guint first, guint end)
{
  return (guint)g_rand_int_range(group->random, (gint)first, (gint)end);
}

static void
start(Group *group, Member *member)
{
  static const gchar *const engines[] = {"cpu", "auto", NULL};
  const gchar *engine = engines[pick(group, 0, G_N_ELEMENTS(engines))];
  gboolean large = pick(group, 0, 20) == 0;
  gchar *caps = g_strdup_printf(
      "video/x-raw,format=%s,width=%u,height=%u,framerate=25/1",
      formats[pick(group, 0, G_N_ELEMENTS(formats))],
      pick(group, 16, large ? 640 : 128), pick(group, 8, large ? 480 : 64));

  member->bins = 1u << pick(group, 1, 9);
  member->element =
      test_element("bins", member->bins, "async-depth", pick(group, 1, 5),
                   "n-threads", pick(group, 1, 3), NULL);
  if (engine)
    gst_util_set_object_arg(G_OBJECT(member->element), "engine", engine);
  member->harness =
      gst_harness_new_with_element(member->element, "sink", "src");
  gst_harness_set_src_caps_str(member->harness, caps);
  test_video_info(&member->info, caps);
  g_free(caps);
}

static void
stop(Member *member)
{
  /* First, so that nothing is pushed any more when the pads go. */
  test_set_state(member->element, GST_STATE_NULL);
  gst_harness_teardown(member->harness);
  gst_object_unref(member->element);
  member->harness = NULL;
}

/* Some frames at once, each exact and in its place. */
static void
push_frames(Group *group, Member *member)
{
  TestExpected expected[6];
  guint n = pick(group, 1, G_N_ELEMENTS(expected) + 1);

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer =
        test_frame_new(&member->info, NULL, test_noise, group->random);

    test_stamp(buffer, member->number++);
    test_expect(&expected[i], buffer, &member->info);
    fail_unless_equals_int(gst_harness_push(member->harness, buffer),
                           GST_FLOW_OK);
  }
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_pull(member->harness);

    fail_unless(buffer != NULL, "no frame came out");
    test_check_frame(&expected[i], buffer, member->bins);
    gst_buffer_unref(buffer);
    test_expected_clear(&expected[i]);
  }
  group->frames += n;
}

/* Stopped with frames in flight. */
static void
push_and_stop(Group *group, Member *member)
{
  guint n = pick(group, 0, 4);

  for (guint i = 0; i < n; i++)
    gst_harness_push(member->harness,
                     test_frame_flat(&member->info, (guint8)i, i));
  stop(member);
}

static gpointer
run_group(gpointer data)
{
  Group *group = data;
  guint steps = test_repeats(STEPS);

  for (guint i = 0; i < ELEMENTS_EACH; i++)
    start(group, &group->members[i]);
  for (guint i = 0; i < steps; i++) {
    Member *member = &group->members[pick(group, 0, ELEMENTS_EACH)];

    if (!member->harness)
      start(group, member);
    else if (pick(group, 0, 4) == 0)
      push_and_stop(group, member);
    else
      push_frames(group, member);
  }
  for (guint i = 0; i < ELEMENTS_EACH; i++)
    if (group->members[i].harness)
      stop(&group->members[i]);
  return NULL;
}

static void
run_groups(GRand *random)
{
  Group groups[THREADS] = {{NULL}};
  guint frames = 0;

  for (guint i = 0; i < THREADS; i++) {
    groups[i].random = g_rand_new_with_seed(g_rand_int(random));
    groups[i].thread = g_thread_new("group", run_group, &groups[i]);
  }
  for (guint i = 0; i < THREADS; i++) {
    g_thread_join(groups[i].thread);
    g_rand_free(groups[i].random);
    frames += groups[i].frames;
  }
  g_printerr("%u frames\n", frames);
}

GST_START_TEST(sixty_four_elements_at_once)
{
  GRand *random = test_random();
  TestUse use;

  run_groups(random);
  test_use_take(&use);
  run_groups(random);
  /* A real driver keeps some of what it had for so many contexts at once. */
  test_use_check(&use, HEAP,
                 g_str_equal(test_engine(), "cuda") && !test_fake_find()
                     ? 8 * RESIDENT
                     : RESIDENT);
  if (g_str_equal(test_engine(), "cuda") && test_fake_find())
    fail_unless_equals_int(test_fake.objects(), 0);
  g_rand_free(random);
}
GST_END_TEST

static Suite *
many_suite(void)
{
  Suite *suite = suite_create("many");
  TCase *tcase = tcase_create("all");

  tcase_set_timeout(tcase, 120);
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, sixty_four_elements_at_once);
  return suite;
}

TEST_MAIN(many)
