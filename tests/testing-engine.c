/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testing-engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

GhEngineKind
test_engine_kind(void)
{
  return g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_ENGINE"), "cuda") == 0
             ? GH_ENGINE_CUDA
             : GH_ENGINE_CPU;
}

GhEngine *
test_engine_open(guint depth, guint bins, guint n_threads)
{
  const GhSettings settings = {depth, bins, n_threads, -1};
  GhEngine *engine;
  GhError error = {""};

  fail_unless_equals_int(
      gh_engine_open(&engine, test_engine_kind(), &settings, &error), GH_OK);
  fail_unless(engine != NULL, "%s", error.text);
  return engine;
}

void
test_engine_submit(GhEngine *engine, const GhFrame *frame)
{
  GhError error = {""};

  if (gh_engine_submit(engine, frame, &error) != GH_OK)
    ck_abort_msg("submit: %s", error.text);
}

void
test_engine_collect(GhEngine *engine, GhResult *result)
{
  GhError error = {""};

  if (gh_engine_collect(engine, true, result, &error) != GH_OK)
    ck_abort_msg("collect: %s", error.text);
}

/* ---- The oracle: sample by sample, and packed ones bit by bit ---- */

static guint
row_bits_at(const guint8 *row, gsize bit, guint n)
{
  guint value = 0;

  for (guint i = 0; i < n; i++)
    value |= (guint)(row[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
  return value;
}

static guint
level_at(const GhFrame *frame, gsize x, gsize y)
{
  const guint8 *row = frame->samples + y * frame->stride;
  const GhFormat *format = &frame->format;
  gsize size = format->packing == GH_BYTES ? 1 : 2;
  const guint8 *at = row + x * (format->step ? format->step : size);
  guint bits = (guint)(8 * size) - format->shift, word;

  if (format->packing == GH_TENS_LE32)
    return row_bits_at(row, x / 3 * 32 + x % 3 * 10, 10);
  if (format->packing == GH_TENS_LE40)
    return row_bits_at(row, 10 * x, 10);
  word = at[0];
  if (format->packing == GH_WORDS_LE)
    word = at[0] + 256u * at[1];
  if (format->packing == GH_WORDS_BE)
    word = 256u * at[0] + at[1];
  return (word >> format->shift) %
         (1u << (format->depth ? format->depth : bits));
}

guint
test_engine_depth(const GhFormat *format)
{
  if (format->packing == GH_TENS_LE32 || format->packing == GH_TENS_LE40)
    return 10;
  if (format->depth > 0)
    return format->depth;
  return (format->packing == GH_BYTES ? 8 : 16) - format->shift;
}

static void
check_part(const GhFrame *frame, const GhRect *part, guint bins,
           const GhHistogram *counted)
{
  guint64 *expected = g_new0(guint64, bins), sum = 0, total = 0;
  guint levels_a_bin = (1u << test_engine_depth(&frame->format)) / bins;

  for (gsize y = part->y; y < part->y + part->height; y++) {
    for (gsize x = part->x; x < part->x + part->width; x++) {
      guint level = level_at(frame, x, y);

      expected[level / levels_a_bin]++;
      sum += level;
    }
  }
  for (guint b = 0; b < bins; b++) {
    if (counted->bins[b] != expected[b])
      fail("%ux%u at %u, %u of %ux%u, packing %d: bin %u of %u is "
           "%" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT,
           part->width, part->height, part->x, part->y, frame->width,
           frame->height, frame->format.packing, b, bins, counted->bins[b],
           expected[b]);
    total += counted->bins[b];
  }
  fail_unless_equals_uint64(counted->sum, sum);
  fail_unless_equals_uint64(counted->pixels,
                            (guint64)part->width * part->height);
  fail_unless_equals_uint64(total, counted->pixels);
  fail_unless(counted->least_sum <= sum && sum <= counted->most_sum);
  if (levels_a_bin == 1)
    fail_unless_equals_uint64(counted->least_sum, counted->most_sum);
  fail_unless(gh_histogram_is_consistent(counted, bins));
  g_free(expected);
}

static void
check_rows(const GhFrame *frame, const guint64 *sums)
{
  for (gsize y = 0; y < frame->height; y++) {
    guint64 sum = 0;

    for (gsize x = 0; x < frame->width; x++)
      sum += level_at(frame, x, y);
    fail_unless_equals_uint64(sums[y], sum);
  }
}

static void
check_result(const GhFrame *frame, const GhResult *result, guint bins)
{
  const GhRect whole = {0, 0, frame->width, frame->height};

  check_part(frame, &whole, bins, &result->whole);
  for (guint r = 0; r < frame->n_regions; r++)
    check_part(frame, &frame->regions[r], bins, &result->regions[r]);
  if (frame->rows)
    check_rows(frame, result->row_sums);
}

void
test_engine_measure(GhEngine *engine, const GhFrame *frame, guint bins)
{
  guint64 *counts = g_new(guint64, (gsize)bins * (1 + frame->n_regions));
  GhResult result = {.whole = {.bins = counts},
                     .regions = g_new0(GhHistogram, frame->n_regions + 1),
                     .row_sums = g_new(guint64, frame->height)};

  for (guint r = 0; r < frame->n_regions; r++)
    result.regions[r].bins = counts + (gsize)bins * (1 + r);
  test_engine_submit(engine, frame);
  test_engine_collect(engine, &result);
  check_result(frame, &result, bins);
  gh_count_frame(frame, bins, &result);
  check_result(frame, &result, bins);
  g_free(result.row_sums);
  g_free(result.regions);
  g_free(counts);
}

/* ---- Frames ---- */

typedef guint8 (*Content)(GRand *random, gsize i);

static guint8
content_flat(GRand *random, gsize i)
{
  return 7;
}

static guint8
content_noise(GRand *random, gsize i)
{
  return g_rand_int_range(random, 0, 256);
}

static guint8
content_runs(GRand *random, gsize i)
{
  return (i / 40) % 5 * 51;
}

static guint8
content_hot(GRand *random, gsize i)
{
  return g_rand_int_range(random, 0, 10) ? 0 : 255;
}

static const Content contents[] = {content_flat, content_noise, content_runs,
                                   content_hot};

static Guarded
guarded_new(gsize size)
{
  gsize page = sysconf(_SC_PAGESIZE);
  gsize used = (size + page - 1) / page * page;
  guint8 *base = mmap(NULL, used + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  fail_unless(base != MAP_FAILED);
  fail_unless(mprotect(base + used, page, PROT_NONE) == 0);
  memset(base, 0xEE, used);
  return (Guarded){base + used - size, size, used + page};
}

void
test_engine_frame_free(Guarded *guarded)
{
  gsize used = guarded->mapped - sysconf(_SC_PAGESIZE);

  munmap(guarded->start + guarded->size - used, guarded->mapped);
}

/* Bytes of a row, as the layouts have them. */
static gsize
row_bytes(const GhFrame *frame)
{
  const GhFormat *format = &frame->format;
  gsize size = format->packing == GH_BYTES ? 1 : 2;

  if (format->packing == GH_TENS_LE32)
    return frame->width / 3 * 4 + (frame->width % 3 * 10 + 7) / 8;
  if (format->packing == GH_TENS_LE40)
    return ((gsize)frame->width * 10 + 7) / 8;
  return (frame->width - 1) * (format->step ? format->step : size) + size;
}

/* Every bit of a row, those between the samples too. */
static void
fill_frame(GRand *random, Content content, Guarded *guarded, GhFrame *frame)
{
  gsize bytes = row_bytes(frame);
  guint8 *samples;

  *guarded = guarded_new(frame->stride * (frame->height - 1) + bytes);
  samples = guarded->start;
  frame->samples = samples;
  for (gsize y = 0; y < frame->height; y++)
    for (gsize i = 0; i < bytes; i++)
      samples[y * frame->stride + i] = content(random, y * bytes + i);
}

static void
set_random_frame(GRand *random, const GhFormat *format, Guarded *guarded,
                 GhFrame *frame)
{
  Content content = contents[g_rand_int_range(random, 0, 4)];

  *frame = (GhFrame){.width = (guint32)g_rand_int_range(random, 1, 400),
                     .height = (guint32)g_rand_int_range(random, 1, 60),
                     .format = *format};
  frame->stride = row_bytes(frame) + (gsize)g_rand_int_range(random, 0, 40);
  fill_frame(random, content, guarded, frame);
}

void
test_engine_frame(GRand *random, Guarded *guarded, GhFrame *frame)
{
  set_random_frame(random, &(GhFormat){GH_BYTES}, guarded, frame);
}

/* Those of video formats, and others. */
static const GhFormat formats[] = {
    {GH_BYTES, 0, 0, 0},     {GH_BYTES, 2, 0, 0},      {GH_BYTES, 3, 0, 0},
    {GH_BYTES, 4, 0, 8},     {GH_WORDS_LE, 0, 0, 16},  {GH_WORDS_LE, 0, 0, 10},
    {GH_WORDS_LE, 0, 0, 12}, {GH_WORDS_LE, 0, 6, 10},  {GH_WORDS_LE, 0, 4, 0},
    {GH_WORDS_LE, 4, 6, 10}, {GH_WORDS_LE, 8, 0, 16},  {GH_WORDS_BE, 0, 0, 16},
    {GH_WORDS_BE, 2, 6, 10}, {GH_WORDS_BE, 2, 0, 12},  {GH_WORDS_LE, 0, 1, 9},
    {GH_TENS_LE32, 0, 0, 0}, {GH_TENS_LE40, 0, 0, 10},
};

void
test_engine_frame_of(GRand *random, guint bins, Guarded *guarded,
                     GhFrame *frame)
{
  const GhFormat *format;

  do
    format = &formats[g_rand_int_range(random, 0, G_N_ELEMENTS(formats))];
  while (1u << test_engine_depth(format) < bins);
  set_random_frame(random, format, guarded, frame);
  frame->rows = g_rand_boolean(random);
}

void
test_engine_regions(GRand *random, GhFrame *frame, GhRect *regions, guint n)
{
  for (guint r = 0; r < n; r++) {
    guint32 x = (guint32)g_rand_int_range(random, 0, (gint)frame->width);
    guint32 y = (guint32)g_rand_int_range(random, 0, (gint)frame->height);
    gint wide = (gint)(frame->width - x), high = (gint)(frame->height - y);

    regions[r] = (GhRect){x, y, (guint32)g_rand_int_range(random, 1, wide + 1),
                          (guint32)g_rand_int_range(random, 1, high + 1)};
  }
  frame->regions = regions;
  frame->n_regions = n;
}

void
test_engine_noise(GRand *random, Guarded *guarded, GhFrame *frame)
{
  fill_frame(random, content_noise, guarded, frame);
}

guint64
test_engine_scramble(gsize i)
{
  guint64 x = (i + 1) * G_GUINT64_CONSTANT(0x9E3779B97F4A7C15);

  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT(0xBF58476D1CE4E5B9);
  return x >> 40;
}

gboolean
test_engine_is_zero(const guint32 *scratch)
{
  for (guint i = 0; i < 65536; i++)
    if (scratch[i] != 0)
      return FALSE;
  return TRUE;
}

guint
test_engine_scale(void)
{
  const gchar *scale = g_getenv("GPUHISTOGRAM_TEST_SCALE");

  return scale ? (guint)strtoul(scale, NULL, 10) : 1;
}

GRand *
test_engine_random(void)
{
  const gchar *given = g_getenv("GPUHISTOGRAM_TEST_SEED");
  guint32 seed = given ? (guint32)strtoul(given, NULL, 10) : g_random_int();

  g_print("seed %u\n", seed);
  return g_rand_new_with_seed(seed);
}

/* In a child, as CUDA does not survive the fork
 * before each test. */
static gboolean
cuda_works(void)
{
  const GhSettings settings = {1, 256, 1, -1};
  pid_t child = fork();
  int status = 1;

  if (child == 0) {
    GhEngine *engine;
    GhError error = {""};

    if (gh_engine_open(&engine, GH_ENGINE_CUDA, &settings, &error) != GH_OK)
      g_print("%s\n", error.text);
    _exit(engine ? 0 : 1);
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

int
test_engine_main(int argc, char **argv, Suite *(*suite)(void), const char *name)
{
  if (test_engine_kind() == GH_ENGINE_CUDA && !cuda_works())
    return g_strcmp0(g_getenv("GPUHISTOGRAM_TEST_REQUIRE_CUDA"), "1") ? 77 : 1;
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(suite(), name, __FILE__);
}
