# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are written whole or not at all."""
from __future__ import annotations

import os
import pathlib


def write(path: str | os.PathLike, data: bytes) -> None:
    """Write a file beside its place, then put it there; one that exists is replaced. What is no
    regular file, such as a device, is written to.

    Raises
    ------
    OSError
        With the name that was asked for; what was there before is untouched.
    """
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as reason:
        raise type(reason)(reason.errno, reason.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)
