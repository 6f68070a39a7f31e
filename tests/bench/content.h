/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the benchmarks count: frames whose samples lie in different ways. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *name;
  /* Sample `i` of a frame `width` wide, below `bins`, a power of two. */
  uint32_t (*sample)(size_t i, size_t width, uint32_t bins);
} BenchContent;

extern const BenchContent bench_contents[];
extern const size_t bench_n_contents;

/* Fills n samples of 1 or 4 bytes. The content repeats after a few millions,
 * so that large frames do not take long to make. */
void bench_fill(const BenchContent *content, void *samples, size_t n,
                size_t width, uint32_t bins, size_t sample_size);

#ifdef __cplusplus
}
#endif
