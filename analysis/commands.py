# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, `python3 -m potluck`: figures, check, selftest, report.

Exit codes are those of the program: 0 done; 1 the world broke; 2 the input is wrong; 3 a check
disagreed.
"""
from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
import warnings

import potluck
from potluck import figures, seal, whole

#: Commands that are no figures: a module each, with `arguments(parser)` and `run(options)`.
COMMANDS = {
    "check": "holds every point that a formula covers against theory; 3 when one disagrees",
    "report": "one self-contained page: question, plan, tables, figures, check, provenance",
    "selftest": "plays small jobs on this machine for two minutes and checks them",
}


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    parser = argparse.ArgumentParser(
        prog="potluck", description="Checks, draws and reports result files of potluck."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {}
    for name, what in COMMANDS.items():
        modules[name] = importlib.import_module(f"potluck.{name}")
        modules[name].arguments(commands.add_parser(name, help=what, description=what))
    for plot in figures.PLOTS:
        command = commands.add_parser(plot.name, help=plot.shows, description=plot.shows)
        command.add_argument("results", metavar="OUT.h5")
        command.add_argument(
            "figure", metavar="FIGURE.png", help="its ending says the format: png, pdf, svg"
        )
        command.add_argument("--title", help="instead of the title of the job")
    options = parser.parse_args(arguments)
    try:
        if hasattr(options, "results"):
            seal.refuse_deadly(options.results)
        if options.command in modules:
            return modules[options.command].run(options)
        return _draw(options)
    except BrokenPipeError:
        sys.stdout = None
        return 1
    except (FileNotFoundError, IsADirectoryError, PermissionError, ValueError) as reason:
        print(f"potluck: {_sentence(reason)}", file=sys.stderr)
        return 2
    except OSError as reason:
        print(f"potluck: {_sentence(reason)}", file=sys.stderr)
        return 1


def _draw(options: argparse.Namespace) -> int:
    kind = os.path.splitext(options.figure)[1].lstrip(".").lower()
    if kind not in ("png", "pdf", "svg") and not os.path.exists(options.figure):
        raise ValueError(f"{options.figure}: figures end in .png, .pdf or .svg")
    picture = io.BytesIO()
    with potluck.open(options.results) as ds, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a title in another script
        figure = figures.function(f"plot_{options.command}")(ds, title=options.title)
        figure.savefig(picture, format=kind or "png", dpi=200)
        importlib.import_module("matplotlib.pyplot").close(figure)
    whole.write(options.figure, picture.getvalue())
    return 0


def _sentence(reason: Exception) -> str:
    if isinstance(reason, OSError) and reason.strerror:
        return f"{reason.filename}: {reason.strerror}" if reason.filename else reason.strerror
    return str(reason)


if __name__ == "__main__":
    sys.exit(main())
