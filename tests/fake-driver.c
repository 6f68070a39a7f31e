/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The fake driver itself, where other tests lean on it: memory that the host
 * registers, order between streams, contexts of their own.
 */

#include "testing-fake.h"

#include <cudaTypedefs.h>
#include <gst/check/gstcheck.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(X)                                                           \
  X(cuCtxCreate_v2, PFN_cuCtxCreate_v3020)                                     \
  X(cuCtxDestroy_v2, PFN_cuCtxDestroy_v4000)                                   \
  X(cuCtxGetCurrent, PFN_cuCtxGetCurrent_v4000)                                \
  X(cuCtxPopCurrent_v2, PFN_cuCtxPopCurrent_v4000)                             \
  X(cuCtxPushCurrent_v2, PFN_cuCtxPushCurrent_v4000)                           \
  X(cuCtxSynchronize, PFN_cuCtxSynchronize_v2000)                              \
  X(cuDriverGetVersion, PFN_cuDriverGetVersion_v2020)                          \
  X(cuEventCreate, PFN_cuEventCreate_v2000)                                    \
  X(cuEventDestroy_v2, PFN_cuEventDestroy_v4000)                               \
  X(cuEventRecord, PFN_cuEventRecord_v2000)                                    \
  X(cuInit, PFN_cuInit_v2000)                                                  \
  X(cuMemAllocPitch_v2, PFN_cuMemAllocPitch_v3020)                             \
  X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                       \
  X(cuMemFreeHost, PFN_cuMemFreeHost_v2000)                                    \
  X(cuMemFree_v2, PFN_cuMemFree_v3020)                                         \
  X(cuMemHostAlloc, PFN_cuMemHostAlloc_v2020)                                  \
  X(cuMemHostGetDevicePointer_v2, PFN_cuMemHostGetDevicePointer_v3020)         \
  X(cuMemHostRegister_v2, PFN_cuMemHostRegister_v6050)                         \
  X(cuMemHostUnregister, PFN_cuMemHostUnregister_v4000)                        \
  X(cuMemcpy2D_v2, PFN_cuMemcpy2D_v3020)                                       \
  X(cuMemcpyDtoHAsync_v2, PFN_cuMemcpyDtoHAsync_v3020)                         \
  X(cuMemcpyHtoDAsync_v2, PFN_cuMemcpyHtoDAsync_v3020)                         \
  X(cuModuleLoadData, PFN_cuModuleLoadData_v2000)                              \
  X(cuModuleUnload, PFN_cuModuleUnload_v2000)                                  \
  X(cuPointerGetAttribute, PFN_cuPointerGetAttribute_v4000)                    \
  X(cuStreamCreate, PFN_cuStreamCreate_v2000)                                  \
  X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                             \
  X(cuStreamSynchronize, PFN_cuStreamSynchronize_v2000)                        \
  X(cuStreamWaitEvent, PFN_cuStreamWaitEvent_v3020)                            \
  X(fake_driver_delay, FakeDriverDelay)                                        \
  X(fake_driver_fail, FakeDriverFail)                                          \
  X(fake_driver_fail_function, FakeDriverFailFunction)                         \
  X(fake_driver_failed, FakeDriverFailed)                                      \
  X(fake_driver_objects, FakeDriverObjects)                                    \
  X(fake_driver_pose, FakeDriverPose)                                          \
  X(fake_driver_unplug, FakeDriverUnplug)
/* clang-format on */

static struct {
#define X(name, type) type name;
  FUNCTIONS(X)
#undef X
} driver;

static gboolean
find_fake_driver(void)
{
  gboolean found = TRUE;

#define X(name, type) found = found && test_fake_symbol(#name, &driver.name);
  FUNCTIONS(X)
#undef X
  return found;
}

#define ok(call) fail_unless_equals_int(driver.call, CUDA_SUCCESS)
#define fails(call, code) fail_unless_equals_int(driver.call, CUDA_ERROR_##code)

#define PAGE 4096
#define SIZE (4 * PAGE)

static CUcontext context;
static CUstream stream, other_stream;
static CUdeviceptr device;
static guint8 *host; /* whole pages */

