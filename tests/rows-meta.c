/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The meta of the rows on plain buffers: what it holds, copies, and its form as
 * bytes. */

#include <gst/check/gstcheck.h>
#include <gst/gpuhistogram/gstgpuhistogramrowsmeta.h>

/* A buffer with a fresh meta. */
static struct {
  GstBuffer *buffer;
  GstGpuHistogramRowsMeta *meta;
} f;

static void
setup(void)
{
  f.buffer = gst_buffer_new_allocate(NULL, 1000, NULL);
  f.meta = gst_buffer_add_gpu_histogram_rows_meta(f.buffer);
  fail_unless(f.meta != NULL);
}

static void
teardown(void)
{
  gst_buffer_unref(f.buffer);
}

static guint
count_metas(GstBuffer *buffer)
{
  return gst_buffer_get_n_meta(buffer, GST_GPU_HISTOGRAM_ROWS_META_API_TYPE);
}

/* Sets all fields to different values that depend on seed. */
static void
fill(GstGpuHistogramRowsMeta *meta, guint n_rows, guint seed)
{
  guint64 *sums = g_new(guint64, n_rows);

  for (guint row = 0; row < n_rows; row++)
    sums[row] = ((guint64)seed << 33) + row * 7;
  gst_gpu_histogram_rows_meta_set_sums(meta, n_rows, sums);
  g_free(sums);
  meta->frame = G_GUINT64_CONSTANT(0x8000000000000000) + seed;
  meta->format = GST_VIDEO_FORMAT_GRAY16_LE;
  meta->depth = 16;
  meta->width = 1000 + seed;
  meta->height = n_rows + seed;
}

static void
assert_equal(const GstGpuHistogramRowsMeta *a, const GstGpuHistogramRowsMeta *b)
{
  fail_unless_equals_uint64(a->frame, b->frame);
  fail_unless_equals_int(a->format, b->format);
  fail_unless_equals_int(a->depth, b->depth);
  fail_unless_equals_int(a->width, b->width);
  fail_unless_equals_int(a->height, b->height);
  fail_unless_equals_int(a->n_rows, b->n_rows);
  fail_unless((a->sums == NULL) == (b->sums == NULL));
  for (guint row = 0; row < a->n_rows; row++)
    fail_unless_equals_uint64(a->sums[row], b->sums[row]);
}

static void
assert_not_measured(const GstGpuHistogramRowsMeta *meta)
{
  const GstGpuHistogramRowsMeta fresh = {.sums = NULL};
  guint n_rows = 99;

  assert_equal(meta, &fresh);
  fail_unless(gst_gpu_histogram_rows_meta_get_mean(meta, 0) == 0.0);
  fail_unless(gst_gpu_histogram_rows_meta_get_means(meta, &n_rows) == NULL);
  fail_unless_equals_int(n_rows, 0);
}

GST_START_TEST(registration)
{
  GType api = gst_gpu_histogram_rows_meta_api_get_type();
  const GstMetaInfo *info = gst_gpu_histogram_rows_meta_get_info();

  fail_unless(info != NULL);
  fail_unless(info == gst_meta_get_info("GstGpuHistogramRowsMeta"));
  fail_unless(info->api == api);
  fail_unless(gst_meta_api_type_get_tags(api) == NULL);
  fail_unless(api != GST_GPU_HISTOGRAM_META_API_TYPE);
}
GST_END_TEST;

GST_START_TEST(fresh_meta_is_not_measured)
{
  GstBuffer *copied = gst_buffer_copy(f.buffer);

  assert_not_measured(f.meta);
  assert_not_measured(gst_buffer_get_gpu_histogram_rows_meta(copied));
  gst_buffer_unref(copied);
}
GST_END_TEST;

GST_START_TEST(means_of_rows)
{
  static const guint64 sums[3] = {0, 10, 65535 * G_GUINT64_CONSTANT(4)};
  static const gdouble means[3] = {0.0, 2.5, 65535.0};
  gdouble *all;
  guint n_rows = 99;

  f.meta->width = 4;
  f.meta->height = 3;
  f.meta->depth = 16;
  gst_gpu_histogram_rows_meta_set_sums(f.meta, 3, sums);
  all = gst_gpu_histogram_rows_meta_get_means(f.meta, &n_rows);
  fail_unless_equals_int(n_rows, 3);
  for (guint row = 0; row < 3; row++) {
    fail_unless(gst_gpu_histogram_rows_meta_get_mean(f.meta, row) ==
                means[row]);
    fail_unless(all[row] == means[row]);
  }
  g_free(all);
  fail_unless(gst_gpu_histogram_rows_meta_get_mean(f.meta, 3) == 0.0);
  fail_unless(gst_gpu_histogram_rows_meta_get_mean(f.meta, G_MAXUINT) == 0.0);
  /* Nobody has said yet how wide the rows are. */
  f.meta->width = 0;
  fail_unless(gst_gpu_histogram_rows_meta_get_mean(f.meta, 1) == 0.0);
}
GST_END_TEST;

