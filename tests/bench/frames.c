/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Device time of frames: all ways of counting, checked and timed. */

#include "bench.h"

#include <stdlib.h>
#include <string.h>

const BenchSize bench_sizes[] = {
    {"VGA", 640, 480},       {"1080p", 1920, 1080},  {"4K", 3840, 2160},
    {"8K", 7680, 4320},      {"1M", 1024, 1024},     {"16M", 4096, 4096},
    {"64M", 8192, 8192},     {"256M", 16384, 16384}, {"262145", 262145, 1},
    {"1003x769", 1003, 769},
};
/* The first of them are those of video. */
#define N_FRAME_SIZES 4
const size_t bench_n_sizes = sizeof(bench_sizes) / sizeof(bench_sizes[0]);

static const BenchSize small_size = {"check", 1003, 77};

static const char *const algorithms[GH_N_ALGORITHMS] = {
    "auto", "global", "block", "warp", "lane", "sort"};

size_t
bench_frame_size(const Bench *bench)
{
  return (size_t)bench->size.width * bench->size.height * bench->sample_size;
}

static CUdeviceptr
input(const Bench *bench, unsigned i)
{
  return bench->memory + i * bench->stride;
}

CUdeviceptr
bench_counts(const Bench *bench, unsigned i)
{
  uint32_t n = bench->cells ? bench->cells->n : 0;
  uint64_t words =
      GH_DEVICE_COUNTS_WORDS(bench->bins, gh_counts_apart(bench->bins, n));

  /* Of many two in turn, so that these, too, stay in the cache. */
  if (n > 0 || bench->bins > GH_APART_BINS)
    i %= 2;
  return bench->counts + 4 * words * (n > 0 ? n : 1) * i;
}

GhDeviceFrame
bench_frame(const Bench *bench, unsigned i)
{
  return (GhDeviceFrame){.samples = input(bench, i),
                         .pitch = bench->size.width * bench->sample_size,
                         .width = bench->size.width,
                         .height = bench->size.height,
                         .format = gh_format_complete((GhFormat){
                             bench->sample_size == 1 ? GH_BYTES : GH_WORDS_LE}),
                         .words32 = bench->sample_size == 4};
}

/* One frame's whole step: it counts, and zeroes what the next one adds to. */
static int
count_step(void *data, unsigned i)
{
  Bench *bench = data;
  GhDeviceFrame frame = bench_frame(bench, i);
  GhDeviceResult to = {bench_counts(bench, i),
                       bench_counts(bench, (i + 1) % bench->calls), 0};
  GhError error;

  if (gh_kernels_launch(&bench->kernels, bench->stream, bench->algorithm,
                        &frame, bench->cells, bench->bins, &to,
                        &error) == GH_OK)
    return 1;
  fprintf(stderr, "%s\n", error.text);
  return 0;
}

static int
read_step(void *data, unsigned i)
{
  Bench *bench = data;

  bench_read(bench->peers, bench->stream, bench->shape, i, bench->hands_over,
             input(bench, i), bench_frame_size(bench) / 16 * 16);
  return 1;
}

static int
cub_step(void *data, unsigned i)
{
  Bench *bench = data;

  return bench_cub(bench->peers, bench->stream, input(bench, i),
                   bench_frame_size(bench) / bench->sample_size,
                   bench->sample_size, bench->levels, bench->bins,
                   bench->library_memory);
}

static int
cub_sort_step(void *data, unsigned i)
{
  Bench *bench = data;

  return bench_cub_sort(bench->peers, bench->stream, input(bench, i),
                        bench_frame_size(bench));
}

static int
npp_step(void *data, unsigned i)
{
  Bench *bench = data;

  return bench_npp(bench->peers, bench->stream, input(bench, i),
                   bench->size.width, bench->size.height,
                   bench->library_memory);
}

static uint32_t
host_sample(const Bench *bench, size_t i)
{
  if (bench->sample_size == 2)
    return ((const uint16_t *)bench->host)[i];
  return bench->sample_size == 4 ? ((const uint32_t *)bench->host)[i]
                                 : bench->host[i];
}

