#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a result file open in the readers that people use?

readers.py FILE: every variable must show in xarray (engine h5netcdf), h5py, ``h5dump -H`` and
``ncdump -h`` with the same dimensions, its units and its long name.
"""

import re
import subprocess
import sys

import h5py
import numpy as np
import xarray as xr

ROOT_TEXTS = ("title", "model", "job", "resolved", "potluck_version", "source_revision")
ROOT_NUMBERS = ("seed", "format_version", "complete")


class Tally:
    """Counts checks and prints those that fail."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED: {what}")


def is_scale(dataset):
    return h5py.h5ds.is_scale(dataset.id)


def describe(path):
    """{path in the file: (dimension names, dtype, units, long_name)} as h5py sees it."""
    found = {}

    def visit(name, node):
        if not isinstance(node, h5py.Dataset):
            return
        if is_scale(node):
            dims = (name.split("/")[-1],)
        else:
            dims = tuple(
                axis[0].name.split("/")[-1] if len(axis) == 1 else f"{len(axis)} scales"
                for axis in node.dims
            )
        found[name] = (dims, node.dtype, node.attrs.get("units"), node.attrs.get("long_name"))

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def check_h5py(tally, path, variables):
    """Dimensions have one scale each of the right length, texts are str, root attributes are there."""
    with h5py.File(path, "r") as file:
        for name, (dims, dtype, units, long_name) in variables.items():
            data = file[name]
            tally.check(all(isinstance(d, str) and " " not in d for d in dims), f"h5py {name}: {dims}")
            for i, axis in enumerate(() if is_scale(data) else data.dims):
                tally.check(axis[0].shape == (data.shape[i],), f"h5py {name}: length of axis {i}")
            tally.check(isinstance(units, str) and units, f"h5py {name}: units {units!r}")
            tally.check(isinstance(long_name, str) and long_name, f"h5py {name}: {long_name!r}")
            tally.check(dtype.kind in "iufO", f"h5py {name}: type {dtype}")
            tally.check("_FillValue" not in data.attrs, f"h5py {name}: has a fill value")
            if dtype.kind == "O":
                texts = list(data.asstr()[...].ravel())
                tally.check(all(isinstance(t, str) for t in texts), f"h5py {name}: {texts[:3]}")
        for name in ROOT_TEXTS:
            tally.check(isinstance(file.attrs.get(name), str), f"h5py attribute {name}")
        for name in ROOT_NUMBERS:
            tally.check(isinstance(file.attrs.get(name), np.integer), f"h5py attribute {name}")


def check_xarray(tally, path, variables):
    """The same names, dimensions, types and descriptions, root and state."""
    for group, prefix in ((None, ""), ("state", "state/")):
        with xr.open_dataset(path, engine="h5netcdf", group=group) as ds:
            ours = {n for n in variables if n.startswith(prefix) and "/" not in n[len(prefix):]}
            tally.check({prefix + n for n in ds.variables} == ours, f"xarray: names of {group}")
            for name in sorted(ours):
                dims, dtype, units, long_name = variables[name]
                seen = ds.variables.get(name[len(prefix):])
                if seen is None:
                    tally.check(False, f"xarray lacks {name}")
                    continue
                values = seen.values
                tally.check(seen.dims == dims, f"xarray {name}: {seen.dims}, not {dims}")
                tally.check(seen.attrs.get("units") == units, f"xarray {name}: units")
                tally.check(seen.attrs.get("long_name") == long_name, f"xarray {name}: long_name")
                if dtype.kind == "O":
                    good = all(isinstance(t, str) for t in values.ravel())
                    tally.check(good, f"xarray {name}: not str")
                else:
                    tally.check(values.dtype == dtype, f"xarray {name}: {values.dtype}, not {dtype}")
            if group is None:
                tally.check(isinstance(ds.attrs.get("title"), str), "xarray: title")
                tally.check(isinstance(ds.attrs.get("seed"), np.integer), "xarray: seed")


def run(*command):
    """Output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_h5dump(tally, path, variables):
    """Every dataset with an axis, units and long name."""
    text = run("h5dump", "-H", path)
    blocks = re.split(r'\n *DATASET "([^"]+)" \{', text)
    seen = {}
    for name, body in zip(blocks[1::2], blocks[2::2]):
        seen.setdefault(name, []).append(body)
    for name, (dims, *_rest) in variables.items():
        base = name.split("/")[-1]
        wanted = '"CLASS"' if dims == (base,) else '"DIMENSION_LIST"'
        good = any(
            all(f"ATTRIBUTE {a}" in b for a in ('"units"', '"long_name"', wanted))
            for b in seen.get(base, [])
        )
        tally.check(good, f"h5dump {name}")
    total = sum(len(bodies) for bodies in seen.values())
    tally.check(total == len(variables), f"h5dump shows {total} of {len(variables)}")


def check_ncdump(tally, path, variables):
    """Every variable declared with its dimensions, and no made-up ones."""
    text = run("ncdump", "-h", path)
    tally.check("phony_dim" not in text, "ncdump made up dimensions")
    root, _, state = text.partition("group: state {")
    types = {"u8": "uint64", "i8": "int64", "f8": "double", "u1": "ubyte", "O": "string"}
    for name, (dims, dtype, units, long_name) in variables.items():
        part, base = (state if name.startswith("state/") else root), name.split("/")[-1]
        code = "O" if dtype.kind == "O" else f"{dtype.kind}{dtype.itemsize}"
        line = f"\t{types.get(code)} {base}({', '.join(dims)}) ;"
        tally.check(line in part, f"ncdump lacks '{line.strip()}'")
        for key, value in (("units", units), ("long_name", long_name)):
            shown = value.replace("\\", "\\\\").replace('"', '\\"')
            tally.check(f'{base}:{key} = "{shown}"' in part, f"ncdump {name}: {key}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: readers.py FILE")
    path, tally = sys.argv[1], Tally()
    variables = describe(path)
    tally.check(len(variables) > 0, "the file has no variables")
    check_h5py(tally, path, variables)
    check_xarray(tally, path, variables)
    check_h5dump(tally, path, variables)
    check_ncdump(tally, path, variables)
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
