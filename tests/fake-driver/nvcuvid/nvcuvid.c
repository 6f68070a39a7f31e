/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A decoder that decodes nothing: GStreamer's plugin has cudaupload and
 * cudadownload only where there is a decoder or an encoder. */

#include "unsupported.h"

UNSUPPORTED(cuvidCreateDecoder)
UNSUPPORTED(cuvidCreateVideoParser)
UNSUPPORTED(cuvidCtxLock)
UNSUPPORTED(cuvidCtxLockCreate)
UNSUPPORTED(cuvidCtxLockDestroy)
UNSUPPORTED(cuvidCtxUnlock)
UNSUPPORTED(cuvidDecodePicture)
UNSUPPORTED(cuvidDestroyDecoder)
UNSUPPORTED(cuvidDestroyVideoParser)
UNSUPPORTED(cuvidGetDecoderCaps)
UNSUPPORTED(cuvidMapVideoFrame64)
UNSUPPORTED(cuvidParseVideoData)
UNSUPPORTED(cuvidUnmapVideoFrame64)
