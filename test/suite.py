# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one Meson suite without rebuilding and counts its test cases.

    python3 suite.py BUILD SUITE

A program that uses cmocka counts once for each of its cases, one that ends with "N passed, N
failed" as it says, any other program once. Skipped programs count for nothing.
"""
import json
import pathlib
import re
import subprocess
import sys

CMOCKA_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test\(s\)\.", re.M)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] (\d+) test\(s\)", re.M)
OWN_WORDS = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)


def cases(record: dict) -> tuple[int, int]:
    """Passed and failed test cases of one line of Meson's testlog.json."""
    text = record.get("stdout", "") + "\n" + record.get("stderr", "")
    passed = sum(int(n) for n in CMOCKA_PASSED.findall(text))
    failed = sum(int(n) for n in CMOCKA_FAILED.findall(text))
    own = OWN_WORDS.findall(text)
    if own:
        passed, failed = passed + int(own[-1][0]), failed + int(own[-1][1])
    good = record["result"] in ("OK", "EXPECTEDFAIL")
    if record["result"] == "SKIP":
        return 0, 0
    if not good:
        return passed, max(failed, 1)
    return max(passed, 1), failed


def main(build: str, suite: str) -> int:
    log = pathlib.Path(build) / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = [
        "/usr/bin/meson",
        "test",
        "-C",
        build,
        "--no-rebuild",
        "--print-errorlogs",
        "--suite",
        suite,
        "--timeout-multiplier",
        "4",
    ]
    code = subprocess.run(command, check=False).returncode
    passed = failed = 0
    if log.exists():
        for line in log.read_text().splitlines():
            p, f = cases(json.loads(line))
            passed, failed = passed + p, failed + f
    if code != 0 and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
