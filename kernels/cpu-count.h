/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counting on the CPU: several ways behind one interface. */

#pragma once

#include "engine-private.h"

/*
 * Counts `rows` rows of `width` samples and adds them to *counts.
 * The samples of one call must be fewer than 2^32.
 */
typedef void (*GhCountRows)(const uint8_t *samples, size_t stride, size_t width,
                            size_t rows, GhCounts *counts);

typedef struct {
  const char *name;
  GhCountRows count;
} GhCountWay;

/* All ways, the plain reference first, ended by a NULL name. They give the
 * same counts; tests hold every one against the reference. */
extern const GhCountWay gh_count_ways[];

/* The way that the CPU engine takes; see NOTES.md for the measurements. */
extern const GhCountWay *const gh_count_best;
