/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the fake driver has given out. */

#pragma once

typedef void (*FakeFree)(void *object);

/* Returns 0 where there is no memory; the object is then freed. */
int fake_object_add(void *object, FakeFree release);

/* Frees it. */
void fake_object_remove(void *object);

/* Frees all that there are, the oldest first, so that a stream finishes before
 * the memory that it works on goes, and returns how many that were. */
unsigned fake_object_remove_all(void);

unsigned fake_object_count(void);
