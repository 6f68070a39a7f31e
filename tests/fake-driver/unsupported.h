/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Functions that only have to be found. The header that knows their parameters
 * must not be included beside this one. */

#pragma once

#define NOT_SUPPORTED 801 /* CUDA_ERROR_NOT_SUPPORTED */

#define UNSUPPORTED(name)                                \
  __attribute__((visibility("default"))) int name(void); \
                                                         \
  int name(void)                                         \
  {                                                      \
    return NOT_SUPPORTED;                                \
  }