#define N_COPIES 5

static GstBuffer *
copy(GstBuffer *buffer, gint how)
{
  switch (how) {
  case 0:
    return gst_buffer_copy(buffer);
  case 1:
    return gst_buffer_copy_deep(buffer);
  case 2:
    return gst_buffer_copy_region(
        buffer, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, 100);
  case 3:
    return gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 100, 100);
  default:
    return gst_buffer_make_writable(gst_buffer_ref(buffer));
  }
}

GST_START_TEST(copies_are_equal_and_independent)
{
  GstBuffer *original = gst_buffer_copy(f.buffer), *copied;
  GstGpuHistogramRowsMeta *source, *meta;

  source = gst_buffer_get_gpu_histogram_rows_meta(original);
  fill(source, 480, 5);
  fill(f.meta, 480, 5);
  copied = copy(original, __i__);
  fail_unless(copied != original);
  fail_unless_equals_int(count_metas(copied), 1);
  meta = gst_buffer_get_gpu_histogram_rows_meta(copied);
  assert_equal(meta, f.meta);

  /* The copy changed: the original stays. */
  meta->sums[1] = 0;
  assert_equal(source, f.meta);
  fill(meta, 480, 5);

  /* The original changed and dropped: the copy stays, and can be changed. */
  fill(source, 480, 6);
  gst_buffer_unref(original);
  assert_equal(meta, f.meta);
  fill(meta, 1080, 7);
  fill(f.meta, 1080, 7);
  assert_equal(meta, f.meta);
  gst_buffer_unref(copied);
}
GST_END_TEST;

GST_START_TEST(other_transforms_copy_too)
{
  GstBuffer *other = gst_buffer_new();
  GstMeta *meta = &f.meta->meta;
  GstMetaTransformFunction transform = meta->info->transform_func;
  GQuark scale = g_quark_from_static_string("gst-video-scale");

  fill(f.meta, 48, 1);
  fail_unless(transform(other, meta, f.buffer, scale, NULL));
  /* Onto a buffer that has one already, and onto the same one. */
  fail_unless(transform(other, meta, f.buffer, scale, NULL));
  fail_unless(transform(f.buffer, meta, f.buffer, scale, NULL));
  fail_unless_equals_int(count_metas(f.buffer), 1);
  fail_unless_equals_int(count_metas(other), 1);
  fail_unless_equals_int(f.meta->n_rows, 48);
  assert_equal(gst_buffer_get_gpu_histogram_rows_meta(other), f.meta);
  gst_buffer_unref(other);
}
GST_END_TEST;

GST_START_TEST(one_is_found_and_replaced)
{
  GstBuffer *bare = gst_buffer_new();
  GstGpuHistogramMeta *histogram;

  fail_unless(gst_buffer_get_gpu_histogram_rows_meta(bare) == NULL);
  gst_buffer_unref(bare);

  /* The histogram beside it is another meta. */
  histogram = gst_buffer_add_gpu_histogram_meta(f.buffer, 0);
  histogram->pixels = 5;
  fail_unless(gst_buffer_get_gpu_histogram_rows_meta(f.buffer) == f.meta);
  fill(f.meta, 48, 1);
  fail_unless(gst_buffer_add_gpu_histogram_rows_meta(f.buffer) == f.meta);
  assert_not_measured(f.meta);
  fail_unless_equals_int(count_metas(f.buffer), 1);
  fail_unless_equals_uint64(histogram->pixels, 5);
}
GST_END_TEST;

GST_START_TEST(sums_of_every_number)
{
  static const guint numbers[] = {1, 480, 480, 65536, 16, 0, 0, 2, 0, 256};

  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    if (numbers[i] > 0)
      fill(f.meta, numbers[i], i);
    else
      gst_gpu_histogram_rows_meta_set_sums(f.meta, 0, NULL);
    fail_unless_equals_int(f.meta->n_rows, numbers[i]);
    fail_unless((f.meta->sums == NULL) == (numbers[i] == 0));
    for (guint row = 0; row < numbers[i]; row++)
      fail_unless_equals_uint64(f.meta->sums[row],
                                ((guint64)i << 33) + row * 7);
  }
}
GST_END_TEST;

