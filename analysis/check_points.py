# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the points of a file are those of its job, in the order of its axes."""
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from potluck import naming
from potluck.formulas_base import Point

if TYPE_CHECKING:
    from potluck.check_identities import Identity

#: Keys of a job that are no axes, whatever they hold.
_NO_AXES = ("title", "model", "seed", "replications", "keep", "baseline", "common")
#: Keys whose one value is a list.
_VECTORS = ("arrival_rates", "service_rates")


def all_of(ds: xr.Dataset, points: list[Point]) -> Iterator[Identity]:
    """The number of points, and for each its parameters and its label."""
    from potluck.check_identities import Identity  # pylint: disable=import-outside-toplevel

    found = axes(str(ds.attrs.get("resolved", "")))
    total = math.prod(len(entries) for entries in found.values())
    if found and "file" not in ds.coords:
        if total != len(points):
            yield Identity(0, "point", "points of the job", len(points), total, False)
        else:
            stride = total
            for key, entries in found.items():
                stride //= len(entries)
                for i, point in enumerate(points):
                    entry = entries[i // stride % len(entries)]
                    wrong = _differs(key, entry, point, list(found))
                    if wrong:
                        yield Identity(i, wrong, "parameters as in the job", *_nan2(), False)
    for i, point in enumerate(points):
        wrong = _label_differs(str(point["label"]), point)
        yield Identity(i, wrong or "label", "parameters as in the label", *_nan2(), not wrong)


def _nan2() -> tuple[float, float]:
    return math.nan, math.nan


def axes(resolved: str) -> dict[str, list[str]]:
    """Keys of a resolved job with their entries, in the order of the job; only lists of one level
    and entries of one line, as the program writes them.
    """
    out: dict[str, list[str]] = {}
    key = ""
    for line in resolved.splitlines():
        if line.startswith("  - ") and key in out:
            out[key].append(line[4:].strip())
            continue
        head = re.match(r"([\w]+):(?: (.*))?$", line)
        if not head:
            continue
        key, value = head[1], (head[2] or "").strip()
        if key in _NO_AXES:
            key = ""
        elif value.startswith("["):
            entries = split(value[1:-1])
            single = key in _VECTORS and not entries[0].startswith("[")
            out[key] = [value] if single else entries
        else:
            out[key] = [value] if value else []
    return {k: v for k, v in out.items() if v}


def split(text: str) -> list[str]:
    """Parts between commas that no bracket or quotation mark encloses."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "[{(":
            depth += 1
        elif not quoted and c in "]})":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def _entry(text: str) -> tuple[str, dict[str, str]]:
    """Name and parameters of `unif-pot: {k: 1, self: excluded}`."""
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    found = re.match(r"([\w-]+): *\{(.*)\}$", text)
    if not found:
        return text, {}
    given = {}
    for part in split(found[2]):
        name, _, value = part.partition(":")
        given[name.strip()] = value.strip()
    return found[1], given


def _differs(key: str, text: str, point: Point, keys: list[str]) -> str:
    """The column in which a point is not what an entry of the job says, or nothing."""
    name, given = _entry(text)
    if key in point and name != "unset" and not _agrees(name, point[key], point):
        return key
    for parameter, value in given.items():
        names = (f"{key}_own_{parameter}", f"{key}_{parameter}", parameter)
        column = next((c for c in names if c in point and c not in keys), "")
        known = column and value != "unset" and not value.startswith("{")
        if known and not _agrees(value, point[column], point):
            return column
    return ""


def _agrees(text: str, value: object, point: Point) -> bool:
    """Whether a value of a job and one of a column are the same; yes where that cannot be told."""
    if not naming.present(value) or text.startswith("{"):
        return True
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        if text in ("true", "false"):
            return bool(value) == (text == "true")
        times = re.fullmatch(r"([\d.e+-]+)n", text)
        try:
            wanted = float(times[1]) * naming.servers(point) if times else float(text)
        except ValueError:
            return True
        return bool(np.isnan(wanted) or abs(float(value) - wanted) <= max(1e-9 * abs(wanted), 1e-15)
                    or (times is not None and abs(float(value) - wanted) <= 1))
    shown = str(value)
    if text.startswith("["):
        return shown in ("x".join(split(text[1:-1])), " ".join(split(text[1:-1]))) or "." in shown
    return shown == text.strip('"') or "@" in text or "/" in text


def _label_differs(label: str, point: Point) -> str:
    """The column in which a label is not what the point says, or nothing."""
    bare = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\]", "", label)
    for name, value in re.findall(r"([\w-]+)=([^\s,=]+)", bare):
        columns = [c for c in point if c == name or c.endswith(f"_{name}")]
        columns = [c for c in columns if not naming.is_result(c) and naming.present(point[c])]
        if columns and not any(_agrees(value, point[c], point) for c in columns):
            return columns[0]
    words = [w.split(" ")[0] for w in bare.split(", ") if "=" not in w.split(" ")[0]]
    own = [str(point.get(c)) for c in ("topology", "policy") if naming.present(point.get(c))]
    for word in words:
        if word and own and word not in own and word != point.get("model"):
            return "policy"
    return ""