/* The plain count of what lies in bench->host. */
static void
expect(const Bench *bench, uint32_t *expected, uint64_t *sum)
{
  size_t n = bench_frame_size(bench) / bench->sample_size;

  memset(expected, 0, bench->bins * sizeof(*expected));
  *sum = 0;
  for (size_t i = 0; i < n; i++) {
    expected[host_sample(bench, i) / (bench->levels / bench->bins)]++;
    *sum += host_sample(bench, i);
  }
}

/* Whether the current algorithm counts the last input right. */
static bool
is_right(Bench *bench, const uint32_t *expected, uint64_t sum)
{
  GhDeviceFrame frame = bench_frame(bench, bench->calls - 1);
  GhDeviceResult to = {bench_counts(bench, 0), 0,
                       (CUdeviceptr)(uintptr_t)bench->result};
  GhError error;

  bench_zero(bench->counts, COUNTS_SIZE);
  memset(bench->result, 0xEE, RESULT_SIZE);
  if (gh_kernels_launch(&bench->kernels, bench->stream, bench->algorithm,
                        &frame, bench->cells, bench->bins, &to,
                        &error) != GH_OK ||
      !bench_wait(bench->stream))
    return false;
  if (bench->cells)
    bench_add_zones(bench);
  return bench->result->sum == sum &&
         memcmp(bench->result + 1, expected, bench->bins * sizeof(*expected)) ==
             0;
}

static bool
library_is_right(Bench *bench, int (*step)(void *, unsigned),
                 const uint32_t *expected)
{
  return step(bench, bench->calls - 1) && bench_wait(bench->stream) &&
         bench_copy_back(bench->library_counts, bench->library_memory,
                         bench->bins * sizeof(*expected)) &&
         memcmp(bench->library_counts, expected,
                bench->bins * sizeof(*expected)) == 0;
}

static void
print_row(const Bench *bench, const char *content, const char *way,
          BenchTime time)
{
  double share = bench->floor / time.median;

  if (time.median < 0)
    return;
  printf("%-8s %-10s %6u  %-14s %10.2f us %9.2f-%-9.2f %7.0f GB/s %5.0f %%",
         bench->size.name, content, bench->bins, way, time.median, time.low,
         time.high, (double)bench_frame_size(bench) / time.median * 1e-3,
         100 * share);
  if (time.launched > 0)
    printf(" %10.2f us launched", time.launched);
  printf("\n");
  if (bench_wish.csv)
    fprintf(bench_wish.csv, "%s,%zu,%s,%u,%s,%.3f,%.3f,%.3f,%.4f,%.3f\n",
            bench->size.name, 8 * bench->sample_size, content, bench->bins, way,
            time.median, time.low, time.high, share, time.launched);
}

static BenchTime
time_read(Bench *bench, bool hand_over)
{
  BenchTime best = {-1, -1, -1, -1};

  bench->hands_over = hand_over;
  for (bench->shape = 0; bench->shape < BENCH_READ_SHAPES; bench->shape++) {
    BenchTime time = bench_time(bench->stream, bench->calls, bench_wish.repeats,
                                read_step, bench);

    if (best.median < 0 || time.median < best.median)
      best = time;
  }
  return best;
}

static void
time_floor(Bench *bench, const char *content)
{
  BenchTime floor = time_read(bench, true);

  bench->floor = floor.median;
  print_row(bench, content, "read floor", floor);
  print_row(bench, content, "bare read", time_read(bench, false));
}

/* An atomic a sample takes up to 0.2 seconds for the largest frames. */
static bool
is_slow(const Bench *bench)
{
  return bench->algorithm == GH_ALGORITHM_GLOBAL && bench->sample_size == 1 &&
         bench_frame_size(bench) > (size_t)128 << 20;
}

