/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "image.h"

#include "control.h"

#include <stdint.h>
#include <string.h>

#define MAGIC 0xBA55ED50u

/* A fatbin: a header, and code for one architecture after the other. */
typedef struct {
  uint32_t magic;
  uint16_t version;
  uint16_t header_size;
  uint64_t size; /* of what follows the header */
} Fatbin;

enum { PTX = 1, NATIVE = 2 };

typedef struct {
  uint16_t kind;
  uint16_t version;
  uint32_t header_size;
  uint64_t size; /* of what follows the header */
  uint32_t unused[3];
  uint32_t architecture; /* a compute capability, as 90 for 9.0 */
} Code;

/* Native code is for later devices of the same generation; PTX is for all later
 * ones, if the driver is not older than the toolkit. */
static CUresult
check_code(const Code *code)
{
  int capability = fake_capability(), built = (int)code->architecture;

  if (capability < built ||
      (code->kind == NATIVE && capability / 10 != built / 10))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  return code->kind == NATIVE || fake_version() >= CUDA_VERSION
             ? CUDA_SUCCESS
             : CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

CUresult
fake_image_check(const void *image)
{
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  const uint8_t *at = image, *end;
  Fatbin fatbin;
  Code code;

  memcpy(&fatbin.magic, at, sizeof(fatbin.magic));
  if (fatbin.magic != MAGIC)
    return CUDA_SUCCESS;
  memcpy(&fatbin, at, sizeof(fatbin));
  at += fatbin.header_size;
  for (end = at + fatbin.size; at < end; at += code.header_size + code.size) {
    CUresult fits;

    memcpy(&code, at, sizeof(code));
    fits = check_code(&code);
    if (fits == CUDA_SUCCESS)
      return fits;
    if (fits == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
      result = fits;
  }
  return result;
}