GST_START_TEST(as_many_sums_as_before_allocate_nothing)
{
  const guint64 *before;

  fill(f.meta, 480, 1);
  before = f.meta->sums;
  fill(f.meta, 480, 2);
  fail_unless(f.meta->sums == before);
}
GST_END_TEST;

GST_START_TEST(sums_from_its_own_sums)
{
  fill(f.meta, 100, 1);
  for (guint n = 99; n >= 10; n--) {
    gst_gpu_histogram_rows_meta_set_sums(f.meta, n, f.meta->sums + 1);
    gst_gpu_histogram_rows_meta_set_sums(f.meta, n, f.meta->sums);
    fail_unless_equals_int(f.meta->n_rows, n);
    for (guint row = 0; row < n; row++)
      fail_unless_equals_uint64(f.meta->sums[row],
                                ((guint64)1 << 33) + (100 - n + row) * 7);
  }
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 24, 0)
/* What fill() gives with seed 9, as the bytes that the meta itself writes.
 * Before them stand two sizes, the name with its zero, the version. */
static GByteArray *
new_payload(guint n_rows)
{
  GByteArray *bytes = g_byte_array_new();

  fill(f.meta, n_rows, 9);
  fail_unless(gst_meta_serialize_simple(&f.meta->meta, bytes));
  g_byte_array_remove_range(bytes, 0,
                            8 + sizeof("GstGpuHistogramRowsMeta") + 1);
  return bytes;
}

/* The meta that the payload puts on the buffer, NULL if it is refused. */
static GstGpuHistogramRowsMeta *
read_payload(GstBuffer *buffer, const GByteArray *payload, guint8 version)
{
  const GstMetaInfo *info = GST_GPU_HISTOGRAM_ROWS_META_INFO;
  /* Of the exact size, so that tools see a read beyond. */
  guint8 *exact = g_memdup2(payload->data, payload->len);
  GstMeta *meta =
      info->deserialize_func(info, buffer, exact, payload->len, version);

  g_free(exact);
  return (GstGpuHistogramRowsMeta *)meta;
}

GST_START_TEST(serialized_meta_comes_back)
{
  static const guint numbers[] = {0, 1, 480, 65536};
  guint32 consumed;

  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GByteArray *bytes = g_byte_array_new();
    GstBuffer *to = gst_buffer_new();
    GstMeta *meta;

    fill(f.meta, numbers[i], i);
    fail_unless(gst_meta_serialize_simple(&f.meta->meta, bytes));
    meta = gst_meta_deserialize(to, bytes->data, bytes->len, &consumed);
    fail_unless(meta != NULL);
    fail_unless_equals_int(consumed, bytes->len);
    assert_equal((GstGpuHistogramRowsMeta *)meta, f.meta);
    fail_unless_equals_int(count_metas(to), 1);
    g_byte_array_unref(bytes);
    gst_buffer_unref(to);
  }
}
GST_END_TEST;

GST_START_TEST(wrong_lengths_and_versions_are_refused)
{
  GByteArray *payload = new_payload(4);
  guint size = payload->len;

  fill(f.meta, 48, 1);
  fail_unless(read_payload(f.buffer, payload, 1) == NULL);
  for (guint length = 0; length <= size + 16; length++) {
    if (length == size)
      continue;
    g_byte_array_set_size(payload, length);
    fail_unless(read_payload(f.buffer, payload, 0) == NULL);
  }
  /* What the buffer had is as it was. */
  fail_unless_equals_int(f.meta->n_rows, 48);
  fail_unless_equals_uint64(f.meta->sums[47], ((guint64)1 << 33) + 47 * 7);

  g_byte_array_set_size(payload, size);
  fail_unless(read_payload(f.buffer, payload, 0) == f.meta);
  fail_unless_equals_int(f.meta->n_rows, 4);
  g_byte_array_unref(payload);
}
GST_END_TEST;

