# SPDX-License-Identifier: GPL-3.0-or-later
"""A report: one self-contained page that says what was asked, played and found.

    python3 -m potluck report OUT.h5 -o report.html

Question, plan, results with intervals, comparisons with the baseline, figures, the check against
theory, provenance with the job byte for byte, definitions. The page loads nothing and needs no
script; it is written whole or not at all.
"""
from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import re

import h5py
import numpy as np
import pandas as pd
import potluck
import xarray as xr
from potluck import check, report_figures, report_tables, whole
from potluck import report_html as html


def arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `report`."""
    parser.add_argument("results", metavar="OUT.h5", help="a result file, finished or not")
    parser.add_argument(
        "-o",
        "--output",
        metavar="REPORT.html",
        help="the page; by default the name of the results with .html",
    )
    parser.add_argument("--title", help="instead of the title of the job")


def run(options: argparse.Namespace) -> int:
    """Writes the page; returns the exit code."""
    results = pathlib.Path(options.results)
    output = pathlib.Path(options.output or results.with_suffix(".html"))
    if output.exists() and results.exists() and os.path.samefile(output, results):
        raise ValueError(f"{output} is the result file itself: name another page with -o")
    whole.write(output, page(results, title=options.title).encode())
    return 0


def page(path: str | os.PathLike, *, title: str | None = None) -> str:
    """The report as HTML.

    Parameters
    ----------
    path : path of a result file, finished or a snapshot of a run that still goes on.
    title : instead of the title of the job.

    Returns
    -------
    str
        A whole page in HTML 5, which refers to nothing outside itself.

    Raises
    ------
    FileNotFoundError, PermissionError
        When it cannot be read.
    potluck.Damaged
        When it is no whole result file.
    """
    path = pathlib.Path(path)
    with potluck.open(path) as lazy:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        try:
            ds = lazy.load()
            done = _points_done(path)
        except (OSError, RuntimeError, KeyError, UnicodeError) as reason:
            first = str(reason).strip().split("\n")[0]
            raise potluck.Damaged(f"{path} is damaged: {first}") from None
    table = report_tables.in_words(ds, potluck.frame(ds))
    found = check.check(ds)
    drawn, rules = report_figures.section(ds)
    sections = [
        ("plan", "Plan", report_tables.plan(ds, table)),
        ("results", "Results", report_tables.results(ds, table)),
        ("comparisons", "Comparisons", report_tables.comparisons(ds, table)),
        ("figures", "Figures", drawn),
        ("check", "Check against theory", report_tables.check(found, check.summary(found))),
        ("provenance", "Provenance", _provenance(ds, path, digest)),
        ("definitions", "Definitions", report_tables.definitions(ds)),
    ]
    shown = title if title is not None else str(ds.attrs.get("title", ""))
    shown = shown if shown.strip() else path.name
    head = _head(ds, table, shown, done)
    return html.page(shown, head, [s for s in sections if s[2]], rules)


# ---- the first screen ----------------------------------------------------------------------------


def question(job: str) -> str:
    """The first comment of a job, before any of its keys; empty where there is none."""
    lines = []
    for line in job.splitlines():
        plain = line.strip()
        if plain.startswith("#") and plain.strip("# "):
            lines.append(plain.lstrip("#").strip())
        elif lines or plain.strip("#-") not in ("",):
            break
    return " ".join(lines)


def _head(ds: xr.Dataset, table: pd.DataFrame, title: str, done: int | None) -> str:
    asked = question(str(ds.attrs.get("job", "")))
    out = [f"<h1>{html.text(title)}</h1>\n"]
    if asked and asked != title:
        out.append(f'<p class="question">{html.text(asked)}</p>\n')
    complete = _complete(ds)
    if not complete:
        out.append(f'<p class="partial" role="note">{_how_far(ds, table, done)}</p>\n')
    least, most = int(table["replications"].min()), int(table["replications"].max())
    played = str(most) if least == most else f"{least} to {most}"
    facts = [
        ("model", str(ds.attrs.get("model", ""))),
        ("points", str(len(table))),
        ("replications", played),
        ("state", "complete" if complete else "incomplete"),
        ("seed", str(ds.attrs.get("seed", ""))),
    ]
    items = "".join(f"<li>{name} <b>{html.text(value)}</b></li>" for name, value in facts)
    out.append(f'<ul class="facts">{items}</ul>\n')
    return "".join(out)


def _complete(ds: xr.Dataset) -> bool:
    return bool(int(np.squeeze(ds.attrs.get("complete", 0))))


def _how_far(ds: xr.Dataset, table: pd.DataFrame, done: int | None) -> str:
    least, most = int(table["replications"].min()), int(table["replications"].max())
    told = f"Incomplete: {done} of {len(table)} points are done. " if done is not None else ""
    told = told or "Incomplete. "
    played = f"{least} to {most}" if least < most else str(most)
    asked = re.search(r"^replications: (\d+)$", str(ds.attrs.get("resolved", "")), re.M)
    played += f" (of {asked[1]})" if asked else ""
    return html.prose(
        f"{told}What follows rests on the {played} replications of a point that were whole when "
        "the file was written; `potluck run --resume` plays what is missing."
    )


def _points_done(path: pathlib.Path) -> int | None:
    """Points that are whole, by what the file keeps for resuming."""
    with h5py.File(path, "r") as file:
        return int(np.count_nonzero(file["state/done"])) if "state/done" in file else None


# ---- provenance ----------------------------------------------------------------------------------


def _provenance(ds: xr.Dataset, path: pathlib.Path, digest: str) -> str:
    job = str(ds.attrs.get("job", ""))
    facts = [
        ("Result file", f"<code>{html.text(path.name)}</code>, {path.stat().st_size} bytes"),
        ("SHA-256 of the result file", f'<code class="hash">{digest}</code>'),
        ("Seed", html.text(ds.attrs.get("seed", ""))),
        ("potluck", html.text(ds.attrs.get("potluck_version", ""))),
        ("Source revision", f"<code>{html.text(ds.attrs.get('source_revision', ''))}</code>"),
    ]
    told = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    out = [f"<dl>{told}</dl>\n"]
    keep = html.data_uri("text/plain;charset=utf-8", job.encode("utf-8", "surrogateescape"))
    out += [
        "<h3>The job, byte for byte</h3>\n",
        html.verbatim(job),
        f'<p><a href="{keep}" download="job.yaml">Save it as <code>job.yaml</code></a></p>\n',
        html.folded(
            "The job with every default filled in", html.verbatim(str(ds.attrs.get("resolved", "")))
        ),
        "<h3>To play it again</h3>\n",
        html.verbatim(_replay(ds, job)),
    ]
    if not re.search(r"^seed\s*:", job, re.M):
        out.append(
            html.paragraph(
                "The job names no seed, so one was drawn: add the line "
                f"`seed: {ds.attrs.get('seed', '')}` to meet the same random words."
            )
        )
    if re.search(r"@sha256:", str(ds.attrs.get("resolved", ""))):
        out.append(
            html.paragraph(
                "The job reads other files; their SHA-256 is in the job with every default filled "
                "in, and a changed one is noticed."
            )
        )
    return "".join(out)


def _replay(ds: xr.Dataset, job: str) -> str:
    """Commands that give the file again, and one replication of it."""
    asked = re.search(r"^replications\s*:\s*([\d_]+)\s*(?:#.*)?$", job, re.M)
    played = np.unique(np.asarray(ds["replications"].values))
    more = ""
    if _complete(ds) and asked and len(played) == 1 and int(asked[1]) != int(played[0]):
        more = f" -r {int(played[0])}"
    lines = [f"potluck run job.yaml -o again.h5{more}"]
    if _complete(ds):
        lines[0] += "    # the same bytes from the same source revision,"
        lines.append("sha256sum again.h5    # on any number of ranks and threads")
    lines.append("potluck run job.yaml --only 0:0    # the first replication of point 0 alone")
    return "\n".join(lines) + "\n"
