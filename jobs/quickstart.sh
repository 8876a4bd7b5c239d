#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# From a fresh clone on Debian 12 to a table and a figure:
#     bash jobs/quickstart.sh
# Installs what is missing, builds into build/, plays jobs/quickstart.yaml on all cores, prints the table and writes
# quickstart.h5 and quickstart.png into the current folder. A second call plays the job again and replaces both.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")

bash "$root/jobs/install.sh" run
# Tools by full path: another python3 or meson earlier in PATH may lack the packages above.
[ -f "$root/build/build.ninja" ] || /usr/bin/meson setup "$root/build" "$root" >&2
/usr/bin/ninja -C "$root/build" potluck >&2

cores=$(nproc)
ranks=$((cores >= 2 ? 2 : 1))
threads=$((cores / ranks))
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Unbound, since mpirun would pin each of two ranks with all its threads to one core.
/usr/bin/mpirun --oversubscribe --bind-to none -n "$ranks" \
    "$root/build/potluck" run "$root/jobs/quickstart.yaml" -o quickstart.h5 --force --threads "$threads"
"$root/build/potluck" show quickstart.h5
/usr/bin/python3 "$root/analysis/potluck.py" tradeoff quickstart.h5 quickstart.png
echo "results: $PWD/quickstart.h5   figure: $PWD/quickstart.png" >&2