static bool
run_algorithms(Bench *bench, const char *content, const uint32_t *expected,
               uint64_t sum)
{
  for (unsigned a = 0; a < GH_N_ALGORITHMS; a++) {
    if (bench_wish.algorithm &&
        strcmp(bench_wish.algorithm, algorithms[a]) != 0)
      continue;
    bench->algorithm = a;
    if (!is_right(bench, expected, sum)) {
      printf("%s %s %s: wrong counts\n", bench->size.name, content,
             algorithms[a]);
      return false;
    }
    if (bench_wish.check_only || is_slow(bench))
      continue;
    bench_zero(bench->counts, COUNTS_SIZE);
    print_row(bench, content, algorithms[a],
              bench_time(bench->stream, bench->calls, bench_wish.repeats,
                         count_step, bench));
  }
  return true;
}

static bool
run_zones(Bench *bench, const char *content, const uint32_t *expected,
          uint64_t sum)
{
  GhRect rects[ZONES];
  GhDeviceCells zones = bench_zones(bench, rects);
  bool good;

  bench->cells = &zones;
  bench->algorithm = GH_ALGORITHM_AUTO;
  good = is_right(bench, expected, sum);
  if (!good)
    printf("%s %s zones: wrong counts\n", bench->size.name, content);
  bench_zero(bench->counts, COUNTS_SIZE);
  if (good && !bench_wish.check_only)
    print_row(bench, content, "48 zones",
              bench_time(bench->stream, bench->calls, bench_wish.repeats,
                         count_step, bench));
  bench->cells = NULL;
  return good;
}

/* One thread of the CPU, from ordinary memory. */
static void
run_cpu(Bench *bench, const char *content)
{
  const GhSettings settings = {.depth = 1, .bins = 256, .n_threads = 1};
  size_t size = bench_frame_size(bench);
  BenchTrip trip = {.samples = malloc(size)};
  GhError error;

  if (trip.samples &&
      gh_engine_open(&trip.engine, GH_ENGINE_CPU, &settings, &error) == GH_OK) {
    memcpy(trip.samples, bench->host, size);
    print_row(bench, content, "CPU engine",
              bench_time_trip(bench_engine_trip, bench, &trip,
                              size > 16 << 20 ? 5 : bench_wish.repeats));
  }
  gh_engine_close(&trip.engine);
  free(trip.samples);
}

static void
run_libraries(Bench *bench, const char *content, const uint32_t *expected)
{
  static const struct {
    const char *name;
    int (*step)(void *, unsigned);
    bool counts;
  } libraries[] = {{"CUB histogram", cub_step, true},
                   {"NPP histogram", npp_step, true},
                   {"CUB sort", cub_sort_step, false}};
  unsigned n = bench->sample_size == 1 ? 3 : 1;

  for (unsigned i = 0; i < n; i++) {
    if (libraries[i].counts &&
        !library_is_right(bench, libraries[i].step, expected)) {
      printf("%-8s %-10s %6u  %-14s not measured\n", bench->size.name, content,
             bench->bins, libraries[i].name);
      continue;
    }
    print_row(bench, content, libraries[i].name,
              bench_time(bench->stream, bench->calls, bench_wish.repeats,
                         libraries[i].step, bench));
  }
}

/* Uploads what lies in bench->host as often as the rotation holds it. */
static bool
place_inputs(Bench *bench)
{
  size_t size = bench_frame_size(bench);

  bench->stride = (size + 255) / 256 * 256;
  bench->calls = (unsigned)(ROTATION / bench->stride);
  bench->calls = bench->calls < 2           ? 2
                 : bench->calls > MAX_CALLS ? MAX_CALLS
                                            : bench->calls;
  if (bench_wish.check_only)
    bench->calls = 2;
  for (unsigned i = 0; i < bench->calls; i++)
    if (!bench_copy(input(bench, i), bench->host, size))
      return false;
  return true;
}

