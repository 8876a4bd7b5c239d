#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     bash test/run.sh [TIER...]
# Installs what the tests need, builds into build/, runs the tiers and ends with the line "N passed, N failed"; the exit
# code is 0 when nothing failed. Tiers: unit oracle parallel slurm cli analysis style (all of these when none is
# named); on demand verify (the oracles at high power, Slurm's limits), bench, fuzz.
#
# A tier is the Meson suite of its name and every *.py and *.sh in test/TIER that does not begin with "_". Such a
# script is called with the path of the program, and its last line says "N passed, N failed".
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
build=$root/build
all=(unit oracle parallel slurm cli analysis style)
on_demand=(verify bench fuzz)
[ $# -gt 0 ] || set -- "${all[@]}"

passed=0 failed=0 child=
scratch=$(mktemp -d)
# Whatever runs when this script is stopped, stops too.
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}

# count LOG CODE WHAT: adds the last line of LOG to the totals; an exit code that contradicts it is a failure.
count() {
    local line
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1)
    if [ -z "$line" ]; then
        echo "FAILED: $3 ended with code $2 and without saying how many passed"
        failed=$((failed + 1))
        return
    fi
    local p=${line%% passed*} f=${line##*, }
    f=${f%% failed*}
    [ "$2" -eq 0 ] || [ "$f" -gt 0 ] || { echo "FAILED: $3 ended with code $2"; f=1; }
    passed=$((passed + p)) failed=$((failed + f))
}

# run WHAT COMMAND...: at most `limit` seconds, output shown and counted.
limit=1800
run() {
    local what=$1 code
    shift
    echo "== $what"
    : >"$scratch/log"
    timeout --kill-after=10 "$limit" "$@" >"$scratch/log" 2>&1 &
    child=$!
    tail --pid="$child" --sleep-interval=0.2 --lines=+1 --follow "$scratch/log" &
    wait "$child"
    code=$?
    child=
    wait
    count "$scratch/log" "$code" "$what"
}

suite() {
    /usr/bin/meson introspect "$build" --tests | grep -qE "\"[^\":]*:?$1\"" || return 0
    run "meson $1" /usr/bin/python3 "$root/test/suite.py" "$build" "$1"
}

for tier in "$@"; do
    [[ " ${all[*]} ${on_demand[*]} " == *" $tier "* ]] || {
        echo "run.sh: no tier '$tier' (${all[*]}; on demand ${on_demand[*]})" >&2
        exit 2
    }
done

bash "$root/jobs/install.sh" run test || { failed=1; finish; }
# A build/ made before the test packages were there learns of them.
known=()
[ ! -f "$build/build.ninja" ] || known=(--reconfigure)
/usr/bin/meson setup "${known[@]}" "$build" "$root" >"$scratch/log" || { cat "$scratch/log"; failed=1; finish; }
/usr/bin/ninja -C "$build" || { echo "FAILED: the build"; failed=1; finish; }

# Tests start more ranks than there are cores, several mpirun at a time, and may run as root in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

shopt -s nullglob
for tier in "$@"; do
    suite "$tier"
    for script in "$root/test/$tier"/[!_]*.py; do
        run "$tier/${script##*/}" /usr/bin/python3 "$script" "$build/potluck"
    done
    for script in "$root/test/$tier"/[!_]*.sh; do
        run "$tier/${script##*/}" bash "$script" "$build/potluck"
    done
    if [ "$tier" = bench ]; then
        /usr/bin/ninja -C "$build" bench && "$build/bench" && passed=$((passed + 1)) || failed=$((failed + 1))
    fi
    if [ "$tier" = verify ]; then
        limit=14400
        for script in oracle/{laws,experiments,chain_check,dht_theory_check,dht_shapes} slurm/batch; do
            run "$script.py at high power" /usr/bin/python3 "$root/test/$script.py" "$build/potluck" --tier verify
        done
        limit=1800
    fi
done
finish
