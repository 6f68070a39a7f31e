/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The compiled kernels, made into an array by the build. */

#pragma once

extern const unsigned long long gh_fatbin[];