static void
setup(void)
{
  ok(cuCtxCreate_v2(&context, 0, 0));
  ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ok(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
  ok(cuMemAlloc_v2(&device, SIZE));
  host = aligned_alloc(PAGE, SIZE);
}

static void
teardown(void)
{
  CUcontext popped;

  ok(cuMemFree_v2(device));
  ok(cuStreamDestroy_v2(other_stream));
  ok(cuStreamDestroy_v2(stream));
  ok(cuCtxPopCurrent_v2(&popped));
  fail_unless(popped == context);
  ok(cuCtxDestroy_v2(context));
  free(host);
  driver.fake_driver_delay(0);
  fail_unless_equals_int(driver.fake_driver_objects(), 0);
}

GST_START_TEST(registers_a_page_once)
{
  void *pinned;

  fails(cuMemHostRegister_v2(host, 0, 0), INVALID_VALUE);
  fails(cuMemHostRegister_v2(NULL, 1, 0), INVALID_VALUE);
  ok(cuMemHostRegister_v2(host + 100, PAGE, 0));
  fails(cuMemHostRegister_v2(host + 100, PAGE, 0),
        HOST_MEMORY_ALREADY_REGISTERED);
  /* The last byte is in the another page, and the first in the first. */
  fails(cuMemHostRegister_v2(host + 2 * PAGE - 1, PAGE, 0),
        HOST_MEMORY_ALREADY_REGISTERED);
  fails(cuMemHostRegister_v2(host, 1, 0), HOST_MEMORY_ALREADY_REGISTERED);
  ok(cuMemHostRegister_v2(host + 2 * PAGE, PAGE, 0));

  fails(cuMemHostUnregister(host), HOST_MEMORY_NOT_REGISTERED);
  ok(cuMemHostUnregister(host + 100));
  fails(cuMemHostUnregister(host + 100), HOST_MEMORY_NOT_REGISTERED);
  ok(cuMemHostUnregister(host + 2 * PAGE));

  ok(cuMemHostAlloc(&pinned, PAGE, 0));
  fails(cuMemHostRegister_v2(pinned, PAGE, 0), HOST_MEMORY_ALREADY_REGISTERED);
  ok(cuMemFreeHost(pinned));
}
GST_END_TEST;

GST_START_TEST(counts_registered_memory)
{
  guint before = driver.fake_driver_objects();

  ok(cuMemHostRegister_v2(host, SIZE, 0));
  fail_unless_equals_int(driver.fake_driver_objects(), before + 1);
  /* Its work is done even so. */
  driver.fake_driver_fail(1, CUDA_ERROR_ILLEGAL_ADDRESS, FALSE);
  fails(cuMemHostUnregister(host), ILLEGAL_ADDRESS);
  fail_unless_equals_int(driver.fake_driver_objects(), before);
  driver.fake_driver_fail(1, CUDA_ERROR_OUT_OF_MEMORY, FALSE);
  fails(cuMemHostRegister_v2(host, SIZE, 0), OUT_OF_MEMORY);
  fail_unless_equals_int(driver.fake_driver_objects(), before);
}
GST_END_TEST;

GST_START_TEST(knows_what_a_pointer_is)
{
  CUdeviceptr pointer = 0;
  CUcontext owner = NULL;
  unsigned type = 0;

  fails(cuMemHostGetDevicePointer_v2(&pointer, host, 0), INVALID_VALUE);
  ok(cuMemHostRegister_v2(host, SIZE, 0));
  ok(cuMemHostGetDevicePointer_v2(&pointer, host + 5, 0));
  ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
  fail_unless_equals_int(type, CU_MEMORYTYPE_HOST);
  ok(cuMemHostUnregister(host));
  ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                           device + SIZE - 1));
  fail_unless_equals_int(type, CU_MEMORYTYPE_DEVICE);
  ok(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, device));
  fail_unless(owner == context);
  fails(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                              (CUdeviceptr)host),
        INVALID_VALUE);
}
GST_END_TEST;

/* There and back, on two streams that keep no order by themselves. */
GST_START_TEST(streams_wait_for_events)
{
  CUevent event;

  driver.fake_driver_delay(2000);
  ok(cuEventCreate(&event, CU_EVENT_DEFAULT));
  ok(cuStreamWaitEvent(stream, event, 0)); /* for nothing */
  for (guint i = 1; i <= 50; i++) {
    memset(host, (int)i, PAGE);
    ok(cuMemcpyHtoDAsync_v2(device, host, PAGE, stream));
    ok(cuEventRecord(event, stream));
    ok(cuStreamWaitEvent(other_stream, event, 0));
    ok(cuMemcpyDtoHAsync_v2(host + PAGE, device, PAGE, other_stream));
    ok(cuCtxSynchronize());
    fail_unless_equals_int(host[PAGE], i);
    fail_unless_equals_int(host[2 * PAGE - 1], i);
  }
  ok(cuEventDestroy_v2(event));
}
GST_END_TEST;

/* Streams that block keep the default one's order, others do not. */
GST_START_TEST(default_stream_orders_others)
{
  CUstream blocking;

  driver.fake_driver_delay(2000);
  ok(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  for (guint i = 1; i <= 20; i++) {
    memset(host, (int)i, PAGE);
    ok(cuMemcpyHtoDAsync_v2(device, host, PAGE, NULL));
    ok(cuMemcpyDtoHAsync_v2(host + PAGE, device, PAGE, blocking));
    ok(cuStreamSynchronize(blocking));
    fail_unless_equals_int(host[PAGE], i);
  }
  ok(cuStreamDestroy_v2(blocking));
}
GST_END_TEST;

static CUDA_MEMCPY2D
upload_of_rows(CUdeviceptr to, gsize pitch, gsize width, gsize height)
{
  return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                         .srcHost = host,
                         .srcPitch = width,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = to,
                         .dstPitch = pitch,
                         .WidthInBytes = width,
                         .Height = height};
}

