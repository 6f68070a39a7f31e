/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU engine on any frame, against the reference and a plain loop. The
 * samples are the input's own bytes, in memory of just their size. */

#include "engine.h"
#include "input.h"

#include <string.h>

#define MOST_REGIONS 12
#define MOST_BYTES (1u << 20)

/* ---- The case ---- */

typedef struct {
  GhFrame frame;
  GhRect regions[MOST_REGIONS];
  unsigned bins_log2;
  unsigned n_threads;
  unsigned times; /* that it is submitted before it is collected */
} Case;

/* Small numbers, and some near the end of what there is. */
static uint32_t
take_number(Input *input, unsigned below)
{
  unsigned number = take(input);

  return number >= 0xf8 ? number - 0x100 : number % below;
}

static void
take_format(Input *input, GhFormat *format)
{
  format->packing = (GhPacking)(take(input) % 6);
  format->step = take(input) % 20;
  format->shift = take_number(input, 18);
  format->depth = take_number(input, 18);
}

/* Where a region is in one direction, in a frame that is so wide or high:
 * mostly inside. */
static void
take_side(Input *input, uint32_t whole, uint32_t *start, uint32_t *length)
{
  unsigned a = take(input), b = take(input);
  uint32_t room;

  *start = a == 0xff ? UINT32_MAX
                     : (uint32_t)(a * 2 % ((uint64_t)whole + (a > 0xf0)));
  room = *start < whole ? whole - *start : 1;
  *length = b == 0xff ? UINT32_MAX
                      : (uint32_t)(b * 2 % ((uint64_t)room + (b > 0xf0)));
  *length += b < 0xf0;
}

static void
take_regions(Input *input, Case *self)
{
  GhFrame *frame = &self->frame;

  frame->regions = self->regions;
  if (frame->width == 0 || frame->height == 0)
    return;
  frame->n_regions = take(input) % (MOST_REGIONS + 1);
  for (uint32_t r = 0; r < frame->n_regions; r++) {
    GhRect *rect = &self->regions[r];

    take_side(input, frame->width, &rect->x, &rect->width);
    take_side(input, frame->height, &rect->y, &rect->height);
  }
}

static void
take_case(Input *input, Case *self)
{
  unsigned mode = take(input);

  *self = (Case){.bins_log2 = 1 + take(input) % 16};
  self->n_threads = 1 + mode % 3;
  self->times = 1 + (mode >> 2 & 1);
  take_format(input, &self->frame.format);
  self->frame.width = take_word(input) % 600;
  self->frame.height = take_word(input) % 300;
  self->frame.stride = take_word(input) % 2000;
  self->frame.rows = mode >> 3 & 1;
  if ((mode & 0xf0) == 0xf0)
    self->frame.width = UINT32_MAX;
  /* Large enough for each way of counting. */
  if ((mode & 0xf0) == 0xe0) {
    self->frame.width += 700;
    self->frame.height += 400;
  }
  take_regions(input, self);
}

/* ---- What can be counted ---- */

static unsigned
word_bits(const GhFormat *format)
{
  return format->packing == GH_BYTES ? 8 : 16;
}

static int
is_packed(const GhFormat *format)
{
  return format->packing == GH_TENS_LE32 || format->packing == GH_TENS_LE40;
}

/* 0 where it is none. */
static unsigned
sample_depth(const GhFormat *format)
{
  uint64_t depth = format->depth, end;

  if (is_packed(format))
    return 10;
  if (format->packing > GH_TENS_LE40 || format->shift >= word_bits(format))
    return 0;
  if (depth == 0)
    depth = word_bits(format) - format->shift;
  end = format->shift + depth;
  return end <= word_bits(format) ? (unsigned)depth : 0;
}

static int
is_inside(const GhRect *part, const GhFrame *frame)
{
  return part->width > 0 && part->height > 0 &&
         (uint64_t)part->x + part->width <= frame->width &&
         (uint64_t)part->y + part->height <= frame->height;
}

static int
is_possible(const Case *self)
{
  const GhFrame *frame = &self->frame;

  if (frame->width == 0 || frame->height == 0 ||
      (uint64_t)frame->width * frame->height > UINT32_MAX ||
      sample_depth(&frame->format) < self->bins_log2)
    return 0;
  for (uint32_t r = 0; r < frame->n_regions; r++)
    if (!is_inside(&self->regions[r], frame))
      return 0;
  return 1;
}

/* Bytes from the first of a row to the last that a sample of it is in; for
 * 10 bits in 32, no more than bits are in use. */
static size_t
row_bytes(const GhFrame *frame)
{
  const GhFormat *format = &frame->format;
  size_t word = word_bits(format) / 8, width = frame->width;

  if (format->packing == GH_TENS_LE32)
    return width / 3 * 4 + (width % 3 * 10 + 7) / 8;
  if (format->packing == GH_TENS_LE40)
    return (width * 10 + 7) / 8;
  return (width - 1) * (format->step ? format->step : word) + word;
}

/* ---- The plain loop ---- */

static unsigned
bits_at(const uint8_t *row, size_t bit)
{
  unsigned value = 0;

  for (size_t i = 0; i < 10; i++)
    value |= (row[(bit + i) / 8] >> (bit + i) % 8 & 1u) << i;
  return value;
}

static unsigned
level_at(const GhFrame *frame, size_t x, size_t y)
{
  const GhFormat *format = &frame->format;
  const uint8_t *row = frame->samples + y * frame->stride, *at;
  unsigned word;

  if (format->packing == GH_TENS_LE32)
    return bits_at(row, x / 3 * 32 + x % 3 * 10);
  if (format->packing == GH_TENS_LE40)
    return bits_at(row, x * 10);
  at = row + x * (format->step ? format->step : word_bits(format) / 8);
  word = at[0];
  if (format->packing == GH_WORDS_LE)
    word = at[0] + 256u * at[1];
  if (format->packing == GH_WORDS_BE)
    word = at[0] * 256u + at[1];
  return (word >> format->shift) % (1u << sample_depth(format));
}

