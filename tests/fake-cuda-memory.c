/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * GStreamer's own CUDA library over the fake driver: memory:CUDAMemory as other
 * elements make it, mapped on both sides, and nothing left of it in the end.
 */

#include "testing-fake.h"
#include "testing.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>

#define WIDTH 100
#define HEIGHT 6
#define CAPS "format=NV12,width=100,height=6,framerate=25/1"

#define READ_CUDA (GST_MAP_READ | GST_MAP_CUDA)
#define WRITE_CUDA (GST_MAP_WRITE | GST_MAP_CUDA)

static GstCudaContext *context;
static GstCudaAllocator *allocator;
static guint objects_before;

/* The allocator is one for the whole process and keeps nothing of the driver's;
 * memory keeps its context. */
static void
setup(void)
{
  objects_before = test_fake.objects();
  fail_unless(gst_cuda_load_library());
  gst_cuda_memory_init_once();
  allocator = GST_CUDA_ALLOCATOR(gst_allocator_find(GST_CUDA_MEMORY_TYPE_NAME));
  context = gst_cuda_context_new(0);
  fail_unless(context != NULL);
  fail_unless_equals_int(test_fake.objects(), objects_before + 1);
}

static void
teardown(void)
{
  gst_object_unref(context);
  gst_object_unref(allocator);
  fail_unless_equals_int(test_fake.objects(), objects_before);
}

static GstMemory *
memory_new(void)
{
  GstVideoInfo info;
  GstMemory *memory;

  test_video_info(&info, "video/x-raw," CAPS);
  memory = gst_cuda_allocator_alloc(allocator, context, &info);
  fail_unless(gst_is_cuda_memory(memory));
  return memory;
}

static gsize
pitch_of(GstMemory *memory)
{
  return (gsize)GST_VIDEO_INFO_PLANE_STRIDE(&GST_CUDA_MEMORY_CAST(memory)->info,
                                            0);
}

static guint8
sample(guint x, guint y)
{
  return (guint8)(17 * y + x);
}

static void
write_luma(GstMemory *memory, GstMapFlags flags)
{
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map, flags));
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      map.data[y * pitch_of(memory) + x] = sample(x, y);
  gst_memory_unmap(memory, &map);
}

/* Returns where it was. */
static const guint8 *
check_luma(GstMemory *memory, GstMapFlags flags)
{
  const guint8 *data;
  GstMapInfo map;

  fail_unless(gst_memory_map(memory, &map, flags));
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++)
      fail_unless_equals_int(map.data[y * pitch_of(memory) + x], sample(x, y));
  data = map.data;
  gst_memory_unmap(memory, &map);
  return data;
}

GST_START_TEST(context_is_one_of_its_own)
{
  CUcontext current = NULL;

  fail_unless(gst_cuda_context_push(context));
  fail_unless_equals_int(test_fake.objects(), objects_before + 2);
  fail_unless(gst_cuda_context_pop(&current));
  fail_unless(current == gst_cuda_context_get_handle(context));
  /* With a second one around each asks for the other's memory. */
  gst_object_unref(gst_cuda_context_new(0));
}
GST_END_TEST;

GST_START_TEST(memory_is_written_on_the_host)
{
  GstMemory *memory = memory_new();
  const guint8 *on_host, *on_device;

  fail_unless(pitch_of(memory) > WIDTH);
  fail_unless_equals_int(pitch_of(memory) % 512, 0);
  write_luma(memory, GST_MAP_WRITE);
  on_device = check_luma(memory, READ_CUDA);
  on_host = check_luma(memory, GST_MAP_READ);
  fail_unless(on_host != on_device);
  gst_memory_unref(memory);
}
GST_END_TEST;

GST_START_TEST(memory_is_written_on_the_device)
{
  GstMemory *memory = memory_new();

  check_luma((write_luma(memory, WRITE_CUDA), memory), GST_MAP_READ);
  gst_memory_unref(memory);
}
GST_END_TEST;

/* Nobody waits for the copy on the device, which is on the default stream: a
 * map for reading on the host does, as its own copy comes after. */
GST_START_TEST(memory_is_copied)
{
  GstMemory *memory = memory_new();
  GstMemory *copy;

  write_luma(memory, GST_MAP_WRITE);
  copy = gst_memory_copy(memory, 0, -1);
  gst_memory_unref(memory);
  fail_unless(gst_is_cuda_memory(copy));
  check_luma(copy, GST_MAP_READ);
  check_luma(copy, READ_CUDA);
  gst_memory_unref(copy);
}
GST_END_TEST;