GST_START_TEST(copies_rows)
{
  CUdeviceptr rows;
  CUDA_MEMCPY2D copy;
  gsize pitch;

  fails(cuMemAllocPitch_v2(&rows, &pitch, 0, 4, 16), INVALID_VALUE);
  fails(cuMemAllocPitch_v2(&rows, &pitch, 512, 4, 1), INVALID_VALUE);
  ok(cuMemAllocPitch_v2(&rows, &pitch, 512, 4, 16));
  fail_unless_equals_int(pitch, 1024);

  memset(host, 7, 4 * 512);
  copy = upload_of_rows(rows, pitch, 512, 4);
  ok(cuMemcpy2D_v2(&copy));
  fail_unless_equals_int(((guint8 *)rows)[3 * 1024 + 511], 7);
  fail_unless(((guint8 *)rows)[512] != 7);

  copy = upload_of_rows(rows, pitch, 512, 5);
  fails(cuMemcpy2D_v2(&copy), INVALID_VALUE);
  copy = upload_of_rows(rows, 511, 512, 4);
  fails(cuMemcpy2D_v2(&copy), INVALID_VALUE);
  copy = upload_of_rows(rows, pitch, 512, 4);
  copy.dstY = 1;
  fails(cuMemcpy2D_v2(&copy), INVALID_VALUE);
  ok(cuMemFree_v2(rows));
}
GST_END_TEST;

GST_START_TEST(keeps_contexts_apart)
{
  CUcontext another, current;
  CUdeviceptr memory;
  CUevent event;

  ok(cuCtxCreate_v2(&another, 0, 0));
  ok(cuCtxGetCurrent(&current));
  fail_unless(current == another);
  fails(cuStreamSynchronize(stream), INVALID_CONTEXT);
  fails(cuMemcpyHtoDAsync_v2(device, host, 1, NULL), INVALID_CONTEXT);
  ok(cuEventCreate(&event, CU_EVENT_DEFAULT));
  fails(cuEventRecord(event, stream), INVALID_CONTEXT);
  ok(cuEventRecord(event, NULL));
  ok(cuMemAlloc_v2(&memory, 1));

  ok(cuCtxPopCurrent_v2(NULL));
  ok(cuStreamWaitEvent(stream, event, 0));
  /* It is freed, but this is no way to do it. */
  fails(cuMemFree_v2(memory), INVALID_CONTEXT);
  fails(cuEventDestroy_v2(event), INVALID_CONTEXT);
  ok(cuCtxDestroy_v2(another));
  fails(cuCtxPushCurrent_v2(another), INVALID_CONTEXT);
}
GST_END_TEST;

GST_START_TEST(counts_what_is_left)
{
  guint before = driver.fake_driver_objects();
  CUcontext another;
  CUdeviceptr memory;

  ok(cuCtxPushCurrent_v2(context));
  fail_unless_equals_int(driver.fake_driver_objects(), before + 1);
  ok(cuCtxPopCurrent_v2(NULL));

  /* It counts, and is pushed twice. */
  ok(cuCtxCreate_v2(&another, 0, 0));
  ok(cuCtxPushCurrent_v2(another));
  fail_unless_equals_int(driver.fake_driver_objects(), before + 3);
  ok(cuMemAlloc_v2(&memory, 1));
  ok(cuCtxDestroy_v2(another));
  fails(cuMemAlloc_v2(&memory, 1), CONTEXT_IS_DESTROYED);
  ok(cuCtxPopCurrent_v2(NULL));
  /* The memory went with it. */
  fail_unless_equals_int(driver.fake_driver_objects(), before + 1);
  driver.fake_driver_fail(0, 0, FALSE);
  fail_unless_equals_int(driver.fake_driver_objects(), before);
}
GST_END_TEST;

