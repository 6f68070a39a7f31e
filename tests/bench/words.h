/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdint.h>

/* Prints a table for samples of several kinds; returns the exit status. */
int bench_words(uint32_t width, uint32_t height);
