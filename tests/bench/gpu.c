/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times every way of counting on the GPU, beside what no histogram can pass
 * and beside the libraries that people would use instead, in one run.
 * --help lists the options.
 */

#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

BenchWish bench_wish = {.repeats = 31};

static bool
open_bench(Bench *bench)
{
  CUdevice device;
  GhError error = {""};

  bench->peers = bench_peers_open();
  if (!bench->peers || gh_driver_get(&bench->driver, &error) != GH_OK ||
      bench->driver->cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      gh_kernels_load(&bench->kernels, bench->driver, device, true, &error) !=
          GH_OK) {
    fprintf(stderr, "%s\n", error.text);
    return false;
  }
  bench->stream = bench_stream();
  bench->memory_size =
      bench_wish.check_only ? (size_t)4 << 20 : ROTATION + ((size_t)640 << 20);
  bench->host = bench_host_alloc(bench_wish.check_only ? (size_t)1 << 20
                                                       : (size_t)256 << 20);
  bench->memory = bench_device_alloc(bench->memory_size);
  bench->counts = bench_device_alloc(COUNTS_SIZE);
  bench->result = bench_host_alloc(RESULT_SIZE);
  bench->library_memory = bench_device_alloc(RESULT_SIZE);
  bench->library_counts = malloc(RESULT_SIZE);
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
    "  --halves          samples of 16 bits alone\n"
    "  --words           samples of 32 bits alone, 64M of them\n"
    "  --bins N          of 16-bit samples: 256 or 65536; of 32-bit samples: "
    "16, 64,\n"
    "                    256, 4096 or 65536\n"
    "  --frames FILE     raw 8-bit frames of --size (default 1080p)\n"
    "  --repeats N       of each measurement (default 31)\n"
    "  --check-only      small inputs, no times\n"
    "  --csv FILE        writes the figures there too\n";

static bool
read_options(int argc, char **argv)
{
  static const struct option options[] = {
      {"size", 1, NULL, 's'},      {"content", 1, NULL, 'c'},
      {"algorithm", 1, NULL, 'a'}, {"bytes", 0, NULL, 'y'},
      {"halves", 0, NULL, 'h'},    {"words", 0, NULL, 'w'},
      {"bins", 1, NULL, 'b'},      {"frames", 1, NULL, 'f'},
      {"repeats", 1, NULL, 'r'},   {"check-only", 0, NULL, 'k'},
      {"csv", 1, NULL, 'v'},       {NULL, 0, NULL, 0}};
  int option;

  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    switch (option) {
    case 's':
      bench_wish.size = optarg;
      break;
    case 'c':
      bench_wish.content = optarg;
      break;
    case 'a':
      bench_wish.algorithm = optarg;
      break;
    case 'y':
      bench_wish.sample_size = 1;
      break;
    case 'h':
      bench_wish.sample_size = 2;
      break;
    case 'w':
      bench_wish.sample_size = 4;
      break;
    case 'b':
      bench_wish.bins = (uint32_t)strtoul(optarg, NULL, 10);
      break;
    case 'f':
      bench_wish.frames = optarg;
      break;
    case 'r':
      bench_wish.repeats = (unsigned)strtoul(optarg, NULL, 10);
      break;
    case 'k':
      bench_wish.check_only = true;
      break;
    case 'v':
      bench_wish.csv = fopen(optarg, "w");
      if (!bench_wish.csv)
        perror(optarg);
      break;
    default:
      return false;
    }
  }
  return optind == argc && bench_wish.repeats > 0;
}

static bool
wants_samples(size_t size)
{
  return bench_wish.sample_size == 0 || bench_wish.sample_size == size;
}

static bool
run(Bench *bench)
{
  bool good = true;

  if (bench_wish.csv)
    fprintf(bench_wish.csv,
            "size,bits,content,bins,way,us,low,high,share,launched\n");
  if (bench_wish.frames)
    return bench_run_file(bench);
  if (!bench_wish.check_only)
    bench_run_ceilings(bench);
  if (wants_samples(1))
    good &= bench_run_bytes(bench);
  if (wants_samples(2))
    good &= bench_run_halves(bench);
  if (wants_samples(4))
    good &= bench_run_words(bench);
  if (!bench_wish.check_only && !bench_wish.algorithm)
    bench_run_trips(bench);
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
  if (bench_wish.csv)
    fclose(bench_wish.csv);
  return good ? 0 : 1;
}