GST_START_TEST(hostile_fields_are_refused)
{
  static const struct {
    guint offset;
    guint32 value;
  } hostile[] = {
      {8, 33},  {8, 0xffffffff},  {16, 3},          {20, 3}, {20, 5},
      {20, 14}, {20, 0x20000004}, {20, 0xffffffff}, {24, 0}, {24, 8},
      {24, 41}, {24, 0xffffffff}, {16, 0},          {20, 0},
  };
  GstBuffer *bare = gst_buffer_new();
  GByteArray *payload = new_payload(4);

  for (guint i = 0; i < G_N_ELEMENTS(hostile); i++) {
    guint8 *field = payload->data + hostile[i].offset;
    guint32 right = GST_READ_UINT32_LE(field);

    GST_WRITE_UINT32_LE(field, hostile[i].value);
    fail_unless(read_payload(bare, payload, 0) == NULL, "number %u", i);
    GST_WRITE_UINT32_LE(field, right);
  }
  fail_unless_equals_int(count_metas(bare), 0);
  g_byte_array_unref(payload);
  gst_buffer_unref(bare);
}
GST_END_TEST;

GST_START_TEST(any_byte_may_be_wrong)
{
  GByteArray *payload = new_payload(4);

  for (guint at = 0; at < payload->len; at++) {
    for (guint i = 0; i < 256; i++) {
      GstGpuHistogramRowsMeta *meta;

      payload->data[at]++;
      meta = read_payload(f.buffer, payload, 0);
      /* No other number of rows fits the length. */
      fail_unless(meta == NULL || meta->n_rows == 4);
      fail_unless(i < 255 || meta != NULL);
    }
  }
  g_byte_array_unref(payload);
}
GST_END_TEST;

GST_START_TEST(unknown_format_is_taken_as_unknown)
{
  GByteArray *payload = new_payload(4);
  GstGpuHistogramRowsMeta *meta;

  fail_unless(memcmp(payload->data + 24, "\x09\0\0\0GRAY16_LE", 13) == 0);
  memcpy(payload->data + 28, "GRAY99_LE", 9);
  meta = read_payload(f.buffer, payload, 0);
  fail_unless(meta != NULL && meta->width == 1009);
  fail_unless_equals_int(meta->format, GST_VIDEO_FORMAT_UNKNOWN);
  g_byte_array_unref(payload);
}
GST_END_TEST;

GST_START_TEST(unsound_meta_is_not_serialized)
{
  GByteArray *bytes = g_byte_array_new();

  fill(f.meta, 48, 1);
  f.meta->depth = 33;
  fail_if(gst_meta_serialize_simple(&f.meta->meta, bytes));
  f.meta->depth = 8;
  f.meta->height = 47;
  fail_if(gst_meta_serialize_simple(&f.meta->meta, bytes));
  fail_unless_equals_int(bytes->len, 0);
  f.meta->height = 48;
  fail_unless(gst_meta_serialize_simple(&f.meta->meta, bytes));
  g_byte_array_unref(bytes);
}
GST_END_TEST;

GST_START_TEST(cleared_meta_is_not_measured)
{
  fill(f.meta, 48, 1);
  f.meta->meta.info->clear_func(f.buffer, &f.meta->meta);
  assert_not_measured(f.meta);
}
GST_END_TEST;
#endif

static Suite *
rows_meta_suite(void)
{
  Suite *suite = suite_create("rows-meta");
  TCase *tc = tcase_create("meta");

  /* The harness watches GStreamer's own domains alone. */
  g_log_set_fatal_mask("GStreamer-GpuHistogram",
                       G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  suite_add_tcase(suite, tc);
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, registration);
  tcase_add_test(tc, fresh_meta_is_not_measured);
  tcase_add_test(tc, means_of_rows);
  tcase_add_loop_test(tc, copies_are_equal_and_independent, 0, N_COPIES);
  tcase_add_test(tc, other_transforms_copy_too);
  tcase_add_test(tc, one_is_found_and_replaced);
  tcase_add_test(tc, sums_of_every_number);
  tcase_add_test(tc, as_many_sums_as_before_allocate_nothing);
  tcase_add_test(tc, sums_from_its_own_sums);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test(tc, serialized_meta_comes_back);
  tcase_add_test(tc, wrong_lengths_and_versions_are_refused);
  tcase_add_test(tc, hostile_fields_are_refused);
  tcase_add_test(tc, any_byte_may_be_wrong);
  tcase_add_test(tc, unknown_format_is_taken_as_unknown);
  tcase_add_test(tc, unsound_meta_is_not_serialized);
  tcase_add_test(tc, cleared_meta_is_not_measured);
#endif
  return suite;
}

GST_CHECK_MAIN(rows_meta);