static bool
run_frame(Bench *bench, const char *content)
{
  static uint32_t expected[MAX_BINS];
  uint64_t sum;
  bool good;

  if (!place_inputs(bench))
    return false;
  expect(bench, expected, &sum);
  if (!bench_wish.check_only)
    time_floor(bench, content);
  good = run_algorithms(bench, content, expected, sum);
  if (bench->bins == 256 && bench->sample_size < 4 && bench->size.height >= 6)
    good &= run_zones(bench, content, expected, sum);
  if (!bench_wish.check_only && !bench_wish.algorithm)
    run_libraries(bench, content, expected);
  if (!bench_wish.check_only && !bench_wish.algorithm &&
      bench->sample_size == 1)
    run_cpu(bench, content);
  fflush(stdout);
  return good;
}

static bool
is_wanted(const char *name, const char *wanted)
{
  return !wanted || strcmp(name, wanted) == 0;
}

static bool
run_contents(Bench *bench)
{
  bool good = true;

  for (size_t c = 0; c < bench_n_contents; c++) {
    const BenchContent *content = &bench_contents[c];

    if (!is_wanted(content->name, bench_wish.content))
      continue;
    bench_fill(content, bench->host,
               bench_frame_size(bench) / bench->sample_size, bench->size.width,
               bench->levels, bench->sample_size);
    good &= run_frame(bench, content->name);
  }
  return good;
}

bool
bench_run_bytes(Bench *bench)
{
  bool good = true;

  bench->sample_size = 1;
  bench->levels = bench->bins = 256;
  if (bench_wish.check_only) {
    bench->size = small_size;
    return run_contents(bench);
  }
  for (size_t s = 0; s < bench_n_sizes; s++) {
    if (!is_wanted(bench_sizes[s].name, bench_wish.size))
      continue;
    bench->size = bench_sizes[s];
    good &= run_contents(bench);
  }
  return good;
}

bool
bench_run_words(Bench *bench)
{
  static const uint32_t bins[] = {16, 64, 256, 4096, 65536};
  bool good = true;

  bench->sample_size = 4;
  bench->size =
      bench_wish.check_only ? small_size : (BenchSize){"64M", 8192, 8192};
  for (size_t b = 0; b < sizeof(bins) / sizeof(bins[0]); b++) {
    if (bench_wish.bins && bench_wish.bins != bins[b])
      continue;
    bench->levels = bench->bins = bins[b];
    good &= run_contents(bench);
  }
  return good;
}

bool
bench_run_halves(Bench *bench)
{
  static const uint32_t bins[] = {256, 65536};
  bool good = true;

  bench->sample_size = 2;
  bench->levels = 65536;
  for (size_t b = 0; b < sizeof(bins) / sizeof(bins[0]); b++) {
    if (bench_wish.bins && bench_wish.bins != bins[b])
      continue;
    bench->bins = bins[b];
    for (size_t s = 0; s < N_FRAME_SIZES; s++) {
      bench->size = bench_wish.check_only ? small_size : bench_sizes[s];
      if (bench_wish.check_only || is_wanted(bench->size.name, bench_wish.size))
        good &= run_contents(bench);
      if (bench_wish.check_only)
        break;
    }
  }
  return good;
}

/* The frames of a file of raw bytes, one by one. */
bool
bench_run_file(Bench *bench)
{
  FILE *file = fopen(bench_wish.frames, "rb");
  char name[32];
  bool good = file != NULL;

  bench->sample_size = 1;
  bench->levels = bench->bins = 256;
  bench->size = bench_sizes[1];
  for (size_t s = 0; bench_wish.size && s < bench_n_sizes; s++)
    if (strcmp(bench_sizes[s].name, bench_wish.size) == 0)
      bench->size = bench_sizes[s];
  for (unsigned i = 0;
       good && fread(bench->host, bench_frame_size(bench), 1, file) == 1; i++) {
    snprintf(name, sizeof(name), "frame %u", i);
    good = run_frame(bench, name);
  }
  if (!file)
    perror(bench_wish.frames);
  else
    fclose(file);
  return good;
}
