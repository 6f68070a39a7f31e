/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cpu-unpack.h"

#include "cpu-row.h"

/* What lies every 2 bytes; HOST: words that were made of other samples. */
typedef enum { BYTES, LITTLE, BIG, HOST } Order;

GH_INLINE unsigned
word_at(const uint8_t *at, Order order)
{
  uint16_t word;

  switch (order) {
  case BYTES:
    return at[0];
  case LITTLE:
    return at[0] | (unsigned)at[1] << 8;
  case BIG:
    return at[1] | (unsigned)at[0] << 8;
  default:
    memcpy(&word, at, sizeof(word));
    return word;
  }
}

/* ---- 16 samples at once ---- */

#ifdef __SSE2__

/* Samples stay where they are in their words until they were added up, as one
 * shift of the sum is less work than one of each word. */
typedef struct {
  __m128i mask;  /* the bits of a sample */
  __m128i shift; /* from there to its counter's number */
  __m128i sum;   /* four of 32 bits, each sample less by 32768 */
} Lanes;

GH_INLINE Lanes
start_lanes(const GhUnpack *self)
{
  unsigned mask = (1u << self->format.depth) - 1;

  return (Lanes){_mm_set1_epi16((short)(mask << self->format.shift)),
                 _mm_cvtsi32_si128((int)(self->format.shift + self->group)),
                 _mm_setzero_si128()};
}

/* Of `n` samples. */
GH_INLINE uint32_t
sum_lanes(const GhUnpack *self, const Lanes *lanes, size_t n)
{
  uint32_t sums[4];

  _mm_storeu_si128((__m128i *)sums, lanes->sum);
  return (sums[0] + sums[1] + sums[2] + sums[3] + 32768 * (uint32_t)n) >>
         self->format.shift;
}

/* The numbers of the counters of 8 samples. The multiplication adds neighbours
 * up, which it takes for numbers with a sign. */
GH_INLINE __m128i
numbers_of(Lanes *lanes, __m128i words)
{
  const __m128i half = _mm_set1_epi16((short)0x8000);
  __m128i samples = _mm_and_si128(words, lanes->mask);

  lanes->sum =
      _mm_add_epi32(lanes->sum, _mm_madd_epi16(_mm_xor_si128(samples, half),
                                               _mm_set1_epi16(1)));
  return _mm_srl_epi16(samples, lanes->shift);
}

GH_INLINE __m128i
swapped(__m128i words)
{
  return _mm_or_si128(_mm_slli_epi16(words, 8), _mm_srli_epi16(words, 8));
}

/* Of bytes, the second 8 are taken as the upper halves of words, as the byte
 * behind the last one is not to be read. */
GH_INLINE void
load_16(const uint8_t *at, Order order, __m128i words[2])
{
  size_t second = order == BYTES ? 15 : 16;

  words[0] = _mm_loadu_si128((const __m128i *)at);
  words[1] = _mm_loadu_si128((const __m128i *)(at + second));
  if (order == BYTES) {
    words[0] = _mm_and_si128(words[0], _mm_set1_epi16(0xff));
    words[1] = _mm_srli_epi16(words[1], 8);
  }
  if (order == BIG) {
    words[0] = swapped(words[0]);
    words[1] = swapped(words[1]);
  }
}

/* Returns how many samples it took: all but less than 16. */
GH_INLINE size_t
unpack_16s(const GhUnpack *self, const uint8_t *from, size_t n, Order order,
           bool wide, uint8_t *numbers, uint32_t *sum)
{
  Lanes lanes = start_lanes(self);
  size_t i = 0;

  for (; i + 16 <= n; i += 16) {
    __m128i *to = (__m128i *)(numbers + (wide ? 2 * i : i)), words[2];

    load_16(from + 2 * i, order, words);
    words[0] = numbers_of(&lanes, words[0]);
    words[1] = numbers_of(&lanes, words[1]);
    if (!wide) {
      _mm_storeu_si128(to, _mm_packus_epi16(words[0], words[1]));
      continue;
    }
    _mm_storeu_si128(to, words[0]);
    _mm_storeu_si128(to + 1, words[1]);
  }
  *sum = sum_lanes(self, &lanes, i);
  return i;
}

#else

GH_INLINE size_t
unpack_16s(const GhUnpack *self, const uint8_t *from, size_t n, Order order,
           bool wide, uint8_t *numbers, uint32_t *sum)
{
  *sum = 0;
  return 0;
}

#endif

/* ---- Samples 2 bytes apart ---- */

GH_INLINE uint32_t
unpack(const GhUnpack *self, const uint8_t *from, size_t n, Order order,
       bool wide, void *numbers)
{
  const unsigned shift = self->format.shift, group = self->group;
  const unsigned mask = (1u << self->format.depth) - 1;
  uint32_t sum;
  size_t i = unpack_16s(self, from, n, order, wide, numbers, &sum);

  for (; i < n; i++) {
    unsigned sample = word_at(from + 2 * i, order) >> shift & mask;

    if (wide)
      ((uint16_t *)numbers)[i] = (uint16_t)(sample >> group);
    else
      ((uint8_t *)numbers)[i] = (uint8_t)(sample >> group);
    sum += sample;
  }
  return sum;
}

