#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The written rules of the code, as far as a program can see them.

usage: check.py PROGRAM

PROGRAM lies in a Meson build folder, whose dependency and flag files are read.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODE = ["src", "kernels", "topologies"]
EVERYTHING = CODE + ["test", "analysis", "jobs", ".ci"]
MOST_LINES, MOST_LINES_OF_TESTS, LONG_FUNCTION = 600, 800, 60

# Each library has its one place; for HDF5 that is two files and what they share.
HDF5 = ["src/results.c", "src/results_parts.h", "src/results_table.c"]
PLACES = {
    "mpi.h": "src/cluster.c",
    "omp.h": "src/runner.c",
    "hdf5.h": HDF5,
    "yaml.h": "src/yaml.c",
    "igraph.h": "topologies/igraph_bridge.c",
    "evp.h": "src/attachments.c",
}
BASE = {"src/" + name for name in ("fail.h", "value.h", "rng.h", "bins.h", "stats.h", "wide.h")}
ENGINE_SEES = {"kernels/kernel.h"}
# What describes topologies looks into them, whichever they are.
SEES_MORE = {
    "src/graph_report.c": {"topologies/" + name for name in ("topology.h", "graph.h", "sites.h", "igraph_bridge.h")},
    "src/log.c": {"topologies/igraph_bridge.h"},
}
# Names of policies, laws, balancers and topologies that are plain words as well: messages may use them.
WORDS = {"complete", "line", "left", "edge", "file", "nearest", "none", "points", "regular"}


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, sentence):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED: {sentence}")


def files(folders, *suffixes):
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            named = path.name.endswith(suffixes) or (".sh" in suffixes and path.parent.name == ".ci")
            if path.is_file() and named and "__pycache__" not in path.parts:
                found.append(path)
    return found


def name_of(path):
    return str(path.relative_to(ROOT))


def without_comments(text):
    """C without comments; string literals stay."""
    pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*'
    keep = lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0])
    return re.sub(pattern, keep, text, flags=re.S)


def dependencies(build, source):
    """Source file -> project files and system headers it was compiled from; paths within `source`
    are relative to it."""
    out = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=False).stdout
    found, current = {}, None
    for line in out.splitlines():
        if line and not line[0].isspace():
            current = None
        elif line.strip():
            path = os.path.normpath(build / line.strip())
            if path.startswith(str(source) + os.sep):
                path = os.path.relpath(path, source)
            if current is None:
                # the compiler names the file it compiles first, after its own headers
                current = path if path.endswith(".c") else None
                if current:
                    found.setdefault(current, set())
            else:
                found[current].add(path)
    return found


def libraries(checks, deps):
    units = {u: d for u, d in deps.items() if u.split("/")[0] in CODE}
    for header, place in PLACES.items():
        users = sorted(u for u, d in units.items() if any(os.path.basename(x) == header and x[0] == "/" for x in d))
        places = [name for name in ([place] if isinstance(place, str) else place) if name.endswith(".c")]
        checks.check(users == places, f"{header} is compiled into {users or 'nothing'}, its place is {place}")
    for path in files(CODE, ".c", ".h"):
        for found in re.findall(r"#\s*include\s*[<\"]([^>\"]+)[>\"]", without_comments(path.read_text())):
            base = os.path.basename(found)
            place = PLACES.get("hdf5.h" if base.startswith("hdf5") else base)
            checks.check(place is None or name_of(path) in place, f"{name_of(path)} includes {found}, whose place is {place}")


def direction(checks, deps):
    for unit, used in sorted(deps.items()):
        folder = unit.split("/")[0]
        if folder not in CODE:
            continue
        for header in sorted(x for x in used if x[0] != "/" and x.endswith((".h", ".c", ".def"))):
            where = header.split("/")[0]
            if folder == "src":
                seen = ENGINE_SEES | SEES_MORE.get(unit, set())
                good = where not in ("kernels", "topologies") or header in seen
                checks.check(good, f"the engine looks inside: {unit} depends on {header}")
            elif where == "src":
                checks.check(header in BASE, f"{unit} depends on the engine's {header}")
            if folder == "topologies":
                checks.check(where != "kernels", f"a topology depends on a kernel: {unit} on {header}")
            for siblings in ("kernels/policies/", "kernels/laws/", "kernels/balancers/"):
                same = pathlib.Path(header).stem == pathlib.Path(unit).stem
                if unit.startswith(siblings) and header.startswith(siblings) and not same:
                    others = {pathlib.Path(u).stem for u in deps if u.startswith(siblings)}
                    checks.check(pathlib.Path(header).stem not in others, f"{siblings} include each other: {unit} includes {header}")
    engine = {u for u in deps if u.startswith("src/") and u != "src/main.c"}
    base = {"src/fail.c", "src/value.c", "src/stats.c", "src/number.c"}
    for unit in sorted(engine & base):
        own = BASE | {"src/" + pathlib.Path(unit).stem + ".h"}
        for header in sorted(x for x in deps[unit] if x.startswith("src/")):
            checks.check(header in own, f"the base looks up: {unit} depends on {header}")


def names_of_things():
    """What job files call policies, laws, balancers and topologies, from the lists."""
    names = set()
    lists = {
        "kernels/list.def": "POLICY",
        "kernels/laws.def": "LAW",
        "kernels/balancers.def": "BALANCER",
        "topologies/list.def": "TOPOLOGY",
    }
    for listed, macro in lists.items():
        found = re.findall(rf"^{macro}\((\w+)\)", (ROOT / listed).read_text(), re.M)
        names |= {n.replace("_", "-") for n in found}
    return names


