/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a fuzzer is, and the bytes that it makes its case of. */

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* By their names libFuzzer finds them, and replay.c. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  const uint8_t *at;
  size_t left;
} Input;

/* The next byte; 0 behind the end, so that any bytes make a whole case. */
static inline unsigned
take(Input *input)
{
  if (input->left == 0)
    return 0;
  input->left--;
  return *input->at++;
}

static inline unsigned
take_word(Input *input)
{
  unsigned low = take(input);

  return low | take(input) << 8;
}

/* Says what does not hold, and ends the program, which keeps the input. */
#define CHECK(condition, ...)              \
  do {                                     \
    if (!(condition)) {                    \
      fprintf(stderr, "%s: ", #condition); \
      fprintf(stderr, __VA_ARGS__);        \
      fprintf(stderr, "\n");               \
      abort();                             \
    }                                      \
  } while (0)
