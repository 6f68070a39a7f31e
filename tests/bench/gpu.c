/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times every way of counting on the GPU, beside what no histogram can pass
 * and beside the libraries that people would use instead, in one run.
 * --help lists the options.
 */

#include "content.h"
#include "kernels.h"
#include "peers.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Inputs together are larger than the second cache of any device. */
#define ROTATION ((size_t)384 << 20)
#define MAX_CALLS 400
#define MAX_BINS 65536
#define COUNTS_WORDS GH_DEVICE_COUNTS_WORDS(MAX_BINS)
#define COUNTS_SIZE (4 * (size_t)COUNTS_WORDS)

typedef struct {
  const char *name;
  uint32_t width;
  uint32_t height;
} Size;

static const Size sizes[] = {{"VGA", 640, 480},   {"1080p", 1920, 1080},
                             {"4K", 3840, 2160},  {"8K", 7680, 4320},
                             {"1M", 1024, 1024},  {"16M", 4096, 4096},
                             {"64M", 8192, 8192}, {"256M", 16384, 16384}};
static const Size small_size = {"check", 1003, 77};

static const char *const algorithms[GH_N_ALGORITHMS] = {
    "auto", "global", "block", "warp", "lane", "sort"};

/* What is wanted; NULL and 0 for everything. */
static struct {
  const char *size;
  const char *content;
  const char *algorithm;
  const char *frames;
  uint32_t bins;
  unsigned repeats;
  bool check_only;
  bool words_only;
  bool bytes_only;
  FILE *csv;
} wish = {.repeats = 31};

typedef struct {
  const GhDriver *driver;
  BenchPeers *peers;
  GhKernels kernels;
  CUstream stream;
  uint8_t *host; /* pinned: one frame */
  CUdeviceptr memory;
  size_t memory_size;
  CUdeviceptr counts;     /* MAX_CALLS of them, for one launch each */
  GhDeviceCounts *result; /* pinned */
  uint32_t *library_counts;
  CUdeviceptr library_memory;

  /* What is being timed. */
  Size size;
  size_t sample_size;
  uint32_t bins;
  GhAlgorithm algorithm;
  unsigned shape;
  unsigned calls;
  size_t stride; /* bytes from one input to the next */
  double floor;
} Bench;

static size_t
frame_size(const Bench *bench)
{
  return (size_t)bench->size.width * bench->size.height * bench->sample_size;
}

static CUdeviceptr
input(const Bench *bench, unsigned i)
{
  return bench->memory + i * bench->stride;
}

static CUdeviceptr
counts_of(const Bench *bench, unsigned i)
{
  return bench->counts + i * COUNTS_SIZE;
}

static GhDeviceFrame
device_frame(const Bench *bench, unsigned i)
{
  return (GhDeviceFrame){
      input(bench, i), bench->size.width * bench->sample_size,
      bench->size.width, bench->size.height,
      bench->sample_size == 4 ? GH_SAMPLE_U32 : GH_SAMPLE_U8};
}

/* One frame's whole step: it counts, and zeroes what the next one adds to. */
static int
count_step(void *data, unsigned i)
{
  Bench *bench = data;
  GhDeviceFrame frame = device_frame(bench, i);
  GhDeviceResult to = {counts_of(bench, i),
                       counts_of(bench, (i + 1) % bench->calls), 0};
  GhError error;

  if (gh_kernels_launch(&bench->kernels, bench->stream, bench->algorithm,
                        &frame, bench->bins, &to, &error) == GH_OK)
    return 1;
  fprintf(stderr, "%s\n", error.text);
  return 0;
}

static int
read_step(void *data, unsigned i)
{
  Bench *bench = data;

  bench_read(bench->peers, bench->stream, bench->shape, input(bench, i),
             frame_size(bench) / 16 * 16);
  return 1;
}

static int
cub_step(void *data, unsigned i)
{
  Bench *bench = data;

  return bench_cub(bench->peers, bench->stream, input(bench, i),
                   frame_size(bench) / bench->sample_size, bench->sample_size,
                   bench->bins, bench->library_memory);
}

static int
cub_sort_step(void *data, unsigned i)
{
  Bench *bench = data;

  return bench_cub_sort(bench->peers, bench->stream, input(bench, i),
                        frame_size(bench));
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
  return bench->sample_size == 4 ? ((const uint32_t *)bench->host)[i]
                                 : bench->host[i];
}

/* The plain count of what lies in bench->host. */
static void
expect(const Bench *bench, uint32_t *expected, uint64_t *sum)
{
  size_t n = frame_size(bench) / bench->sample_size;

  memset(expected, 0, bench->bins * sizeof(*expected));
  *sum = 0;
  for (size_t i = 0; i < n; i++) {
    expected[host_sample(bench, i)]++;
    *sum += host_sample(bench, i);
  }
}

