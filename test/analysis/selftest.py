# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 -m potluck selftest: passes with the program, catches programs that lie, and says what is
missing.

    python3 selftest.py PROGRAM
"""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import potluck  # noqa: E402, F401 - the package of the next
from potluck import selftest  # noqa: E402

#: Programs that lie: words before the true one runs, with its arguments in "$@".
OTHER_SEED = """for i in "$@"; do case $i in *.yaml) sed -i 's/^seed: .*/seed: 99/' "$i";; esac; done
exec {program} "$@"
"""
OTHER_JOB = """for i in "$@"; do case $i in *.yaml) cp {job} "$i";; esac; done
exec {program} "$@"
"""
OTHER_TIES = """for i in "$@"; do case $i in *.yaml) job=$i;; *.h5) out=$i;; esac; done
[ "$1" = run ] || exec {program} "$@"
cp "$job" "$job.kept"
echo 'ties: origin' >> "$job"
{program} "$@" || exit
cp "$job.kept" "$job"
exec {python} -c '
import h5py, sys
with h5py.File(sys.argv[1], "r+") as f:
    f.attrs["job"] = open(sys.argv[2]).read()
    f.attrs["resolved"] = f.attrs["resolved"].replace("ties: origin", "ties: fair")
    f["ties"][...] = "fair"
' "$out" "$job"
"""
DEAR = """{program} "$@" || exit
for i in "$@"; do case $i in *.h5) out=$i;; esac; done
[ -z "$out" ] || exec {python} -c '
import h5py, sys
with h5py.File(sys.argv[1], "r+") as f:
    for name in ("cost", "mean_cost", "se_cost"):
        f[name][...] *= 1.01
' "$out"
"""
#: Another result on one thread: no function of the job alone.
UNSTEADY = """case "$*" in *"--threads 1") last=1;; esac
[ "$last" ] || exec {program} "$@"
for i in "$@"; do case $i in *.yaml) sed 's/^replications: .*/replications: 7/' "$i" > "$i.b"
mv "$i.b" "$i";; esac; done
exec {program} "$@"
"""
SILENT = "exit 0\n"
FAILING = "echo 'potluck: out of luck' >&2; exit 1\n"
passed = failed = 0


def expect(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {seen}")


def selftests(*words: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of the command."""
    env = os.environ | {"PYTHONPATH": str(ROOT / "analysis")} | environment
    command = [sys.executable, "-m", "potluck", "selftest", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout, done.stderr


def liar(folder: pathlib.Path, text: str, program: str) -> str:
    """A program of this text."""
    path, job = folder / "liar", folder / "other.yaml"
    job.write_text("model: balls\nseed: 1\nreplications: 30\ntopology: {ring: {n: 9}}\npolicy: pot\n")
    path.write_text("#!/bin/bash\n" + text.format(program=program, python=sys.executable, job=job))
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


def honest(program: str) -> None:
    code, out, err = selftests("--quick", "--program", program, "--threads", "2")
    expect("it passes", code == 0 and not err, (code, out[-600:], err[-600:]))
    lines = out.splitlines()
    expect("a line for each job", sum(" agree (" in x for x in lines) >= len(selftest.JOBS), out)
    expect("one last sentence", lines[-1].startswith("All is well") and lines[-1].endswith("."), out)


def launched(program: str) -> None:
    """Under mpirun, the two smallest jobs."""
    jobs = selftest.JOBS
    selftest.JOBS = (jobs[1], jobs[4])
    os.environ |= {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
    }
    code = in_process("--launch", "mpirun -n 2", "--program", program, "--threads", "1")
    expect("it passes under mpirun", code == 0, code)
    selftest.JOBS = jobs


def in_process(*words: str) -> int:
    """The exit code, without another interpreter."""
    from potluck import commands

    return commands.main(["selftest", "--quick", *words])


def lies(program: str, folder: pathlib.Path) -> None:
    jobs = selftest.JOBS
    selftest.JOBS = (jobs[0]._replace(quick=60),)
    for name, text, wanted in (
        ("another seed", OTHER_SEED, 3),
        ("another job", OTHER_JOB, 3),
        ("another tie rule", OTHER_TIES, 3),
        ("costs 1 % off", DEAR, 3),
        ("another result on one thread", UNSTEADY, 3),
        ("no result", SILENT, 3),
        ("a program that fails", FAILING, 1),
    ):
        code = in_process("--program", liar(folder, text, program), "--threads", "2")
        expect(f"{name}: exit {wanted}", code == wanted, code)
    selftest.JOBS = jobs


def missing(program: str, folder: pathlib.Path) -> None:
    """What is not there is named in a sentence."""
    for name, words, wanted, said in (
        ("no such program", ("--program", str(folder / "nothing")), 2, "no program"),
        ("no such launcher", ("--program", program, "--launch", "nompirun -n 2"), 1, "nompirun"),
        ("no thread", ("--program", program, "--threads", "0"), 2, "--threads"),
    ):
        code, out, err = selftests(*words)
        one = err.count("\n") == 1 and said in err and "Traceback" not in err and not out
        expect(name, code == wanted and one, (code, out, err))
    nowhere = selftests(POTLUCK="", PATH="/nonexistent")
    if not (ROOT / "build" / "potluck").exists():
        expect("no program at all", nowhere[0] == 1 and "--program" in nowhere[2], nowhere)
    broken = folder / "root"
    broken.write_text("#!/bin/bash\necho 'mpirun has detected an attempt to run as root.' >&2\nexit 1\n")
    broken.chmod(0o755)
    code, _, err = selftests("--program", program, "--launch", str(broken))
    expect("root is told what to set", code == 1 and "OMPI_ALLOW_RUN_AS_ROOT=1" in err, (code, err))


def main() -> int:
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # What the commands print is looked at where it matters, and shown to nobody else.
        sys.stdout.flush()
        kept, out = os.dup(1), os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1)
        err = os.dup(2)
        os.dup2(out, 2)
        try:
            launched(program)
            lies(program, folder)
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.dup2(err, 2)
        if failed:
            print((folder / "said").read_text()[-3000:])
        honest(program)
        missing(program, folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
