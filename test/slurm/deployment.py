#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster's administrators take: the module file, loaded by environment-modules, and the recipe for Spack.

usage: deployment.py PROGRAM

There is no Spack here: of the recipe is seen that it is Python and names what meson.build asks for.
"""
import ast
import os
import re
import subprocess
import sys

from _slurm import ROOT, documented
from _common import Checks, Lab

MODULEFILE, RECIPE = ROOT / "jobs" / "cluster" / "modulefile", ROOT / "jobs" / "cluster" / "package.py"

# The names in meson.build and Spack's; a compiler brings OpenMP and the library of mathematics.
NAMES = {
    "mpi": "openmpi",
    "openmp": "c",
    "m": "c",
    "hdf5-serial": "hdf5",
    "hdf5_serial_hl": "hdf5",
    "hdf5": "hdf5",
    "igraph": "igraph",
    "yaml-0.1": "libyaml",
    "libcrypto": "openssl",
    "Random123": "random123",
    "cmocka": "cmocka",
}
TOOLS = {"meson", "ninja", "pkgconfig"}


def install(checks, lab):
    """The folder that a module file calls prefix."""
    build = os.path.dirname(lab.program)
    words = ["/usr/bin/meson", "install", "-C", build, "--no-rebuild", "--destdir", str(lab.folder / "root")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = list(lab.folder.glob("root/**/bin/potluck"))
    checks.check(done.returncode == 0 and len(found) == 1, f"meson install: {found}, {done.stderr}")
    return found[0].parent.parent


def module_shell(lab, commands):
    """(exit code, output) of a shell that has modules, with the usual folders and no others."""
    keep = {k: v for k, v in os.environ.items() if k not in ("MANPATH", "XDG_DATA_DIRS") and not k.startswith("BASH_")}
    done = subprocess.run(
        ["bash", "--norc", "-c", f"source /usr/share/modules/init/bash\n{commands}"],
        env=keep | {"HOME": str(lab.folder)}, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )
    return done.returncode, done.stdout.strip()


def module(checks, lab):
    prefix = install(checks, lab)
    load = f"prefix={prefix}\n{documented('module load')}"
    completion = "source /usr/share/bash-completion/bash_completion; _completion_loader"
    for what, commands, expected in (
        ("PATH", "command -v potluck && potluck --version >/dev/null", f"{prefix}/bin/potluck"),
        ("MANPATH", "man -w potluck", f"{prefix}/share/man/man1/potluck.1"),
        ("the system's manual", "manpath -q | tr : '\\n' | grep -x /usr/share/man", "/usr/share/man"),
        ("completion", f"{completion} potluck; complete -p potluck", "complete -F _potluck potluck"),
        ("the system's completion", f"{completion} tar; complete -p tar | grep -o tar$", "tar"),
        ("PYTHONPATH", "cd /; /usr/bin/python3 -c 'import potluck; print(potluck.theory.erlang_c(1, 0.5))'", "0.5"),
        ("python3 -m", "cd /; /usr/bin/python3 -m potluck tradeoff none.h5 x.png",
         "potluck: none.h5: No such file or directory"),
        ("unloading", "module unload potluck; command -v potluck || echo gone", "gone"),
    ):
        code = 2 if "none.h5" in commands else 0
        checks.same(module_shell(lab, f"{load}\n{commands}"), (code, expected), f"module load, {what}")
    for words in ("help", "whatis"):
        code, said = module_shell(lab, f"{load}\nmodule {words} potluck")
        checks.check(code == 0 and "potluck" in said and "ERROR" not in said, f"module {words}: {said}")
    needs = "sed -i 's|^set needs .*|set needs {openmpi/0.0}|' ~/modulefiles/potluck/0.1.0"
    code, said = module_shell(lab, f"module use ~/modulefiles; {needs}; module load potluck")
    checks.check(code != 0 and "openmpi/0.0" in said, f"without a module it needs: code {code}, {said}")


def recipe(checks):
    tree = ast.parse(RECIPE.read_text())
    compile(tree, str(RECIPE), "exec")
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    first = lambda name: [c.args[0].value for c in calls if c.func.id == name]
    named = {re.match(r"[\w-]+", spec)[0] for spec in first("depends_on")}
    meson = (ROOT / "meson.build").read_text()
    asked = re.findall(r"(?:dependency|find_library)\('([^']+)'", meson) + re.findall(r"has_header\('(\w+)/", meson)
    for name in sorted(set(asked)):
        checks.check(NAMES.get(name) in named, f"the recipe for Spack lacks {name} of meson.build: {sorted(named)}")
    checks.check(TOOLS <= named, f"the recipe for Spack lacks {TOOLS - named}")
    for name in first("filter_file"):
        checks.check(name in meson, f"the recipe for Spack replaces {name}, which meson.build does not say")
    bases = [b.id for n in tree.body if isinstance(n, ast.ClassDef) for b in n.bases]
    checks.same(bases, ["MesonPackage"], "the recipe for Spack: what it is a package of")
    checks.check("UNTRIED" in ast.get_docstring(tree), "the recipe for Spack does not say that it is untried")


def main():
    checks = Checks()
    with Lab(sys.argv[1]) as lab:
        module(checks, lab)
    recipe(checks)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
