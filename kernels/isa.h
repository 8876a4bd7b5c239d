/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names of globals that exist once per instruction-set level. */
#ifndef POTLUCK_ISA_H
#define POTLUCK_ISA_H

#ifndef ISA_LEVEL
#define ISA_LEVEL baseline /* overridden by the build: baseline, avx2, avx512 */
#endif
#define ISA_JOIN_(name, level) name##_##level
#define ISA_JOIN(name, level) ISA_JOIN_(name, level)
#define ISA(name) ISA_JOIN(name, ISA_LEVEL)

#endif
