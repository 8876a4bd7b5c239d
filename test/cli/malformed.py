#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Malformed job files and command lines against the real program.

usage: malformed.py PROGRAM

Each case must exit with 2, say every expected thing on stderr, say nothing on stdout and leave the folder as it was.
"""
import concurrent.futures
import hashlib
import os
import subprocess
import sys
import tempfile

import _malformed_queues as queues

HEAD = "replications: 9\ntopology: {ring: {n: 20}}\npolicy: pot\n"  # lines 1 to 3; cases go on at line 4

# (job text after HEAD, [(line, column, words), ...]): the whole list of complaints.
APPENDED = [
    ("titel: x\n", [(4, 1, "unknown key 'titel' of model balls (allowed: title,"), (4, 1, "did you mean 'title'?")]),
    ("title: [a, b]\n", [(4, 8, "'title' must be text, not a list")]),
    ("title: {a: b}\n", [(4, 8, "'title' must be text, not a mapping")]),
    ("model: bals\n", [(4, 8, "unknown model 'bals'"), (4, 8, "did you mean 'balls'?")]),
    ("model: [balls, harness]\n", [(4, 8, "'model' must be one word, not a list")]),
    ("model:\n", [(4, 7, "'model' must be one word, not nothing")]),
    ("seed: -1\n", [(4, 7, "'seed' must be one whole number between 0 and 18446744073709551615")]),
    ("seed: 18446744073709551616\n", [(4, 7, "'seed' must be")]),
    ("seed: 1.5\n", [(4, 7, "'seed' must be")]),
    ("seed: '7'\n", [(4, 7, "'seed' must be")]),
    ("seed: [1, 2]\n", [(4, 7, "'seed' must be")]),
    ("seed: tuesday\n", [(4, 7, "not 'tuesday'")]),
    ("seed: 0x1F\n", [(4, 7, "not '0x1F'")]),
    ("replications: 10\n", [(4, 1, "key 'replications' given twice (first on line 1)")]),
    ("balls: 0\n", [(4, 8, "'balls' must be between 1 and")]),
    ("balls: -5\n", [(4, 8, "'balls' must be between 1 and")]),
    ("balls: 1.5\n", [(4, 8, "'balls' must be a whole number, not 1.5")]),
    ("balls: 1.5e0\n", [(4, 8, "'balls' must be a whole number")]),
    ("balls: 0.01n\n", [(4, 8, "0")]),
    ("balls: 50%\n", [(4, 8, "'balls' must be a whole number or a multiple of n such as 10n")]),
    ("balls: 10m\n", [(4, 8, "not '10m'")]),
    ("balls: '10'\n", [(4, 8, "'balls' must be a number, not text")]),
    ("balls: .nan\n", [(4, 8, "not '.nan'")]),
    ("balls: 1e30\n", [(4, 8, "'balls' is too large")]),
    ("balls: 1__0\n", [(4, 8, "not '1__0'")]),
    ("balls: []\n", [(4, 8, "'balls' has an empty list")]),
    ("balls: [5, [6]]\n", [(4, 12, "not a list")]),
    ("balls: [1n, 2n, 1n]\n", [(4, 17, "'1n' is listed twice")]),
    ("balls:\n", [(4, 7, "not nothing")]),
    ("balls: {n: 5}\n", [(4, 8, "not a mapping")]),
    ("ties: fare\n", [(4, 7, "'ties' must be one of fair, origin, smaller-arc"), (4, 7, "did you mean 'fair'?")]),
    ("ties: [fair, fair]\n", [(4, 14, "'fair' is listed twice")]),
    ("ties: 1\n", [(4, 7, "one of fair, origin, smaller-arc, not '1'")]),
    ("method: servants\n", [(4, 9, "did you mean 'servers'?")]),
    ("method: occupancy\n", [(4, 9, "topology complete")]),
    ("baseline: paht\n", [(4, 11, "unknown policy 'paht'"), (4, 11, "did you mean 'pot'?")]),
    ("baseline: ring\n", [(4, 11, "'ring' is a topology, not a policy")]),
    ("baseline: [pot]\n", [(4, 11, "'baseline' takes one value for the whole job")]),
    ("baseline: {unif-pot: {k: [1, 2]}}\n", [(4, 11, "'baseline' takes one policy")]),
    ("baseline: unif-pot\n", [(4, 11, "unif-pot needs 'k'")]),
    ("keep: everything\n", [(4, 7, "'keep' knows no 'everything' (allowed: rows, means")]),
    ("keep: [rows, means]\n", [(4, 14, "either rows or means")]),
    ("keep: [server-load]\n", [(4, 8, "did you mean 'server-loads'?")]),
    ("common: yes\n", [(4, 9, "'common' must be true or false"), (4, 9, "did you mean true?")]),
    ("common: [true, false]\n", [(4, 9, "'common' takes one value")]),
    ("milliseconds: 1\n", [(4, 1, "'milliseconds' is a key of model harness, not of balls")]),
    ("k: 3\n", [(4, 1, "'k' belongs within a policy")]),
    ("sides: 3x3\n", [(4, 1, "'sides' belongs within a topology")]),
    ("temperature: 3\n", [(4, 1, "unknown key 'temperature'")]),
    ("<<: {ties: fair}\n", [(4, 1, "merge keys")]),
    ("ties: !!str fair\n", [(4, 7, "tags")]),
    ("ties: *t\n", [(4, 7, "no anchor &t")]),
    ("title: &t [*t]\n", [(4, 12, "*t stands within &t itself")]),
    ("\tties: fair\n", [(4, 1, "a tab cannot indent")]),
    ("ties: [fair\n", [(5, 1, "did not find expected ',' or ']'")]),
    ("ties: {fair\n", [(5, 1, "did not find expected ',' or '}'")]),
    ("title: \"x\n", [(5, 1, "unexpected end of stream")]),
    ("title: a: b\n", [(4, 9, "mapping values are not allowed")]),
    ("title: @a\n", [(4, 8, "cannot start any token")]),
    ("  ties: fair\n", [(4, 7, "mapping values are not allowed")]),
    ("---\nties: fair\n", [(4, 1, "a second document")]),
    ("title: \"a\\0b\"\n", [(4, 8, "NUL character")]),
    ("? [a]\n: b\n", [(4, 3, "a key must be a word, not a list")]),
    ("title: " + "[" * 40 + "]" * 40 + "\n", [(4, 39, "nested more than 32 deep")]),
]

# (whole job text, complaints)
WHOLE = [
    ("", [(1, 1, "the file is empty")]),
    ("# only a comment\n", [(1, 1, "the file is empty")]),
    ("- a\n- b\n", [(1, 1, "a job must be a mapping")]),
    ("hello\n", [(1, 1, "a job must be a mapping")]),
    ("topology: {ring: {n: 20}}\npolicy: pot\n", [(1, 1, "'replications' is missing")]),
    ("replications: 9\npolicy: pot\n", [(1, 1, "'topology' is missing (a topology)")]),
    ("replications: 9\ntopology: {ring: {n: 20}}\n", [(1, 1, "'policy' is missing (a policy)")]),
    ("model: harness\nreplications: 9\n", [(1, 1, "'milliseconds' is missing")]),
    ("model: harness\nreplications: 9\nmilliseconds: 1\nbaseline: pot\n", [(4, 1, "model harness has no 'baseline'")]),
    ("model: harness\nreplications: 9\nmilliseconds: 1\npolicy: pot\n", [(4, 1, "'policy' is a key of model balls")]),
    ("model: harness\nreplications: 9\nmilliseconds: -1\n", [(3, 15, "'milliseconds' must be between 0 and")]),
]

RULES = [  # values of replications, in line 1
    ("0", [(1, 15, "'replications' must be between 1 and 4294967295, not 0")]),
    ("-3", [(1, 15, "'replications' must be between 1")]),
    ("1e12", [(1, 15, "'replications' must be between 1")]),
    ("2.5", [(1, 15, "'replications' must be a whole number")]),
    ("lots", [(1, 15, "'replications' must be a whole number, not 'lots'")]),
    ("[10, 20]", [(1, 15, "'replications' takes one value")]),
    ("{min: 50, max: 100}", [(1, 15, "'replications' needs 'until'")]),
    ("{min: 50, until: {max_load: 1%}}", [(1, 15, "'replications' needs 'max'")]),
    ("{max: 100, until: {maxload: 1%}}", [(1, 34, "unknown statistic 'maxload'"), (1, 34, "did you mean 'max_load'?")]),
    ("{max: 100, until: {cost: 1%}}", [(1, 40, "the mean of 'cost' can be 0")]),
    ("{max: 100, until: {max_load: 0}}", [(1, 44, "must be above 0")]),
    ("{max: 100, until: {max_load: tight}}", [(1, 44, "must be a percentage (relative) or a number (absolute)")]),
    ("{max: 100, until: max_load}", [(1, 33, "'until' must say which statistic")]),
    ("{min: 10, max: 100, until: {max_load: 1%}}", [(1, 21, "'min' must be between 30")]),
    ("{min: 90, max: 40, until: {max_load: 1%}}", [(1, 30, "'max' must be at least 'min', 90, not 40")]),
    ("{minimum: 90, max: 99, until: {max_load: 1%}}", [(1, 16, "unknown key 'minimum' in 'replications'"), (1, 16, "did you mean 'min'?")]),
]

TOPOLOGIES = [  # values of topology, in line 2
    ("rign", [(2, 11, "unknown topology 'rign'"), (2, 11, "did you mean 'ring'?")]),
    ("ring", [(2, 11, "ring needs 'n' (a whole number")]),
    ("pot", [(2, 11, "'pot' is a policy, not a topology")]),
    ("{ring: 20}", [(2, 18, "ring takes its parameters by name (ring: {n: ...})")]),
    ("{ring: {n: 0}}", [(2, 22, "'n' must be between 1")]),
    ("{ring: {n: 1n}}", [(2, 22, "'n' must be a plain whole number, not a multiple of n")]),
    ("{ring: {m: 5, n: 5}}", [(2, 19, "unknown parameter 'm' of ring (allowed: n")]),
    ("{ring: {n: 5}, torus: {sides: 3x3}}", [(2, 26, "'topology' takes one topology at a time")]),
    ("{torus: {sides: 3x}}", [(2, 27, "'sides' must be whole numbers such as 100x100")]),
    ("{torus: {sides: [3, 0]}}", [(2, 31, "'sides' must be between 1")]),
    ("{torus: {sides: []}}", [(2, 27, "'sides'")]),
    ("{torus: {sides: 100000x100000}}", [(2, 27, "servers")]),
    ("{torus: {side: 3x3}}", [(2, 20, "did you mean 'sides'?"), (2, 12, "torus needs 'sides'")]),
    ("{hypercube: {dim: 64}}", [(2, 29, "'dim' must be between 0 and")]),
    ("{tree: {n: 7, children: 0}}", [(2, 35, "'children' must be between 1")]),
    ("[]", [(2, 11, "'topology' has an empty list")]),
    ("[ring: {n: 5}, ring: {n: [4, 5]}]", [(2, 26, "'ring: {n: 5}' is listed twice")]),
    ("\n  - ring:\n    n: 5", [(4, 5, "'n' stands beside 'ring', not within it (indent it further")]),
]

POLICIES = [  # values of policy, in line 3
    ("unif_pot", [(3, 9, "unknown policy 'unif_pot'"), (3, 9, "did you mean 'unif-pot'?")]),
    ("unif-pot", [(3, 9, "unif-pot needs 'k'")]),
    ("{unif-pot: {kk: 5, k: 1}}", [(3, 21, "unknown parameter 'kk' of unif-pot (allowed: k, self; did you mean 'k'?)")]),
    ("{unif-pot: {k: 0}}", [(3, 24, "'k' must be between 1")]),
    ("{unif-pot: {k: [1, x]}}", [(3, 28, "'k' must be a whole number")]),
    ("{unif-pot: {k: 2, self: yes}}", [(3, 33, "'self' must be one of excluded, included")]),
    ("{pot: {k: 2}}", [(3, 16, "unknown parameter 'k' of pot (allowed: none)")]),
    ("{choices: {d: 0}}", [(3, 23, "'d' must be between 1")]),
    ("{choices: {d: 30, distinct: true}}", [(3, 23, "30")]),
    ("{choices: {distinct: maybe}}", [(3, 30, "'distinct' must be true or false")]),
    ("{left: {d: 21}}", [(3, 20, "21")]),
    ("one-plus-beta", [(3, 9, "one-plus-beta needs 'beta'")]),
    ("{one-plus-beta: {beta: 1.5}}", [(3, 32, "'beta' must be between 0 and 1, not 1.5")]),
    ("{one-plus-beta: {beta: 150%}}", [(3, 32, "'beta' must be between 0 and 1")]),
    ("[pot, pot]", [(3, 15, "'pot' is listed twice")]),
    ("[pot, [unif-pot]]", [(3, 15, "'policy' must be a policy, not a list")]),
    ("one-choice\nties: origin", [(4, 1, "'ties' makes no difference to any point of this job")]),
]

# Many mistakes, all of them at once.
MANY = [
    (
        "titel: a\nseed: x\nreplications: {min: 3, max: 9}\ntopology: [rign, ring: {n: 0}, torus: {sides: 3y3}]\n"
        "policy: [pots, unif-pot: {kk: 1}, left: {d: many}]\nballs: [1n, 2m]\nties: fear\nkeep: nothing\ncommon: 1\n",
        [
            (1, 1, "did you mean 'title'?"), (2, 7, "'seed'"), (3, 21, "'min'"), (3, 29, "'max'"), (3, 15, "'until'"),
            (4, 12, "did you mean 'ring'?"), (4, 28, "'n' must be"), (4, 47, "'sides' must be"),
            (5, 10, "unknown policy 'pots'"), (5, 27, "did you mean 'k'?"), (5, 16, "unif-pot needs 'k'"),
            (5, 45, "'d' must be"), (6, 13, "'balls' must be"), (7, 7, "did you mean 'fair'?"), (8, 7, "'keep'"),
            (9, 9, "'common'"),
        ],
    ),
    (
        "replications: 9\nreplications: 10\ntopology: {ring: {n: 5, n: 6}}\npolicy: !x pot\npolicy: edge\n<<: {}\n",
        [
            (2, 1, "given twice (first on line 1)"), (3, 25, "key 'n' given twice"), (4, 9, "tags"),
            (5, 1, "key 'policy' given twice (first on line 4)"), (6, 1, "merge keys"),
        ],
    ),
    (
        "replications: 9\ntopology: [ring: {n: 20}, complete: {n: 4}]\npolicy: [pot, unif-pot: {k: 2}]\nballs: [1n, 0.01n]\n"
        "method: [servers, occupancy]\n",
        [(4, 13, ""), (5, 19, "")],
    ),
]

BYTES = [
    (b"replications: 9\ntitle: caf\xe9\n", [(2, 11, "not UTF-8 text (byte 0xe9)")]),
    (b"replications: 9\ntitle: a\0b\n", [(2, 9, "NUL byte")]),
    (b"replications: 9\ntitle: a\x07\n", [(2, 9, "control character")]),
    (b"\xff\xfer\0e\0p\0", [(1, 1, "not UTF-8")]),
    (b"\x89HDF\r\n\x1a\n", [(1, 1, "this is an HDF5 file")]),
    (b"a: " + b" " * (1 << 23) + b"1\n", [(1, 1, "larger than")]),
    (b"a: 1\rb: [\r", [(3, 1, "expected")]),
]

# (arguments, words on stderr); good.yaml is a valid job, old.h5 is no HDF5 file.
COMMANDS = [
    ([], ["potluck run JOB.yaml"]),
    (["rum", "good.yaml"], ["unknown command 'rum'", "did you mean 'run'?"]),
    (["good.yaml"], ["did you mean 'potluck run good.yaml'?"]),
    (["--threads", "2", "run", "good.yaml"], ["the command comes before its options"]),
    (["run"], ["run needs a file: potluck run JOB.yaml"]),
    (["plan"], ["plan needs a file"]),
    (["show"], ["show needs a file"]),
    (["run", ""], ["run needs a file"]),
    (["run", "good.yaml", "more.yaml"], ["'more.yaml' is too many"]),
    (["run", "missing.yaml"], ["missing.yaml", "cannot be read: No such file or directory"]),
    (["plan", "missing.yaml"], ["missing.yaml", "cannot be read"]),
    (["run", "."], [".: cannot be read: Is a directory"]),
    (["run", "good.yaml", "--thread", "2"], ["unknown option '--thread'", "did you mean '--threads'?"]),
    (["run", "good.yaml", "-q"], ["unknown option '-q'"]),
    (["run", "good.yaml", "--threads"], ["--threads needs a value"]),
    (["run", "good.yaml", "--threads", "0"], ["--threads must be between 1 and 4096, not 0"]),
    (["run", "good.yaml", "--threads=two"], ["--threads must be a whole number, not 'two'"]),
    (["run", "good.yaml", "-r", "0"], ["-r must be between 1"]),
    (["run", "good.yaml", "-r", "1.5"], ["-r must be a whole number"]),
    (["run", "good.yaml", "-r", "5", "-r", "6"], ["-r is given twice"]),
    (["run", "good.yaml", "--max-time", "soon"], ["--max-time must be a time such as 90, 90s, 10m"]),
    (["run", "good.yaml", "--max-time", "0"], ["--max-time must be above zero"]),
    (["run", "good.yaml", "--checkpoint", "-1"], ["--checkpoint must be"]),
    (["run", "good.yaml", "--memory", "2Q"], ["--memory must be a size such as 512M or 2G"]),
    (["run", "good.yaml", "--memory", "1K"], ["--memory must be between 1M"]),
    (["run", "good.yaml", "--only", "first"], ["--only must be POINT or POINT:REPLICATION"]),
    (["run", "good.yaml", "--only", "99"], ["99"]),
    (["run", "good.yaml", "--progress", "fancy"], ["--progress must be auto, line, plain or none"]),
    (["run", "good.yaml", "--resume", "--force"], ["--force contradicts --resume"]),
    (["run", "good.yaml", "--accept-source"], ["only with --resume"]),
    (["run", "good.yaml", "--force=1"], ["--force takes no value"]),
    (["run", "good.yaml", "-o", "good.yaml"], ["would replace the job file"]),
    (["run", "good.yaml", "-o", "folder/"], ["-o must be the name of a file"]),
    (["run", "good.yaml", "-o", "old.h5"], ["old.h5"]),
    (["run", "good.yaml", "-o", "old.h5", "--resume"], ["old.h5"]),
    (["run", "good.yaml", "--csv"], ["--csv is an option of show, not of run"]),
    (["run", "good.yaml", "-r", "x", "--threads", "0", "--memory", "y"], ["-r must", "--threads must", "--memory must"]),
    (["show", "good.yaml"], ["good.yaml"]),
    (["show", "missing.h5"], ["missing.h5"]),
    (["show", "old.h5"], ["old.h5"]),
    (["show", "old.h5", "--csv", "--json"], ["--json contradicts --csv"]),
    (["show", "old.h5", "--resume"], ["--resume is an option of run, not of show"]),
    (["list", "topologys"], ["unknown topic 'topologys'", "did you mean 'topologies'?"]),
    (["list", "models", "policies"], ["'policies' is too many"]),
    (["help", "rum"], ["unknown command 'rum'"]),
]

GOOD = "replications: 9\nseed: 1\ntopology: {ring: {n: 20}}\npolicy: [pot, one-choice]\n"


def job_cases():
    """Every malformed job file as (bytes, complaints)."""
    for text, expected in APPENDED:
        yield (HEAD + text).encode(), expected
    for text, expected in WHOLE + MANY:
        yield text.encode(), expected
    lines = HEAD.split("\n")
    for at, key, table in ((0, "replications", RULES), (1, "topology", TOPOLOGIES), (2, "policy", POLICIES)):
        for value, expected in table:
            changed = list(lines)
            changed[at] = f"{key}: {value}"
            yield "\n".join(changed).encode(), expected
    yield from BYTES


def snapshot(folder):
    """Names and contents of everything in a folder."""
    found = {}
    for path, _, files in os.walk(folder):
        found[path] = None
        for name in files:
            full = os.path.join(path, name)
            with open(full, "rb") as f:
                found[full] = hashlib.sha256(f.read()).hexdigest()
    return found


def check(program, arguments, files, needles):
    """Runs one case in a folder of its own; returns what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        before = snapshot(folder)
        done = subprocess.run([program] + arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120)
        wrong = []
        said = done.stderr.decode(errors="replace")
        if done.returncode != 2:
            wrong.append(f"exit code {done.returncode}, not 2")
        if done.stdout:
            wrong.append(f"stdout has {done.stdout[:200]!r}")
        for needle in needles:
            if isinstance(needle, str):
                fine = needle in said
            else:
                line, column, words = needle
                start = f"job.yaml:{line}:{column}: "
                fine = any(s.startswith(start) and words in s for s in said.split("\n"))
            if not fine:
                wrong.append(f"lacks {needle}")
        if snapshot(folder) != before:
            wrong.append("the folder has changed")
        if wrong:
            wrong.append("stderr was:\n" + said)
        return wrong


def main():
    program = os.path.abspath(sys.argv[1])
    cases = []
    for number, (text, expected) in enumerate(job_cases()):
        command = "plan" if number % 4 == 3 else "run"
        cases.append((text[:300], [command, "job.yaml"], {"job.yaml": text}, expected))
    for text, expected in queues.cases():
        cases.append((text, ["plan", "job.yaml"], {"job.yaml": text.encode()} | queues.FILES, expected))
    files = {"good.yaml": GOOD.encode(), "old.h5": b"not a result\n"}
    for arguments, expected in COMMANDS:
        cases.append((" ".join(arguments), arguments, files, expected))
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda c: check(program, *c[1:]), cases)
        for case, wrong in zip(cases, results):
            if not wrong:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {case[0]!r}")
            for w in wrong:
                print("   ", w)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