/* Whether the current algorithm counts the last input right. */
static bool
is_right(Bench *bench, const uint32_t *expected, uint64_t sum)
{
  GhDeviceFrame frame = device_frame(bench, bench->calls - 1);
  GhDeviceResult to = {counts_of(bench, 0), 0,
                       (CUdeviceptr)(uintptr_t)bench->result};
  GhError error;

  bench_zero(counts_of(bench, 0), COUNTS_SIZE);
  memset(bench->result, 0xEE, COUNTS_SIZE);
  return gh_kernels_launch(&bench->kernels, bench->stream, bench->algorithm,
                           &frame, bench->bins, &to, &error) == GH_OK &&
         bench_wait(bench->stream) && bench->result->sum == sum &&
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
  printf("%-6s %-10s %6u  %-14s %10.2f us %9.2f-%-9.2f %7.0f GB/s %5.0f %%\n",
         bench->size.name, content, bench->bins, way, time.median, time.low,
         time.high, (double)frame_size(bench) / time.median * 1e-3,
         100 * share);
  if (wish.csv)
    fprintf(wish.csv, "%s,%zu,%s,%u,%s,%.3f,%.3f,%.3f,%.4f\n", bench->size.name,
            8 * bench->sample_size, content, bench->bins, way, time.median,
            time.low, time.high, share);
}

static void
time_floor(Bench *bench, const char *content)
{
  BenchTime best = {-1, -1, -1};

  for (bench->shape = 0; bench->shape < BENCH_READ_SHAPES; bench->shape++) {
    BenchTime time =
        bench_time(bench->stream, bench->calls, wish.repeats, read_step, bench);

    if (best.median < 0 || time.median < best.median)
      best = time;
  }
  bench->floor = best.median;
  print_row(bench, content, "read floor", best);
}

/* Ways that take milliseconds at this size are left out of large frames. */
static bool
is_slow(const Bench *bench)
{
  return bench->algorithm == GH_ALGORITHM_GLOBAL &&
         frame_size(bench) / bench->sample_size > (size_t)64 << 20;
}

static bool
run_algorithms(Bench *bench, const char *content, const uint32_t *expected,
               uint64_t sum)
{
  for (unsigned a = 0; a < GH_N_ALGORITHMS; a++) {
    if (wish.algorithm && strcmp(wish.algorithm, algorithms[a]) != 0)
      continue;
    bench->algorithm = a;
    if (!is_right(bench, expected, sum)) {
      printf("%s %s %s: wrong counts\n", bench->size.name, content,
             algorithms[a]);
      return false;
    }
    if (wish.check_only || is_slow(bench))
      continue;
    bench_zero(bench->counts, bench->calls * COUNTS_SIZE);
    print_row(bench, content, algorithms[a],
              bench_time(bench->stream, bench->calls, wish.repeats, count_step,
                         bench));
  }
  return true;
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
      printf("%-6s %-10s %6u  %-14s not measured\n", bench->size.name, content,
             bench->bins, libraries[i].name);
      continue;
    }
    print_row(bench, content, libraries[i].name,
              bench_time(bench->stream, bench->calls, wish.repeats,
                         libraries[i].step, bench));
  }
}

/* Uploads what lies in bench->host as often as the rotation holds it. */
static bool
place_inputs(Bench *bench)
{
  size_t size = frame_size(bench);

  bench->stride = (size + 255) / 256 * 256;
  bench->calls = (unsigned)(ROTATION / bench->stride);
  bench->calls = bench->calls < 2           ? 2
                 : bench->calls > MAX_CALLS ? MAX_CALLS
                                            : bench->calls;
  if (wish.check_only)
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
  if (!wish.check_only)
    time_floor(bench, content);
  good = run_algorithms(bench, content, expected, sum);
  if (!wish.check_only && !wish.algorithm)
    run_libraries(bench, content, expected);
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

    if (!is_wanted(content->name, wish.content))
      continue;
    bench_fill(content, bench->host, frame_size(bench) / bench->sample_size,
               bench->size.width, bench->bins, bench->sample_size);
    good &= run_frame(bench, content->name);
  }
  return good;
}

static bool
run_bytes(Bench *bench)
{
  bool good = true;

  bench->sample_size = 1;
  bench->bins = 256;
  if (wish.check_only) {
    bench->size = small_size;
    return run_contents(bench);
  }
  for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
    if (!is_wanted(sizes[s].name, wish.size))
      continue;
    bench->size = sizes[s];
    good &= run_contents(bench);
  }
  return good;
}

static bool
run_words(Bench *bench)
{
  static const uint32_t bins[] = {16, 64, 256, 4096, 65536};
  bool good = true;

  bench->sample_size = 4;
  bench->size = wish.check_only ? small_size : (Size){"64M", 8192, 8192};
  for (size_t b = 0; b < sizeof(bins) / sizeof(bins[0]); b++) {
    if (wish.bins && wish.bins != bins[b])
      continue;
    bench->bins = bins[b];
    good &= run_contents(bench);
  }
  return good;
}