GST_START_TEST(memory_keeps_its_context)
{
  GstMemory *memory = memory_new();
  guint before = test_fake.objects();

  gst_object_unref(context);
  fail_unless_equals_int(test_fake.objects(), before);
  check_luma((write_luma(memory, GST_MAP_WRITE), memory), READ_CUDA);
  gst_memory_unref(memory);
  context = gst_cuda_context_new(0);
}
GST_END_TEST;

GST_START_TEST(pool_gives_frames)
{
  GstBufferPool *pool = gst_cuda_buffer_pool_new(context);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  GstCaps *caps = gst_caps_from_string("video/x-raw(memory:CUDAMemory)," CAPS);
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  fail_unless(gst_video_info_from_caps(&info, caps));
  gst_buffer_pool_config_set_params(config, caps, (guint)info.size, 2, 2);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL),
                         GST_FLOW_OK);

  write_luma(gst_buffer_peek_memory(buffer, 0), GST_MAP_WRITE);
  fail_unless(gst_video_frame_map(&frame, &info, buffer, READ_CUDA));
  fail_unless_equals_int(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), 512);
  fail_unless_equals_int(((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0))[513],
                         sample(1, 1));
  gst_video_frame_unmap(&frame);

  gst_buffer_unref(buffer);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  gst_caps_unref(caps);
}
GST_END_TEST;

/* Memory is freed even where calls that free it fail. */
GST_START_TEST(nothing_stays_after_a_failure)
{
  for (guint call = 1; call <= 12; call++) {
    GstMemory *memory = memory_new();
    GstMapInfo map;

    test_fake.fail_at(call, CUDA_ERROR_OUT_OF_MEMORY, FALSE);
    if (gst_memory_map(memory, &map, GST_MAP_READWRITE))
      gst_memory_unmap(memory, &map);
    if (gst_memory_map(memory, &map, READ_CUDA))
      gst_memory_unmap(memory, &map);
    gst_memory_unref(memory);
    fail_unless_equals_int(test_fake.objects(), objects_before + 1);
  }
  test_fake.fail_at(0, 0, FALSE);
}
GST_END_TEST;

static void
check_downloaded(GstElement *pipeline, GstElement *plain)
{
  GstBuffer *frame, *expected;
  GstMapInfo map;

  while ((expected = test_app_pull(plain))) {
    frame = test_app_pull(pipeline);
    fail_unless(frame != NULL);
    fail_unless(gst_buffer_map(expected, &map, GST_MAP_READ));
    fail_unless_equals_int(gst_buffer_get_size(frame), map.size);
    fail_unless(gst_buffer_memcmp(frame, 0, map.data, map.size) == 0);
    gst_buffer_unmap(expected, &map);
    gst_buffer_unref(expected);
    gst_buffer_unref(frame);
  }
}

/* In each direction the frames are ready when they are pushed. Starting its
 * plugin, GStreamer 1.22 leaves a context pushed for every codec that the
 * device does not have. */
GST_START_TEST(elements_carry_frames)
{
  const gchar *source = "videotestsrc num-buffers=5 ! video/x-raw," CAPS " ! ";
  gchar *text = g_strconcat(source,
                            "cudaupload ! video/x-raw(memory:CUDAMemory) ! "
                            "cudadownload ! video/x-raw ! "
                            "appsink name=sink sync=false",
                            NULL);
  gchar *plain_text = g_strconcat(source, "appsink name=sink sync=false", NULL);
  GstElement *pipeline, *plain;
  guint before;

  if (!test_have("elements_carry_frames", "cudaupload", "cudadownload", NULL))
    goto out;
  pipeline = test_pipeline(text);
  plain = test_pipeline(plain_text);
  before = test_fake.objects();
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gst_element_set_state(plain, GST_STATE_PLAYING);
  check_downloaded(pipeline, plain);
  test_set_state(pipeline, GST_STATE_NULL);
  test_set_state(plain, GST_STATE_NULL);
  gst_object_unref(pipeline);
  gst_object_unref(plain);
  fail_unless_equals_int(test_fake.objects(), before);
  objects_before = before - 1; /* all but the fixture's context */
out:
  g_free(text);
  g_free(plain_text);
}
GST_END_TEST;

static Suite *
fake_cuda_memory_suite(void)
{
  Suite *suite = suite_create("fake-cuda-memory");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_checked_fixture(chain, setup, teardown);
  tcase_add_test(chain, context_is_one_of_its_own);
  tcase_add_test(chain, memory_is_written_on_the_host);
  tcase_add_test(chain, memory_is_written_on_the_device);
  tcase_add_test(chain, memory_is_copied);
  tcase_add_test(chain, memory_keeps_its_context);
  tcase_add_test(chain, pool_gives_frames);
  tcase_add_test(chain, nothing_stays_after_a_failure);
  tcase_add_test(chain, elements_carry_frames);
  return suite;
}

TEST_FAKE_MAIN(fake_cuda_memory)
