# SPDX-License-Identifier: GPL-3.0-or-later
"""The seal at the end of a result file, which tells whether it is as potluck wrote it."""
from __future__ import annotations

import os
import pathlib
import struct

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


def _digest(data: bytes) -> int:
    h = 0x9E3779B97F4A7C15 ^ len(data)
    padded = data + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        h = ((h ^ word) * 0xFF51AFD7ED558CCD) & _MASK
        h ^= h >> 32
    return h
