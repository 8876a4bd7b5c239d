/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Signals that ask a run to save and stop: USR1, USR2, TERM, INT, HUP and XCPU. */
#ifndef POTLUCK_SIGNALS_H
#define POTLUCK_SIGNALS_H

/* From now on they are heard instead of ending the program; those that were ignored stay so, as
 * under nohup. Full disks and closed pipes become errors of the calls that meet them. */
void signals_listen(void);
/* The last one that came, 0: none. */
int signals_heard(void);
/* One came to another rank. */
void signals_hear(int number);

#endif
