/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the parts of the soak share. */

#pragma once

#include "testing.h"

typedef struct {
  GRand *random;
  guint64 checked; /* frames whose counts were found exact */
} Soak;

/* From @first up to, but without, @end. */
guint soak_number(Soak *soak, guint first, guint end);

/* TRUE once in @n times. */
gboolean soak_once_in(Soak *soak, guint n);

/* (transfer full): caps of one of the formats and of a random size. */
gchar *soak_caps(Soak *soak, const gchar *const *formats, guint n_formats);

/* Writes noise over all of the buffer. */
void soak_fill(Soak *soak, GstBuffer *buffer);

/* ---- One element that is never done (soak-element.c) ---- */

typedef struct _SoakElement SoakElement;
SoakElement *soak_element_new(Soak *soak);
void soak_element_free(SoakElement *element);

/* One change of any kind, and some frames. */
void soak_element_step(SoakElement *element);

/* Stops it, and lets go all that it was given. The next step starts it. */
void soak_element_rest(SoakElement *element);

/* ---- Pipelines that come and go (soak-pipelines.c) ---- */

/* A tee into two elements, and into a branch that writes in place. */
void soak_tee(Soak *soak);

/* Flushing seeks in PAUSED and in PLAYING. */
void soak_seeks(Soak *soak);
