#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     bash test/run.sh [TIER...]
# Installs what the tests need, builds into build/, runs the tiers and ends with the line "N passed, N failed"; the exit
# code is 0 when nothing failed. Tiers: unit oracle parallel slurm cli analysis style (all of these when none is
# named); on demand verify (the oracles at high power, 100 kills, Slurm's limits), bench, fuzz.
#
# A tier is the Meson suite of its name and every *.py and *.sh in test/TIER that does not begin with "_". Such a
# script is called with the path of the program, and its last line says "N passed, N failed".
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "$0")")")
build=$root/build
all=(unit oracle parallel slurm cli analysis style)
on_demand=(verify bench fuzz)
[ $# -gt 0 ] || set -- "${all[@]}"

passed=0 failed=0
declare -A running=() # what runs now, by process
scratch=$(mktemp -d)
# Whatever runs when this script is stopped, stops too.
trap 'kill "${!running[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
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

# run WHAT COMMAND...: at most `limit` seconds, and at most `lanes` of them at a time; shown and counted when it ends.
limit=1800 lanes=1
run() {
    local what=$1
    shift
    [ ${#running[@]} -lt "$lanes" ] || collect
    echo "-- $what begins"
    timeout --kill-after=10 "$limit" "$@" >"$scratch/${what//\//-}" 2>&1 &
    running[$!]=$what
}

# collect: waits for the next one that ends.
collect() {
    local process code what
    wait -n -p process "${!running[@]}"
    code=$?
    what=${running[$process]}
    unset "running[$process]"
    echo "== $what"
    cat "$scratch/${what//\//-}"
    count "$scratch/${what//\//-}" "$code" "$what"
}

collect_all() {
    while [ ${#running[@]} -gt 0 ]; do collect; done
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
    # Scripts that use one core, or wait for processes to start and end, go in pairs.
    [[ " oracle parallel cli analysis " == *" $tier "* ]] && lanes=2 || lanes=1
    suite "$tier"
    collect_all
    for script in "$root/test/$tier"/[!_]*.py; do
        run "$tier/${script##*/}" /usr/bin/python3 "$script" "$build/potluck"
    done
    for script in "$root/test/$tier"/[!_]*.sh; do
        run "$tier/${script##*/}" bash "$script" "$build/potluck"
    done
    collect_all
    if [ "$tier" = bench ]; then
        /usr/bin/ninja -C "$build" bench && "$build/bench" && passed=$((passed + 1)) || failed=$((failed + 1))
    fi
    if [ "$tier" = verify ]; then
        limit=14400
        for script in oracle/{laws,experiments,chain_check,dht_theory_check,dht_shapes} slurm/batch parallel/{identity,kills,limits,locks}; do
            run "$script.py at high power" /usr/bin/python3 "$root/test/$script.py" "$build/potluck" --tier verify
        done
        collect_all
        limit=1800
    fi
done
finish