def engine_knows_no_names(checks):
    names = names_of_things()
    checks.check(len(names) >= 16, f"the lists name only {sorted(names)}")
    for path in files(["src"], ".c", ".h"):
        text = re.sub(r"#\s*include[^\n]*", "", without_comments(path.read_text()))
        for literal in re.findall(r'"((?:\\.|[^"\\\n])*)"', text):
            said = set(re.findall(r"[a-z]+(?:-[a-z]+)*", literal)) & (names - WORDS)
            checks.check(not said, f"{name_of(path)} knows {', '.join(sorted(said))} by name: \"{literal}\"")


def text_rules(checks):
    marker = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]) + r")\b")
    machine = re.compile("/wo" + r"rk/|/ro" + r"ot/|/tmp/ba" + "sh|/home/[a-z]")
    for path in files(EVERYTHING, ".c", ".h", ".py", ".sh", ".def", ".yaml", ".in", ".bash") + [ROOT / "meson.build"]:
        text, name = path.read_text(), name_of(path)
        lines = text.splitlines()
        if path.suffix in (".c", ".h", ".py", ".sh", "") or path.name == "meson.build":
            checks.check("SPDX-License-Identifier: GPL-3.0-or-later" in "\n".join(lines[:4]), f"{name} has no SPDX line")
        checks.check("-ffast-" + "math" not in text.replace("no -ffast-" + "math", ""), f"{name} asks for -ffast-" + "math")
        for number, line in enumerate(lines, 1):
            if marker.search(line):
                checks.check(False, f"{name}:{number}: left open: {line.strip()[:80]}")
            if machine.search(line):
                checks.check(False, f"{name}:{number}: a path of one machine: {line.strip()[:80]}")
            if line.rstrip() != line or "\t" in line and path.suffix != ".bash":
                checks.check(False, f"{name}:{number}: a tab, or blanks at the end")
        checks.check(text.endswith("\n"), f"{name} does not end with a new line")
        most = MOST_LINES if name.split("/")[0] in CODE else MOST_LINES_OF_TESTS
        checks.check(len(lines) <= most, f"{name} has {len(lines)} lines (at most {most})")
    stems = {}
    for path in files(CODE, ".c", ".h"):
        stems.setdefault(path.name, []).append(name_of(path))
    for name, where in stems.items():
        checks.check(len(where) == 1, f"two files are called {name}: {where}")


def long_functions():
    found = []
    for path in files(CODE, ".c", ".h"):
        start = None
        for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
            if start is None and re.match(r"[A-Za-z_].*\)\s*\{$|[ \t]+.*\)\s*\{$", line) and not re.match(r"\s+(if|for|while|switch|else|do)\b", line):
                start = number
            elif line.startswith("}"):
                if start and number - start > LONG_FUNCTION:
                    found.append((number - start + 1, f"{name_of(path)}:{start}"))
                start = None
            elif line.startswith("{"):
                start = number
    for length, where in sorted(found, reverse=True):
        print(f"note: {where}: a function of {length} lines (rule of thumb: {LONG_FUNCTION})")


def formatting(checks):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        print("note: no clang-format")
        return
    for path in files(CODE + ["test"], ".c", ".h"):
        done = subprocess.run([tool, "--dry-run", "-Werror", str(path)], capture_output=True, check=False)
        checks.check(done.returncode == 0, f"{name_of(path)} is not as clang-format leaves it")


def headers_alone(checks, build, source):
    """Every header compiles as a file of its own, with the flags of a neighbour."""
    commands = json.loads((build / "compile_commands.json").read_text())
    units = {os.path.relpath(os.path.normpath(build / c["file"]), source): c["command"].split() for c in commands}
    for path in files(CODE, ".h"):
        name = name_of(path)
        folder = name.rsplit("/", 1)[0]
        own = name[:-2] + ".c"
        unit = own if own in units else max(
            (u for u in units if u.startswith(folder + "/")), key=lambda u: len(units[u]), default=None
        )
        if not unit:
            checks.check(False, f"nothing is compiled beside {name}")
            continue
        flags = [w for w in units[unit] if re.match(r"-[IDWfm]|-std|-isystem|-pthread", w) and not w.startswith("-MD")]
        folders = CODE if name.startswith("src/") else ["src", "topologies", "kernels", "kernels/policies"]
        flags += [f"-I{ROOT / f}" for f in folders]
        command = ["gcc", *[w for w in flags if w[:2] != "-I" or "/" in w[2:3]], "-fsyntax-only", "-x", "c", "-"]
        text = f'#include "{path}"\nextern int nothing;\n'
        done = subprocess.run(command, cwd=build, input=text, capture_output=True, text=True, check=False)
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        checks.check(done.returncode == 0, f"{name} does not compile alone: {errors[:2]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    arguments = parser.parse_args()
    build = pathlib.Path(arguments.program).resolve().parent
    info = json.loads((build / "meson-info" / "meson-info.json").read_text())
    source = pathlib.Path(info["directories"]["source"])
    checks = Checks()
    deps = dependencies(build, source)
    checks.check(len(deps) > 40, f"the build folder knows the dependencies of only {len(deps)} units: build first")
    libraries(checks, deps)
    direction(checks, deps)
    engine_knows_no_names(checks)
    text_rules(checks)
    long_functions()
    formatting(checks)
    headers_alone(checks, build, source)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return int(checks.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
