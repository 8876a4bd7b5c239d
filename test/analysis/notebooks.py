# SPDX-License-Identifier: GPL-3.0-or-later
"""Every notebook runs from a clean copy of the repository, two at a time.

    python3 notebooks.py PROGRAM
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Debian's: another Jupyter may come first on the PATH.
JUPYTER = pathlib.Path("/usr/bin/jupyter")
NOTEBOOKS = ["dht", "proximity", "round-robin", "start-here", "supermarket"]
passed = failed = 0


def check(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {str(seen)[:1500]}")


def copy(folder: pathlib.Path) -> pathlib.Path:
    """What a fresh clone has of the reader and the jobs, and nothing that was built or played."""
    clone = folder / "clone"
    left = shutil.ignore_patterns("__pycache__", ".*", "*.h5*", "*.html", "*.nbconvert.ipynb")
    for part in ("analysis", "jobs"):
        shutil.copytree(ROOT / part, clone / part, ignore=left)
    return clone / "analysis" / "notebooks"


def as_committed(name: str, path: pathlib.Path) -> None:
    """Valid, for the kernel that Debian has, without outputs."""
    book = json.loads(path.read_text(encoding="utf-8"))
    check(f"{name}: format 4 for python3", book["nbformat"] == 4
          and book["metadata"]["kernelspec"]["name"] == "python3", book["metadata"])
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    check(f"{name}: without outputs", all(c["outputs"] == [] and c["execution_count"] is None for c in code))
    ids = [cell.get("id") for cell in book["cells"]]
    check(f"{name}: each cell has an id of its own", None not in ids and len(set(ids)) == len(ids))
    first = "".join(book["cells"][0]["source"])
    check(f"{name}: begins with its question", book["cells"][0]["cell_type"] == "markdown" and "?**" in first, first)
    valid = ("import nbformat, sys; book = nbformat.read(sys.argv[1], 4); nbformat.validate(book)")
    done = subprocess.run(["/usr/bin/python3", "-W", "error::UserWarning", "-c", valid, str(path)],
                          capture_output=True, text=True)
    check(f"{name}: valid", done.returncode == 0, done.stderr[-600:])


def execute(name: str, folder: pathlib.Path, out: pathlib.Path, program: str) -> tuple[float, str, int]:
    """Runs a notebook as a reader would; returns the seconds it took, what was said and the exit code."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MPLBACKEND")}
    home = out / f"home-{name}"
    environment |= {"POTLUCK": program, "HOME": str(home), "TMPDIR": str(home), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    environment |= {"IPYTHONDIR": str(home / "ipython"), "JUPYTER_RUNTIME_DIR": str(home / "runtime")}
    home.mkdir()
    begin = time.monotonic()
    done = subprocess.run(
        [str(JUPYTER), "nbconvert", "--to", "notebook", "--execute", "--output-dir", str(out), f"{name}.ipynb"],
        cwd=folder, env=environment, capture_output=True, text=True)
    said = re.sub("\x1b\\[[0-9;]*m", "", done.stderr)
    return time.monotonic() - begin, said, done.returncode


def executed(name: str, path: pathlib.Path) -> None:
    """Every cell has run, nothing went wrong or was warned of, and there is something to look at."""
    book = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    check(f"{name}: every cell has run", all(cell["execution_count"] for cell in code))
    errors = [o for o in outputs if o["output_type"] == "error"]
    warned = ["".join(o["text"]) for o in outputs if o.get("name") == "stderr"]
    check(f"{name}: no error", not errors, errors)
    check(f"{name}: no warning", not warned, warned)
    for cell in code:
        drawn = "".join(cell["source"]).count("potluck.plot_")
        shown = sum("image/png" in o.get("data", {}) for o in cell["outputs"])
        check(f"{name}: a picture for each figure", shown == drawn, "".join(cell["source"]))
    check(f"{name}: a picture", any("image/png" in o.get("data", {}) for o in outputs))
    check(f"{name}: a table", any("text/html" in o.get("data", {}) for o in outputs))
    plain = "".join("".join(o["text"]) for o in outputs if o.get("name") == "stdout")
    check(f"{name}: its check agrees", "exact comparisons agree" in plain and "DISAGREES" not in plain, plain)
    last = [o for o in code[-1]["outputs"] if o.get("name") == "stdout"]
    check(f"{name}: ends in words", bool(last) and "nan" not in "".join(last[0]["text"]).lower().split(), last)


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name)
        folder = copy(out)
        there = sorted(path.stem for path in folder.glob("*.ipynb"))
        check("the notebooks", there == NOTEBOOKS, there)
        check("Debian's jupyter is there (packages jupyter-nbconvert, python3-ipykernel)", JUPYTER.exists())
        before = sorted(path.name for path in folder.parent.rglob("*"))
        for book in there:
            as_committed(book, folder / f"{book}.ipynb")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {book: pool.submit(execute, book, folder, out, program) for book in there}
        for book, run in runs.items():
            seconds, said, code = run.result()
            print(f"note: {book} took {seconds:.0f} s")
            check(f"{book}: nbconvert", code == 0, said[-1500:])
            if code == 0:
                executed(book, out / f"{book}.ipynb")
        after = sorted(path.name for path in folder.parent.rglob("*") if "__pycache__" not in str(path))
        check("they write nothing beside themselves", before == after, set(after) - set(before))
        left = [str(p) for p in out.glob("home-*/potluck-*")]
        check("they leave nothing in the temporary folder", not left, left)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
