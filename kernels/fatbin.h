/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The compiled kernels, made into arrays by the build. */

#pragma once

extern const unsigned long long gh_histogram_fatbin[];
extern const unsigned long long gh_sort_fatbin[];