GST_START_TEST(knows_what_failed)
{
  CUdeviceptr memory;

  driver.fake_driver_fail(0, 0, FALSE);
  driver.fake_driver_fail_function("cuMemAlloc", CUDA_ERROR_UNKNOWN);
  ok(cuStreamSynchronize(stream));
  fails(cuMemAlloc_v2(&memory, 1), UNKNOWN);
  fails(cuMemAlloc_v2(&memory, 1), UNKNOWN);
  fail_unless(driver.fake_driver_failed("cuMemAlloc"));
  fail_unless(!driver.fake_driver_failed("cuMemAllocPitch"));
  fail_unless(!driver.fake_driver_failed("cuStreamSynchronize"));

  driver.fake_driver_fail(2, CUDA_ERROR_UNKNOWN, FALSE);
  fail_unless(!driver.fake_driver_failed("cuMemAlloc"));
  ok(cuMemAlloc_v2(&memory, 1));
  /* Its work is done even so. */
  fails(cuMemFree_v2(memory), UNKNOWN);
  fail_unless(driver.fake_driver_failed("cuMemFree"));
  fail_unless(!driver.fake_driver_failed("cuMemAlloc"));
  driver.fake_driver_fail(0, 0, FALSE);
}
GST_END_TEST;

GST_START_TEST(works_on_nothing_unplugged)
{
  memset(host, 1, PAGE);
  driver.fake_driver_delay(100000);
  for (guint i = 0; i < 20; i++)
    ok(cuMemcpyDtoHAsync_v2(host, device, PAGE, stream));
  driver.fake_driver_unplug(CUDA_ERROR_UNKNOWN);
  memset(host, 2, PAGE);
  fails(cuStreamSynchronize(stream), UNKNOWN); /* which waits even so */
  fail_unless_equals_int(host[0], 2);
  fail_unless_equals_int(host[PAGE - 1], 2);

  driver.fake_driver_fail(0, 0, FALSE);
  ok(cuMemcpyHtoDAsync_v2(device, host, PAGE, stream));
  ok(cuStreamSynchronize(stream));
  fail_unless_equals_int(((guint8 *)device)[PAGE - 1], 2);
}
GST_END_TEST;

/* PTX is for any device. */
GST_START_TEST(poses_as_another)
{
  int version;
  CUmodule module;

  ok(cuDriverGetVersion(&version));
  fail_unless_equals_int(version, CUDA_VERSION);
  driver.fake_driver_pose(11040, 30);
  ok(cuDriverGetVersion(&version));
  fail_unless_equals_int(version, 11040);
  ok(cuModuleLoadData(&module, ".version 6.3"));
  ok(cuModuleUnload(module));
  driver.fake_driver_pose(0, 0);
}
GST_END_TEST;

GST_START_TEST(hides_its_device)
{
  g_setenv("CUDA_VISIBLE_DEVICES", "", TRUE);
  fails(cuInit(0), NO_DEVICE);
  g_setenv("CUDA_VISIBLE_DEVICES", "-1", TRUE);
  fails(cuInit(0), NO_DEVICE);
  g_setenv("CUDA_VISIBLE_DEVICES", "0", TRUE);
  ok(cuInit(0));
}
GST_END_TEST;

#ifndef TEST_SANITIZED
static void
unregister_too_early(void)
{
  driver.fake_driver_delay(500000);
  ok(cuMemHostRegister_v2(host, SIZE, 0));
  for (guint i = 0; i < 20; i++)
    ok(cuMemcpyHtoDAsync_v2(device, host, SIZE, stream));
  ok(cuMemHostUnregister(host));
  ok(cuStreamSynchronize(stream));
}

GST_START_TEST(memory_stays_registered_while_it_is_read)
{
  unregister_too_early();
}
GST_END_TEST;
#endif

static Suite *
fake_driver_suite(void)
{
  Suite *suite = suite_create("fake-driver");
  TCase *chain = tcase_create("general");

  suite_add_tcase(suite, chain);
  tcase_add_checked_fixture(chain, setup, teardown);
  tcase_add_test(chain, registers_a_page_once);
  tcase_add_test(chain, counts_registered_memory);
  tcase_add_test(chain, knows_what_a_pointer_is);
  tcase_add_test(chain, streams_wait_for_events);
  tcase_add_test(chain, default_stream_orders_others);
  tcase_add_test(chain, copies_rows);
  tcase_add_test(chain, keeps_contexts_apart);
  tcase_add_test(chain, counts_what_is_left);
  tcase_add_test(chain, knows_what_failed);
  tcase_add_test(chain, works_on_nothing_unplugged);
  tcase_add_test(chain, poses_as_another);
  tcase_add_test(chain, hides_its_device);
#ifndef TEST_SANITIZED
  /* Not where tests have no process of their own. */
  if (g_strcmp0(g_getenv("CK_FORK"), "no") != 0)
    tcase_add_test_raise_signal(chain, memory_stays_registered_while_it_is_read,
                                SIGABRT);
#endif
  return suite;
}

int
main(int argc, char **argv)
{
  gst_check_init(&argc, &argv);
  if (!find_fake_driver()) {
    g_printerr("fake-driver: skipped, this is no fake driver\n");
    return 77;
  }
  return gst_check_run_suite(fake_driver_suite(), "fake-driver", __FILE__) != 0;
}
