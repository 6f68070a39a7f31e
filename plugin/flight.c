/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "flight.h"

void
gpu_histogram_flight_init(GpuHistogramFlight *flight)
{
  g_mutex_init(&flight->lock);
  g_cond_init(&flight->arrived);
  g_cond_init(&flight->room);
  g_cond_init(&flight->idle);
  flight->depth = 1;
}

void
gpu_histogram_flight_clear(GpuHistogramFlight *flight)
{
  gpu_histogram_flight_drop(flight);
  g_cond_clear(&flight->idle);
  g_cond_clear(&flight->room);
  g_cond_clear(&flight->arrived);
  g_mutex_clear(&flight->lock);
}

void
gpu_histogram_flight_set_depth(GpuHistogramFlight *flight, guint depth)
{
  g_mutex_lock(&flight->lock);
  g_assert(flight->n == 0);
  flight->depth = depth;
  flight->first = 0;
  flight->n_max = 0;
  g_mutex_unlock(&flight->lock);
}

/* Called with the lock. */
static gboolean
is_closed(GpuHistogramFlight *flight)
{
  return !flight->active || flight->flushing;
}

/* Called with the lock. */
static void
wake_all(GpuHistogramFlight *flight)
{
  g_cond_broadcast(&flight->arrived);
  g_cond_broadcast(&flight->room);
  g_cond_broadcast(&flight->idle);
}

void
gpu_histogram_flight_set_active(GpuHistogramFlight *flight, gboolean active)
{
  g_mutex_lock(&flight->lock);
  flight->active = active;
  flight->flushing = FALSE;
  flight->flow = GST_FLOW_OK;
  wake_all(flight);
  g_mutex_unlock(&flight->lock);
}

void
gpu_histogram_flight_set_flushing(GpuHistogramFlight *flight, gboolean flushing)
{
  g_mutex_lock(&flight->lock);
  flight->flushing = flushing;
  flight->flow = GST_FLOW_OK;
  wake_all(flight);
  g_mutex_unlock(&flight->lock);
}

gboolean
gpu_histogram_flight_wait_for_room(GpuHistogramFlight *flight)
{
  gboolean room;

  g_mutex_lock(&flight->lock);
  while (flight->n == flight->depth && !is_closed(flight))
    g_cond_wait(&flight->room, &flight->lock);
  room = !is_closed(flight);
  g_mutex_unlock(&flight->lock);
  return room;
}

/* The GPU may still be reading it. */
static void
release_frame(GpuHistogramFrame *frame)
{
  if (frame->engine && frame->luma.samples.memory != GH_MEMORY_HOST)
    gh_engine_finish_reading(frame->engine);
  gpu_histogram_luma_unmap(&frame->luma);
  g_clear_pointer(&frame->regions, gpu_histogram_regions_unref);
  gst_clear_buffer(&frame->buffer);
}

GstFlowReturn
gpu_histogram_flight_push(GpuHistogramFlight *flight, GpuHistogramFrame *frame)
{
  GstFlowReturn flow = GST_FLOW_FLUSHING;

  g_mutex_lock(&flight->lock);
  if (!is_closed(flight)) {
    flight->frames[(flight->first + flight->n) % flight->depth] = *frame;
    flight->n++;
    flight->n_max = MAX(flight->n_max, flight->n);
    flow = flight->flow;
    flight->flow_told = TRUE;
    g_cond_signal(&flight->arrived);
    frame = NULL;
  }
  g_mutex_unlock(&flight->lock);
  if (frame)
    release_frame(frame);
  return flow;
}

gboolean
gpu_histogram_flight_drain(GpuHistogramFlight *flight)
{
  gboolean empty;

  g_mutex_lock(&flight->lock);
  while ((flight->n > 0 || flight->delivering) && !is_closed(flight))
    g_cond_wait(&flight->idle, &flight->lock);
  empty = flight->n == 0 && !flight->delivering;
  g_mutex_unlock(&flight->lock);
  return empty;
}

GpuHistogramFrame *
gpu_histogram_flight_oldest(GpuHistogramFlight *flight)
{
  GpuHistogramFrame *frame;

  g_mutex_lock(&flight->lock);
  while (flight->n == 0 && !is_closed(flight))
    g_cond_wait(&flight->arrived, &flight->lock);
  frame = is_closed(flight) ? NULL : &flight->frames[flight->first];
  g_mutex_unlock(&flight->lock);
  return frame;
}

/* Called with the lock. */
static void
take_oldest(GpuHistogramFlight *flight, GpuHistogramFrame *frame)
{
  *frame = flight->frames[flight->first];
  flight->frames[flight->first] = (GpuHistogramFrame){0};
  flight->first = (flight->first + 1) % flight->depth;
  flight->n--;
}

void
gpu_histogram_flight_pop(GpuHistogramFlight *flight, GpuHistogramFrame *frame)
{
  g_mutex_lock(&flight->lock);
  take_oldest(flight, frame);
  flight->delivering = TRUE;
  if (flight->n <= flight->depth / 2)
    g_cond_broadcast(&flight->room);
  g_mutex_unlock(&flight->lock);
}

void
gpu_histogram_flight_delivered(GpuHistogramFlight *flight, GstFlowReturn flow,
                               gboolean told)
{
  g_mutex_lock(&flight->lock);
  flight->delivering = FALSE;
  if (!flight->stale_flow && flow != flight->flow) {
    flight->flow = flow;
    flight->flow_told = told;
  }
  flight->stale_flow = FALSE;
  if (flight->n == 0)
    g_cond_broadcast(&flight->idle);
  g_mutex_unlock(&flight->lock);
}

void
gpu_histogram_flight_drop(GpuHistogramFlight *flight)
{
  GpuHistogramFrame frame;

  g_mutex_lock(&flight->lock);
  while (flight->n > 0) {
    take_oldest(flight, &frame);
    g_mutex_unlock(&flight->lock);
    release_frame(&frame);
    g_mutex_lock(&flight->lock);
  }
  g_mutex_unlock(&flight->lock);
}

void
gpu_histogram_flight_forget_flow(GpuHistogramFlight *flight)
{
  g_mutex_lock(&flight->lock);
  flight->flow = GST_FLOW_OK;
  flight->stale_flow = flight->delivering;
  g_mutex_unlock(&flight->lock);
}

GstFlowReturn
gpu_histogram_flight_get_untold_flow(GpuHistogramFlight *flight)
{
  GstFlowReturn flow;

  g_mutex_lock(&flight->lock);
  flow = flight->flow_told ? GST_FLOW_OK : flight->flow;
  g_mutex_unlock(&flight->lock);
  return flow;
}

guint
gpu_histogram_flight_get_max(GpuHistogramFlight *flight)
{
  guint n_max;

  g_mutex_lock(&flight->lock);
  n_max = flight->n_max;
  g_mutex_unlock(&flight->lock);
  return n_max;
}
