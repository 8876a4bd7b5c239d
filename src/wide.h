/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 128-bit integers under one name (a compiler extension that gcc and clang share). */
#ifndef POTLUCK_WIDE_H
#define POTLUCK_WIDE_H

__extension__ typedef unsigned __int128 uint128;

#endif