#define UNPACK(name, order, wide)                                          \
  static uint32_t name(const GhUnpack *self, const uint8_t *row, size_t x, \
                       size_t n, void *numbers)                            \
  {                                                                        \
    return unpack(self, row + 2 * x, n, order, wide, numbers);             \
  }

UNPACK(bytes_narrow, BYTES, false)
UNPACK(little_narrow, LITTLE, false)
UNPACK(little_wide, LITTLE, true)
UNPACK(big_narrow, BIG, false)
UNPACK(big_wide, BIG, true)

/* ---- All others: made words first ---- */

GH_INLINE void
gather_steps(const GhFormat *format, const uint8_t *row, size_t x, size_t n,
             uint16_t *words, Order order)
{
  const uint8_t *from = row + x * format->step;

  for (size_t i = 0; i < n; i++)
    words[i] = (uint16_t)word_at(from + i * format->step, order);
}

static void
gather_bytes(const GhFormat *format, const uint8_t *row, size_t x, size_t n,
             uint16_t *words)
{
  gather_steps(format, row, x, n, words, BYTES);
}

static void
gather_little(const GhFormat *format, const uint8_t *row, size_t x, size_t n,
              uint16_t *words)
{
  gather_steps(format, row, x, n, words, LITTLE);
}

static void
gather_big(const GhFormat *format, const uint8_t *row, size_t x, size_t n,
           uint16_t *words)
{
  gather_steps(format, row, x, n, words, BIG);
}

/* Groups that are there as a whole, and single samples around them. What is
 * above the 10 bits is masked later. */
static void
gather_threes(const GhFormat *format, const uint8_t *row, size_t x, size_t n,
              uint16_t *words)
{
  size_t i = 0;

  for (; i < n && (x + i) % 3 != 0; i++)
    words[i] = (uint16_t)gh_sample(format, row, x + i);
  row += (x + i) / 3 * 4;
  for (; i + 3 <= n; i += 3, row += 4) {
    uint32_t group = word_at(row, LITTLE) | word_at(row + 2, LITTLE) << 16;

    words[i] = (uint16_t)group;
    words[i + 1] = (uint16_t)(group >> 10);
    words[i + 2] = (uint16_t)(group >> 20);
  }
  for (size_t first = i; i < n; i++)
    words[i] = (uint16_t)gh_sample(format, row, i - first);
}

static void
gather_fours(const GhFormat *format, const uint8_t *row, size_t x, size_t n,
             uint16_t *words)
{
  size_t i = 0;

  for (; i < n && (x + i) % 4 != 0; i++)
    words[i] = (uint16_t)gh_sample(format, row, x + i);
  row += (x + i) / 4 * 5;
  for (; i + 4 <= n; i += 4, row += 5)
    for (unsigned k = 0; k < 4; k++)
      words[i + k] = (uint16_t)(word_at(row + k, LITTLE) >> 2 * k);
  for (size_t first = i; i < n; i++)
    words[i] = (uint16_t)gh_sample(format, row, i - first);
}

GH_INLINE uint32_t
unpack_gathered(const GhUnpack *self, const uint8_t *row, size_t x, size_t n,
                bool wide, void *numbers)
{
  uint16_t words[GH_BLOCK];

  self->gather(&self->format, row, x, n, words);
  return unpack(self, (const uint8_t *)words, n, HOST, wide, numbers);
}

static uint32_t
gathered_narrow(const GhUnpack *self, const uint8_t *row, size_t x, size_t n,
                void *numbers)
{
  return unpack_gathered(self, row, x, n, false, numbers);
}

static uint32_t
gathered_wide(const GhUnpack *self, const uint8_t *row, size_t x, size_t n,
              void *numbers)
{
  return unpack_gathered(self, row, x, n, true, numbers);
}

/* ---- Which is for what ---- */

static const GhGather gathers[] = {
    [GH_BYTES] = gather_bytes,     [GH_WORDS_LE] = gather_little,
    [GH_WORDS_BE] = gather_big,    [GH_TENS_LE32] = gather_threes,
    [GH_TENS_LE40] = gather_fours,
};

GhUnpack
gh_unpack(const GhFormat *format, unsigned counters)
{
  static const GhUnpackBlock close[][2] = {
      [GH_BYTES] = {bytes_narrow, gathered_wide},
      [GH_WORDS_LE] = {little_narrow, little_wide},
      [GH_WORDS_BE] = {big_narrow, big_wide},
  };
  GhUnpack self = {*format, gh_counter_shift(format->depth, counters),
                   counters > 256};

  self.gather = gathers[format->packing];
  if (format->packing <= GH_WORDS_BE && format->step == 2)
    self.block = close[format->packing][self.wide];
  else
    self.block = self.wide ? gathered_wide : gathered_narrow;
  return self;
}
