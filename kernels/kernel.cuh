/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes a kernel, with a name for the host, of a function that does its work.
 */

#pragma once

#include "launch.h"

/* CUDA 11.7 brought it, for these architectures. */
#if __CUDA_ARCH__ >= 700 && \
    __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107
#define IN_PLACE __grid_constant__
#else
#define IN_PLACE
#endif

#define KERNEL_OF(type, name, threads, function)        \
  extern "C" __global__ void __launch_bounds__(threads) \
      name(const IN_PLACE type launch)                  \
  {                                                     \
    function(launch);                                   \
  }

#define KERNEL(...) KERNEL_OF(GhLaunch, __VA_ARGS__)
#define CELLS_KERNEL(...) KERNEL_OF(GhCellsLaunch, __VA_ARGS__)