/* Takes each sample away again, so that nothing is left over. */
static void
check_part(const Case *self, const GhRect *part, const char *who,
           const GhHistogram *counted)
{
  unsigned group = sample_depth(&self->frame.format) - self->bins_log2;
  uint64_t sum = 0, pixels = (uint64_t)part->width * part->height;

  CHECK(gh_histogram_is_consistent(counted, 1u << self->bins_log2), "%s", who);
  for (size_t y = part->y; y < part->y + part->height; y++) {
    for (size_t x = part->x; x < part->x + part->width; x++) {
      unsigned level = level_at(&self->frame, x, y);

      CHECK(counted->bins[level >> group]-- > 0, "%s: bin %u of %zu,%zu", who,
            level >> group, x, y);
      sum += level;
    }
  }
  CHECK(counted->pixels == pixels, "%s", who);
  CHECK(counted->sum == sum, "%s", who);
  for (unsigned b = 0; b < 1u << self->bins_log2; b++)
    CHECK(counted->bins[b] == 0, "%s: bin %u", who, b);
  CHECK(group > 0 || counted->least_sum == counted->most_sum, "%s", who);
}

static void
check_rows(const GhFrame *frame, const char *who, const uint64_t *sums)
{
  for (size_t y = 0; y < frame->height; y++) {
    uint64_t sum = 0;

    for (size_t x = 0; x < frame->width; x++)
      sum += level_at(frame, x, y);
    CHECK(sums[y] == sum, "%s: row %zu", who, y);
  }
}

static void
check_result(const Case *self, const char *who, const GhResult *result)
{
  const GhRect whole = {0, 0, self->frame.width, self->frame.height};

  check_part(self, &whole, who, &result->whole);
  for (uint32_t r = 0; r < self->frame.n_regions; r++)
    check_part(self, &self->regions[r], who, &result->regions[r]);
  if (self->frame.rows)
    check_rows(&self->frame, who, result->row_sums);
}

/* ---- The engines ---- */

/* By bins and threads; kept, as what one frame leaves behind would count in
 * another. */
static GhEngine *engines[17][4];

static GhEngine **
find_engine(const Case *self)
{
  GhEngine **engine = &engines[self->bins_log2][self->n_threads];
  const GhSettings settings = {2, 1u << self->bins_log2, self->n_threads, -1};
  GhError error = {""};

  if (!*engine)
    CHECK(gh_engine_open(engine, GH_ENGINE_CPU, &settings, &error) == GH_OK,
          "%s", error.text);
  return engine;
}

static void
measure(const Case *self, GhEngine *engine, GhResult *result)
{
  GhError error = {""};

  for (unsigned i = 0; i < self->times; i++)
    CHECK(gh_engine_submit(engine, &self->frame, &error) == GH_OK, "%s",
          error.text);
  for (unsigned i = 0; i < self->times; i++) {
    CHECK(gh_engine_collect(engine, true, result, &error) == GH_OK, "%s",
          error.text);
    check_result(self, "engine", result);
  }
  CHECK(gh_engine_collect(engine, true, result, &error) == GH_EMPTY, "twice");
  gh_count_frame(&self->frame, 1u << self->bins_log2, result);
  check_result(self, "reference", result);
}

static void
measure_possible(const Case *self)
{
  size_t bins = (size_t)1 << self->bins_log2, n = 1 + self->frame.n_regions;
  uint64_t *counts = malloc(n * bins * sizeof(*counts));
  GhHistogram regions[MOST_REGIONS];
  GhResult result = {.whole = {.bins = counts}, .regions = regions};

  result.row_sums = malloc(self->frame.height * sizeof(*result.row_sums));
  for (size_t r = 1; r < n; r++)
    regions[r - 1].bins = counts + r * bins;
  measure(self, *find_engine(self), &result);
  free(result.row_sums);
  free(counts);
}

/* Without samples, so nothing may be read. */
static void
refuse_impossible(const Case *self)
{
  GhEngine **engine = find_engine(self);
  GhError error = {""};

  CHECK(gh_engine_submit(*engine, &self->frame, &error) == GH_FAILED,
        "%u x %u, shift %u, depth %u, %u regions", self->frame.width,
        self->frame.height, self->frame.format.shift, self->frame.format.depth,
        self->frame.n_regions);
  CHECK(error.text[0] != '\0', "no reason given");
  gh_engine_close(engine);
}

/* ---- The fuzzer ---- */

/* The input's rest, again and again; each time changed a little. */
static uint8_t *
make_samples(Input *input, size_t size)
{
  uint8_t *samples = malloc(size);

  for (size_t i = 0; i < size; i++)
    samples[i] = input->left == 0
                     ? 0
                     : (uint8_t)(input->at[i % input->left] + i / input->left);
  return samples;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Input input = {data, size};
  size_t offset, bytes;
  uint8_t *samples;
  Case self;

  take_case(&input, &self);
  offset = take(&input) % 65;
  if (!is_possible(&self)) {
    refuse_impossible(&self);
    return 0;
  }
  bytes = self.frame.stride * (self.frame.height - 1) + row_bytes(&self.frame);
  if (bytes > MOST_BYTES)
    return 0;
  samples = make_samples(&input, offset + bytes);
  self.frame.samples = samples + offset;
  measure_possible(&self);
  free(samples);
  return 0;
}
