# SPDX-License-Identifier: GPL-3.0-or-later
"""The seal at the end of a result file, which tells whether it is as potluck wrote it."""
from __future__ import annotations

import contextlib
import os
import pathlib
import struct
import sys

import potluck

#: Bytes of a file beyond which nobody waits for its seal.
PATIENCE = 1 << 27
_WORDS = b"\npotluck seal: "
_SIZE = len(_WORDS) + 17
_MASK = (1 << 64) - 1


def holds(path: str | os.PathLike) -> bool:
    """Whether a file ends with a seal of all that is before it; takes a second for 15 MB.

    The seal is 64 bits of a multiplicative hash, as src/wholefile.c writes it: it finds what
    happens to files by chance or by another program's writing, not forgeries.
    """
    data = pathlib.Path(path).read_bytes()
    body, end = data[:-_SIZE], data[-_SIZE:]
    return end == _WORDS + b"%016x\n" % _digest(body)


def state(path: str | os.PathLike) -> bool | None:
    """Whether the seal holds; None where the file is too large to find out in passing."""
    return holds(path) if os.path.getsize(path) <= PATIENCE else None


def refuse_deadly(path: str | os.PathLike) -> None:
    """Some damage makes the HDF5 library itself crash (1.10 frees what it never had), which nothing
    can catch: where the seal does not hold, another process reads the file first.

    Raises
    ------
    potluck.Damaged
        When that process dies. Not for programs with threads of their own: it forks.
    """
    if not os.path.isfile(path) or not hasattr(os, "fork") or state(path):
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with contextlib.suppress(BaseException), potluck.open(path) as ds:
            ds.load()
        os._exit(0)
    if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        raise potluck.Damaged(f"{path} is damaged: the HDF5 library crashes when it reads it")


# -------------------------------------------------------------------------------------------------


def _digest(data: bytes) -> int:
    h = 0x9E3779B97F4A7C15 ^ len(data)
    padded = data + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        h = ((h ^ word) * 0xFF51AFD7ED558CCD) & _MASK
        h ^= h >> 32
    return h
