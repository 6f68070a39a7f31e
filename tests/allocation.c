/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What upstream is told about buffers: how many, and of what kind. */

#include "testing.h"

#define CAPS "video/x-raw,format=GRAY8,width=720,height=576,framerate=25/1"

static GstQuery *
ask_for(TestFixture *f, GstCaps *caps, gboolean need_pool)
{
  GstQuery *query = gst_query_new_allocation(caps, need_pool);

  fail_unless(gst_pad_peer_query(f->harness->srcpad, query));
  return query;
}

static GstQuery *
ask_allocation(TestFixture *f, gboolean need_pool)
{
  GstCaps *caps = gst_pad_get_current_caps(f->harness->srcpad);
  GstQuery *query = ask_for(f, caps, need_pool);

  gst_caps_unref(caps);
  return query;
}

static gboolean
offers(GstQuery *query, GType meta)
{
  return gst_query_find_allocation_meta(query, meta, NULL);
}

GST_START_TEST(B42_crop_meta_is_not_offered)
{
  TestFixture f;
  GstQuery *query;

  test_fixture_setup(&f, CAPS, NULL);
  gst_harness_add_propose_allocation_meta(f.harness, GST_VIDEO_META_API_TYPE,
                                          NULL);
  gst_harness_add_propose_allocation_meta(f.harness,
                                          GST_VIDEO_CROP_META_API_TYPE, NULL);
  query = ask_allocation(&f, TRUE);
  fail_unless(offers(query, GST_VIDEO_META_API_TYPE));
  fail_if(offers(query, GST_VIDEO_CROP_META_API_TYPE));
  gst_query_unref(query);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* What downstream answers. */
typedef struct {
  GstBufferPool *pool;
  guint min, max;
} Proposal;

static GstPadProbeReturn
propose_pool(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  const Proposal *proposal = data;

  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool(query, proposal->pool, 720 * 576, proposal->min,
                                proposal->max);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_PAD_PROBE_HANDLED;
}

static void
answer_with(TestFixture *f, Proposal *proposal)
{
  gst_pad_add_probe(f->harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                    propose_pool, proposal, NULL);
}

/* Upstream has to make room for what downstream keeps and what we keep. */
static void
check_pools(GstQuery *query, guint least)
{
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); i++) {
    GstBufferPool *pool = NULL;
    guint min = 0, max = 0;

    gst_query_parse_nth_allocation_pool(query, i, &pool, NULL, &min, &max);
    fail_unless(min >= least, "%u buffers are too few", min);
    fail_unless(max == 0 || max >= min);
    gst_clear_object(&pool);
  }
}

GST_START_TEST(allocation_answer_counts_the_frames_held)
{
  Proposal proposal = {gst_video_buffer_pool_new(), 3, 0};
  TestFixture f;
  GstQuery *query;

  test_fixture_setup(&f, CAPS, "async-depth", 5, NULL);
  query = ask_allocation(&f, TRUE);
  check_pools(query, 6);
  gst_query_unref(query);

  answer_with(&f, &proposal);
  query = ask_allocation(&f, TRUE);
  fail_unless(gst_query_get_n_allocation_pools(query) >= 1);
  check_pools(query, 3 + 6);
  gst_query_unref(query);
  test_fixture_teardown(&f);
  gst_object_unref(proposal.pool);
}
GST_END_TEST;

/* Downstream that has wishes but no pool. */
GST_START_TEST(allocation_answer_counts_them_without_a_pool)
{
  TestFixture f;
  GstQuery *query;
  guint size, min;

  test_fixture_setup(&f, CAPS, "async-depth", 5, NULL);
  gst_harness_add_propose_allocation_meta(f.harness, GST_VIDEO_META_API_TYPE,
                                          NULL);
  query = ask_allocation(&f, FALSE);
  fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 1);
  gst_query_parse_nth_allocation_pool(query, 0, NULL, &size, &min, NULL);
  fail_unless_equals_int(size, 720 * 576);
  fail_unless_equals_int(min, 6);
  gst_query_unref(query);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* Where downstream has no more, upstream cannot have more. */
GST_START_TEST(a_pool_stays_as_small_as_downstream_wants)
{
  Proposal proposal = {gst_video_buffer_pool_new(), 3, 4};
  GstBufferPool *pool = NULL;
  guint min, max;
  TestFixture f;
  GstQuery *query;

  test_fixture_setup(&f, CAPS, "async-depth", 5, NULL);
  answer_with(&f, &proposal);
  query = ask_allocation(&f, TRUE);
  gst_query_parse_nth_allocation_pool(query, 0, &pool, NULL, &min, &max);
  fail_unless(pool == proposal.pool);
  fail_unless_equals_int(min, 4);
  fail_unless_equals_int(max, 4);
  gst_object_unref(pool);
  gst_query_unref(query);
  test_fixture_teardown(&f);
  gst_object_unref(proposal.pool);
}
GST_END_TEST;

/* Of frames of no known size there can be no pool, but still too few. */
GST_START_TEST(caps_that_say_no_size)
{
  Proposal proposal = {NULL, 3, 0};
  GstCaps *caps = gst_caps_from_string("video/x-raw,format=GRAY8");
  GstBufferPool *pool = NULL;
  TestFixture f;
  GstQuery *query;
  guint min;

  test_fixture_setup(&f, CAPS, "async-depth", 5, NULL);
  query = ask_for(&f, caps, TRUE);
  fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 0);
  gst_query_unref(query);
  query = ask_for(&f, NULL, TRUE);
  fail_unless_equals_int(gst_query_get_n_allocation_pools(query), 0);
  gst_query_unref(query);

  answer_with(&f, &proposal);
  query = ask_for(&f, caps, TRUE);
  gst_query_parse_nth_allocation_pool(query, 0, &pool, NULL, &min, NULL);
  fail_unless(pool == NULL);
  fail_unless_equals_int(min, 3 + 6);
  gst_query_unref(query);
  gst_caps_unref(caps);
  test_fixture_teardown(&f);
}
GST_END_TEST;

/* A pool of exactly as many buffers as the answer asked for is enough. */
GST_START_TEST(allocation_answer_is_enough)
{
  GstElement *pipeline = test_pipeline(
      "videotestsrc num-buffers=200 ! video/x-raw,format=I420,width=640,"
      "height=480 ! tee name=t ! gpuhistogram async-depth=4 ! queue ! "
      "fakesink sync=false t. ! queue ! gpuhistogram ! fakesink sync=false");

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int(test_wait_for_eos(pipeline), 400);
  test_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}
GST_END_TEST;

static Suite *
allocation_suite(void)
{
  Suite *suite = suite_create("allocation");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_test(chain, B42_crop_meta_is_not_offered);
  tcase_add_test(chain, allocation_answer_counts_the_frames_held);
  tcase_add_test(chain, allocation_answer_counts_them_without_a_pool);
  tcase_add_test(chain, a_pool_stays_as_small_as_downstream_wants);
  tcase_add_test(chain, caps_that_say_no_size);
  tcase_add_test(chain, allocation_answer_is_enough);
  return suite;
}

TEST_MAIN(allocation)
