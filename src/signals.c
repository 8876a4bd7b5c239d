/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t heard;

void signals_hear(int number) {
    heard = number;
}

int signals_heard(void) {
    return heard;
}

void signals_listen(void) {
    static const int numbers[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP, SIGXCPU};
    struct sigaction before, act = {.sa_handler = signals_hear};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &act, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}
