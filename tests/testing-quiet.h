/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* To be included last, where a frame is checked. Check writes each assertion
 * that holds into a file; the hundreds of each frame would fill the disk in a
 * long run. So here only one that does not hold gets to Check. */

#pragma once

#undef fail_unless
#define fail_unless(expr, ...)                                                 \
  ((expr)                                                                      \
       ? (void)0                                                               \
       : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", \
                           ##__VA_ARGS__, NULL))
