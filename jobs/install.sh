#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Installs what is missing of the sections named (run, test; default run) of jobs/packages.
# Asks for nothing and changes nothing when all of it is there.
set -euo pipefail
list=$(dirname "$(readlink -f "$0")")/packages
[ $# -gt 0 ] || set -- run

wanted=()
for section in "$@"; do
    mapfile -t found < <(awk -v s="[$section]" '/^\[/ {on = $1 == s; next} on && NF && !/^#/ {print $1}' "$list")
    [ ${#found[@]} -gt 0 ] || { echo "install.sh: no section [$section] in $list" >&2; exit 2; }
    wanted+=("${found[@]}")
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "install.sh: this is not a Debian system; install by its own means what $list names, then build with" >&2
    echo "            meson setup build && ninja -C build" >&2
    exit 1
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install.sh: missing ${missing[*]}; run this as root, or install sudo" >&2
        exit 1
    }
    as_root=(sudo)
fi
echo "install.sh: installing ${missing[*]}" >&2
quiet=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0)
"${as_root[@]}" "${quiet[@]}" update >&2
"${as_root[@]}" "${quiet[@]}" install --no-install-recommends "${missing[@]}" >&2
