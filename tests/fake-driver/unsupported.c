/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What libgstcuda does not need but gives up without. */

#include "unsupported.h"

UNSUPPORTED(cuCtxEnablePeerAccess)
UNSUPPORTED(cuCtxDisablePeerAccess)
UNSUPPORTED(cuGLGetDevices_v2)
UNSUPPORTED(cuGraphicsGLRegisterBuffer)
UNSUPPORTED(cuGraphicsGLRegisterImage)
UNSUPPORTED(cuGraphicsMapResources)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2)
UNSUPPORTED(cuGraphicsResourceSetMapFlags_v2)
UNSUPPORTED(cuGraphicsSubResourceGetMappedArray)
UNSUPPORTED(cuGraphicsUnmapResources)
UNSUPPORTED(cuGraphicsUnregisterResource)
UNSUPPORTED(cuTexObjectCreate)
UNSUPPORTED(cuTexObjectDestroy)
