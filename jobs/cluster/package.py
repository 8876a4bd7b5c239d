# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe for Spack. UNTRIED: no Spack has built it; the tests compare it with meson.build only.

Put it where a Spack repository of the site has packages/potluck/package.py, with the address of a clone as `git`.
"""
from spack.package import *  # the directives below


class Potluck(MesonPackage):
    """A parallel Monte Carlo runner for load balancing: one job file, one reproducible HDF5 file."""

    git = "file:///path/to/a/clone/of/potluck"

    license("GPL-3.0-or-later")
    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("openmpi@4.1:")
    depends_on("hdf5@1.10: ~mpi +hl")
    depends_on("igraph@0.10 +shared")
    depends_on("libyaml")
    depends_on("openssl")
    depends_on("random123", type="build")
    depends_on("cmocka", type="test")