/* The frames of a file of raw bytes, one by one. */
static bool
run_file(Bench *bench)
{
  FILE *file = fopen(wish.frames, "rb");
  char name[32];
  bool good = file != NULL;

  bench->sample_size = 1;
  bench->bins = 256;
  bench->size = sizes[1];
  for (size_t s = 0; wish.size && s < sizeof(sizes) / sizeof(sizes[0]); s++)
    if (strcmp(sizes[s].name, wish.size) == 0)
      bench->size = sizes[s];
  for (unsigned i = 0;
       good && fread(bench->host, frame_size(bench), 1, file) == 1; i++) {
    snprintf(name, sizeof(name), "frame %u", i);
    good = run_frame(bench, name);
  }
  if (!file)
    perror(wish.frames);
  else
    fclose(file);
  return good;
}

static double
now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int
compare_times(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Wall-clock microseconds of one call that waits for its end. */
static double
time_trip(void (*trip)(Bench *bench, void *data), Bench *bench, void *data)
{
  enum { WARM_UP = 50, TRIPS = 401 };
  static double times[TRIPS];

  for (int i = -WARM_UP; i < TRIPS; i++) {
    double start = now();

    trip(bench, data);
    if (i >= 0)
      times[i] = now() - start;
  }
  qsort(times, TRIPS, sizeof(times[0]), compare_times);
  return times[TRIPS / 2];
}

static void
empty_trip(Bench *bench, void *data)
{
  (void)data;
  bench_empty(bench->stream);
  bench_wait(bench->stream);
}

/* A frame that is on the device: launch, result in the host's memory. */
static void
resident_trip(Bench *bench, void *data)
{
  GhDeviceFrame frame = device_frame(bench, 0);
  GhDeviceResult to = {counts_of(bench, 0), 0,
                       (CUdeviceptr)(uintptr_t)bench->result};
  GhError error;

  (void)data;
  gh_kernels_launch(&bench->kernels, bench->stream, GH_ALGORITHM_AUTO, &frame,
                    256, &to, &error);
  bench_wait(bench->stream);
}

/* A frame in the host's ordinary memory: copied, uploaded, counted. */
static void
engine_trip(Bench *bench, void *data)
{
  GhFrame frame = {bench->host, bench->size.width, bench->size.width,
                   bench->size.height};
  uint64_t bins[256];
  GhResult result = {.bins = bins};
  GhError error;

  gh_engine_submit(data, &frame, &error);
  gh_engine_collect(data, true, &result, &error);
}

static void
run_trips(Bench *bench)
{
  const GhSettings settings = {.depth = 2, .bins = 256, .device_id = 0};
  double empty = time_trip(empty_trip, bench, NULL);
  GhEngine *engine = NULL;
  GhError error;

  printf("\nround trips, wall clock: empty launch and wait %.2f us\n", empty);
  bench_zero(counts_of(bench, 0), COUNTS_SIZE);
  gh_engine_open(&engine, GH_ENGINE_CUDA, &settings, &error);
  bench->sample_size = 1;
  for (unsigned s = 0; s < 4; s++) {
    double resident;

    bench->size = sizes[s];
    resident = time_trip(resident_trip, bench, NULL);
    printf("%-6s on the device %8.2f us (%.2f of the empty launch), from "
           "ordinary memory %8.2f us\n",
           bench->size.name, resident, resident / empty,
           engine ? time_trip(engine_trip, bench, engine) : -1);
  }
  gh_engine_close(&engine);
}

static int
copy_step(void *data, unsigned i)
{
  Bench *bench = data;
  size_t half = bench->memory_size / 2 / 256 * 256;

  (void)i;
  bench_copy_device(bench->memory, bench->memory + half, half, bench->stream);
  return 1;
}

static int
upload_step(void *data, unsigned i)
{
  Bench *bench = data;

  (void)i;
  bench_copy_async(bench->memory, bench->host, (size_t)256 << 20,
                   bench->stream);
  return 1;
}

static void
run_ceilings(Bench *bench)
{
  BenchTime copy = bench_time(bench->stream, 1, wish.repeats, copy_step, bench);
  BenchTime up = bench_time(bench->stream, 1, wish.repeats, upload_step, bench);

  printf("ceilings: device copy %.0f GB/s (read and write), pinned upload "
         "%.1f GB/s\n",
         (double)bench->memory_size / copy.median * 1e-3,
         (double)((size_t)256 << 20) / up.median * 1e-3);
}

static bool
open_bench(Bench *bench)
{
  CUdevice device;
  GhError error = {""};

  bench->peers = bench_peers_open();
  if (!bench->peers || gh_driver_get(&bench->driver, &error) != GH_OK ||
      bench->driver->cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      gh_kernels_load(&bench->kernels, bench->driver, device, &error) !=
          GH_OK) {
    fprintf(stderr, "%s\n", error.text);
    return false;
  }
  bench->stream = bench_stream();
  bench->memory_size =
      wish.check_only ? (size_t)4 << 20 : ROTATION + ((size_t)640 << 20);
  bench->host =
      bench_host_alloc(wish.check_only ? (size_t)1 << 20 : (size_t)256 << 20);
  bench->memory = bench_device_alloc(bench->memory_size);
  bench->counts = bench_device_alloc(MAX_CALLS * COUNTS_SIZE);
  bench->result = bench_host_alloc(COUNTS_SIZE);
  bench->library_memory = bench_device_alloc(COUNTS_SIZE);
  bench->library_counts = malloc(COUNTS_SIZE);
  if (bench->host && bench->memory && bench->counts && bench->result &&
      bench->library_memory && bench->library_counts)
    return true;
  fprintf(stderr, "not enough memory\n");
  return false;
}

static void
close_bench(Bench *bench)
{
  gh_kernels_unload(&bench->kernels);
  free(bench->library_counts);
  bench_device_free(bench->library_memory);
  bench_host_free(bench->result);
  bench_device_free(bench->counts);
  bench_device_free(bench->memory);
  bench_host_free(bench->host);
  if (bench->peers)
    bench_peers_close(bench->peers);
}

static const char usage[] =
    "usage: gpuhistogram-bench [OPTION...]\n"
    "  --size NAME       VGA, 1080p, 4K, 8K, 1M, 16M, 64M or 256M samples\n"
    "  --content NAME    constant, two values, hot, noise, zipf, gradient, "
    "natural\n"
    "  --algorithm NAME  auto, global, block, warp, lane or sort, without the "
    "libraries\n"
    "  --bytes           samples of 8 bits alone\n"
    "  --words           samples of 32 bits alone, 64M of them\n"
    "  --bins N          of 32-bit samples: 16, 64, 256, 4096 or 65536\n"
    "  --frames FILE     raw 8-bit frames of --size (default 1080p)\n"
    "  --repeats N       of each measurement (default 31)\n"
    "  --check-only      small inputs, no times\n"
    "  --csv FILE        writes the figures there too\n";

static bool
read_options(int argc, char **argv)
{
  static const struct option options[] = {{"size", 1, NULL, 's'},
                                          {"content", 1, NULL, 'c'},
                                          {"algorithm", 1, NULL, 'a'},
                                          {"bytes", 0, NULL, 'y'},
                                          {"words", 0, NULL, 'w'},
                                          {"bins", 1, NULL, 'b'},
                                          {"frames", 1, NULL, 'f'},
                                          {"repeats", 1, NULL, 'r'},
                                          {"check-only", 0, NULL, 'k'},
                                          {"csv", 1, NULL, 'v'},
                                          {NULL, 0, NULL, 0}};
  int option;

  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    switch (option) {
    case 's':
      wish.size = optarg;
      break;
    case 'c':
      wish.content = optarg;
      break;
    case 'a':
      wish.algorithm = optarg;
      break;
    case 'y':
      wish.bytes_only = true;
      break;
    case 'w':
      wish.words_only = true;
      break;
    case 'b':
      wish.bins = (uint32_t)strtoul(optarg, NULL, 10);
      break;
    case 'f':
      wish.frames = optarg;
      break;
    case 'r':
      wish.repeats = (unsigned)strtoul(optarg, NULL, 10);
      break;
    case 'k':
      wish.check_only = true;
      break;
    case 'v':
      wish.csv = fopen(optarg, "w");
      if (!wish.csv)
        perror(optarg);
      break;
    default:
      return false;
    }
  }
  return optind == argc && wish.repeats > 0;
}

static bool
run(Bench *bench)
{
  bool good = true;

  if (wish.csv)
    fprintf(wish.csv, "size,bits,content,bins,way,us,low,high,share\n");
  if (wish.frames)
    return run_file(bench);
  if (!wish.check_only)
    run_ceilings(bench);
  if (!wish.words_only)
    good &= run_bytes(bench);
  if (!wish.bytes_only)
    good &= run_words(bench);
  if (!wish.check_only && !wish.algorithm)
    run_trips(bench);
  printf("%s\n", good ? "all counts are right" : "some counts are wrong");
  return good;
}

int
main(int argc, char **argv)
{
  static Bench bench;
  bool good;

  if (!read_options(argc, argv)) {
    fputs(usage, stderr);
    return 2;
  }
  good = open_bench(&bench) && run(&bench);
  close_bench(&bench);
  if (wish.csv)
    fclose(wish.csv);
  return good ? 0 : 1;
}
