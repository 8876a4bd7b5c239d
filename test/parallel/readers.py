#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of a file that is being written.

usage: readers.py PROGRAM

One process keeps a snapshot open in h5py, another opens the file with xarray again and again, `potluck show` looks in
now and then, while a run replaces the file some 300 times: the run does not wait for them, they never see half a
file, and the end has the bytes of a run that nobody watched.
"""
import multiprocessing
import pathlib
import sys

import h5py
import numpy as np
import xarray

from _common import Checks, digest, until, wait
from _runs import MemoryLab, faults, sealed, snapshots

# A stopping rule that is never met hands out small ranges to the end, so that there always is something to save;
# players that sleep leave the cores to the readers.
JOB = """
title: watched
seed: 5
model: harness
replications: {min: 30, max: 700, until: {replication_index: 0.00001}}
milliseconds: [48, 49.1, 50.2, 51.3]
how: sleep
"""
TOTAL = 4 * 700
PLAYERS = 8
SNAPSHOTS = 200


def hold(path, answers, over):
    """Keeps an early snapshot open until the run is over; what it holds stays as it was."""
    until(path.exists)
    with h5py.File(path) as f:
        first = f["replications"][:], f["replication_index"][:]
        answers.put(int(first[0].sum()))
        over.wait(120)
        again = f["replications"][:], f["replication_index"][:]
        answers.put(all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, again)))


def reopen(path, answers, over):
    """Opens the file again and again until the run is over; answers with how often, with how many different states
    it saw and with what was wrong."""
    until(path.exists)
    wrong, opened, last, states, late = [], 0, np.zeros(4), set(), False
    while not late and len(wrong) < 5:
        late = over.is_set()
        try:
            with xarray.open_dataset(path, engine="h5netcdf") as data:
                counts = data["replications"].values
                rows = data["replication_index"].notnull().sum("replication").values
                complete = int(data.attrs["complete"])
        except Exception as error:  # whatever a reader might meet
            wrong.append(repr(error))
            continue
        if not np.array_equal(counts, rows):
            wrong.append(f"`replications` is {counts}, rows {rows}")
        if (counts < last).any():
            wrong.append(f"{counts} replications after {last}")
        if complete != (counts.sum() == TOTAL):
            wrong.append(f"`complete` is {complete} with {counts} replications")
        opened, last = opened + 1, counts
        states.add(int(counts.sum()))
    answers.put((opened, len(states), wrong))


def main():
    checks = Checks()
    with MemoryLab(sys.argv[1]) as lab:
        job, out, alone = lab.job(JOB), lab.fresh(), lab.fresh()
        answers = {reader: multiprocessing.Queue() for reader in (hold, reopen)}
        readers, over = [], multiprocessing.Event()
        for reader, queue in answers.items():
            readers.append(multiprocessing.Process(target=reader, args=(out, queue, over), daemon=True))
            readers[-1].start()
        unwatched = lab.start(lab.command(job, alone, "--threads", PLAYERS))
        words = lab.command(job, out, "--threads", PLAYERS, "--checkpoint", 0.01)
        watched = lab.start(words, env=faults(lab)("none", out, lab.folder / "mark"))
        while not until(lambda: watched.poll() is not None, 1):
            if out.exists():
                sealed(checks, lab, out, "show of a running job")
        code, _, err = wait(watched)
        over.set()
        checks.same(code, 0, f"exit code of the run that is watched ({err.strip()})")
        checks.same(wait(unwatched)[0], 0, "exit code of the run that is not watched")
        checks.same(digest(out), digest(alone), "SHA-256 of the run that is watched")
        number = len(snapshots(out))
        checks.check(number >= SNAPSHOTS, f"only {number} snapshots: the test shows little")
        held, unchanged = answers[hold].get(timeout=60), answers[hold].get(timeout=60)
        checks.check(held < TOTAL / 10 and unchanged, f"held with {held} replications, as it was: {unchanged}")
        opened, states, wrong = answers[reopen].get(timeout=60)
        checks.same(wrong, [], "what a reader met")
        checks.check(states >= 20, f"opened {opened} times, only {states} different snapshots seen")
        for reader in readers:
            reader.join(10)
        left = sorted(p.name for p in pathlib.Path(lab.folder).iterdir() if p.suffix in (".tmp", ".lock"))
        checks.same(left, [], "files left behind")
        print(f"note: {number} snapshots, {states} of them seen by a reader that opened the file {opened} times")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
