/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames that are on the GPU already, and the CUDA context that a pipeline
 * shares, by GStreamer's CUDA library. Built without it there are neither.
 */

#pragma once

#include "luma.h"

/* Adds what can be counted on the GPU to @caps, the same in system memory. */
void gpu_histogram_cuda_add_caps(GstCaps *caps);

/* Whether frames of these caps are on the GPU. */
gboolean gpu_histogram_cuda_has_feature(GstCaps *caps);

gboolean gpu_histogram_cuda_is_memory(GstMemory *memory);

/* (nullable): the memory of a buffer that is wholly on the GPU. */
GstMemory *gpu_histogram_cuda_get_memory(GstBuffer *buffer);

/* (transfer none): where the planes of a CUDA memory are, for a buffer without
 * GstVideoMeta. */
const GstVideoInfo *gpu_histogram_cuda_get_layout(GstMemory *memory);

/* What a mapping needs to give the address on the GPU. */
GstMapFlags gpu_histogram_cuda_map_flags(void);

/* Sets from when on the samples in @memory, mapped on the GPU, are there. */
void gpu_histogram_cuda_set_ready(GstMemory *memory, GhFrame *samples);

/* (transfer full) (nullable): the GstCudaContext of @memory. */
GstObject *gpu_histogram_cuda_get_context(GstMemory *memory);

/* The CUcontext of a GstCudaContext. */
gpointer gpu_histogram_cuda_get_handle(GstObject *context);

/* Sets *context, which is NULL, to the pipeline's GstCudaContext for that
 * device (transfer full): what a neighbour or the application answers comes to
 * the element's set_context, which puts it there meanwhile; without an answer
 * it is a new one for all. Posts. */
void gpu_histogram_cuda_ask_context(GstElement *element, gint device_id,
                                    GstObject **context);

/* (transfer full) (nullable): the GstCudaContext in @context, if it is one for
 * that device. */
GstObject *gpu_histogram_cuda_take_context(GstElement *element,
                                           GstContext *context, gint device_id);

/* Answers a context query with @context. */
gboolean gpu_histogram_cuda_answer(GstElement *element, GstQuery *query,
                                   GstObject *context);
