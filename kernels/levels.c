/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Picks the compiled level that suits the processor. Built once, without level flags. */
#include "kernel.h"

const char *const level_name[LEVELS] = {"baseline", "avx2", "avx512"};

extern const struct catalogue models_baseline;
#ifdef __x86_64__
extern const struct catalogue models_avx2, models_avx512;
#endif

enum level level_best(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return LEVEL_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return LEVEL_AVX2;
#endif
    return LEVEL_BASELINE;
}

const struct catalogue *models_at(enum level level) {
#ifdef __x86_64__
    if (level == LEVEL_AVX512)
        return &models_avx512;
    if (level == LEVEL_AVX2)
        return &models_avx2;
#endif
    (void)level;
    return &models_baseline;
}
