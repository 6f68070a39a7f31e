/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What nvcc built, as a driver sees it. */

#pragma once

#include <cuda.h>

/* Whether there is code for the device in it. What is no fatbin, such as PTX,
 * is for every device. */
CUresult fake_image_check(const void *image);
