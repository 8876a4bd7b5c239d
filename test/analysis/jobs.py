# SPDX-License-Identifier: GPL-3.0-or-later
"""The example jobs: they play, agree with theory, have the figures that jobs/README.md lists; and whether the numbers that
README prints of them come out.

    python3 jobs.py PROGRAM

A value left out of an axis leaves the others' numbers as they are, so part of a job, at its full
number of replications, must give its lines of the table to the printed digit.
"""
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))

import potluck  # noqa: E402
import topologies  # noqa: E402
import yaml  # noqa: E402
from potluck import commands, figures  # noqa: E402

COLUMNS = ["unif-pot{1}", "unif-pot{3}", "invsq-pot{3}"]
#: Lines of README's table that take seconds to play.
CHEAP = ("ring", "torus", "star", "tree", "named")
passed = failed = 0


def check(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {seen}")


def run(*command: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


def shortened(text: str) -> str:
    """What takes seconds: fewer servers where many are one value of several, a DHT ring for minutes instead of hours."""
    text = re.sub(r"(\[[\d, ]*), 100000(, 1000000)?\]", r"\1]", text)
    times = re.compile(r"\b(duration|record_from|shift): (\d{4,})")
    if not times.search(text):
        return text
    return times.sub(lambda m: f"{m[1]}: {int(m[2]) // 60}", text) + "balance_from: 10\n"


def every_job(program: str, folder: pathlib.Path) -> None:
    """plan accepts it, two replications of it play, README of the folder lists it."""
    listed = (ROOT / "jobs" / "README.md").read_text()
    for job in sorted((ROOT / "jobs").glob("*.yaml")):
        text, out = shortened(job.read_text()), folder / f"{job.stem}.h5"
        played = job
        if text != job.read_text():
            played = folder / job.name
            played.write_text(text)
        check(f"{job.name} begins with its question", re.match(r"# [^\n]*(\n# [^\n]*)*\?", text))
        check(f"jobs/README.md lists {job.name}", f"`{job.name}`" in listed)
        plan = run(program, "plan", job)
        check(f"plan {job.name}", plan.returncode == 0 and "time: about" in plan.stdout, plan.stderr)
        done = run(program, "run", played, "-r", 2, "-o", out, "--progress", "none")
        check(f"run {job.name} -r 2", done.returncode == 0, done.stderr)
        if done.returncode == 0:
            with potluck.open(out) as ds:
                table = potluck.frame(ds)
                check(f"{job.name} is in its result", ds.attrs["job"] == text)
            check(f"{job.name}: all points", (table["replications"] == 2).all())
            if "mean_max_load" in table:
                check(f"{job.name}: maximum loads", (table["mean_max_load"] >= 1).all())
            if len(table) <= 60:  # of more, nothing but time is to be expected
                code, said = potluck_command("check", out)
                check(f"check of {job.name}", code == 0, said[-400:])
            figures_of(job.stem, listed, out)
            if job.stem != "quickstart":
                out.unlink()


def potluck_command(*arguments: object) -> tuple[int, str]:
    """What `python3 -m potluck` would say, without starting Python anew for each."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = commands.main([str(a) for a in arguments])
    return code, said.getvalue()


def figures_of(name: str, listed: str, out: pathlib.Path) -> None:
    """Every figure that jobs/README.md lists for the job."""
    row = re.search(rf"^\| `{name}\.yaml` \|.*\| (.*) \|$", listed, re.M)
    figures = re.findall(r"`([\w-]+)`", row[1]) if row else []
    check(f"jobs/README.md lists figures of {name}", figures)
    for figure in figures:
        picture = out.with_suffix(".png")
        code, said = potluck_command(figure, out, picture)
        check(f"{figure} of {name}", code == 0 and not said and picture.stat().st_size > 10_000, said)


def readme_python(folder: pathlib.Path) -> None:
    """README's Python, where quickstart.h5 is."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    check("README shows Python", len(blocks) == 1, len(blocks))
    (folder / "more.h5").write_bytes((folder / "quickstart.h5").read_bytes())
    for text in blocks:
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(ROOT / "analysis"), "MPLBACKEND": "Agg"},
        )
        check("README's Python", done.returncode == 0 and not done.stderr, done.stderr)
    check("README's figure", (folder / "tradeoff.pdf").exists())
    for name in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| .*\|$", figure_table(), re.M):
        for figure in re.findall(r"`(\w+)`", name):
            check(f"README's figure {figure}", figure in {p.name for p in figures.PLOTS})
    told = set(re.findall(r"`(\w+)`", figure_table()))
    check("README lists every figure", {p.name for p in figures.PLOTS} <= told, told)


def figure_table() -> str:
    text = (ROOT / "README.md").read_text()
    start = text.index("| figure | shows |")
    return text[start : text.index("\n\n", start)]


def as_in_readme(program: str, folder: pathlib.Path) -> None:
    """The cheap lines of the table of topologies."""
    printed = (ROOT / "README.md").read_text().splitlines()
    job = yaml.safe_load((ROOT / "jobs" / "proximity-topologies.yaml").read_text())
    job["topology"] = [t for t in job["topology"] if next(iter(t)) in CHEAP]
    job["policy"] = ["pot", {"unif-pot": {"k": [1, 3]}}, {"invsq-pot": {"k": [3]}}]
    part, out = folder / "part.yaml", folder / "part.h5"
    part.write_text(yaml.safe_dump(job, sort_keys=False))
    done = run(program, "run", part, "-o", out, "--progress", "none")
    check("part of proximity-topologies.yaml plays", done.returncode == 0, done.stderr)
    if done.returncode:
        return
    with potluck.open(out) as ds:
        lines = topologies.markdown(topologies.table(ds), COLUMNS).splitlines()
    check("lines to compare", len(lines) >= 2 + 6, lines)
    for line in lines[2:]:
        check(f"README has the line: {line}", line in printed)


def readme_jobs(program: str, folder: pathlib.Path) -> None:
    """What README shows as job files, plan accepts."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    check("README shows jobs", len(blocks) >= 2, len(blocks))
    for i, text in enumerate(blocks):
        job = folder / f"readme{i}.yaml"
        job.write_text(text)
        done = run(program, "plan", job)
        check(f"README's job {i}", done.returncode == 0, done.stderr)


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        every_job(program, folder)
        as_in_readme(program, folder)
        readme_jobs(program, folder)
        readme_python(folder)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
