#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     parts=$(sbatch --parsable array.sh JOB.yaml [OUT.h5])                       one job in PARTS parts,
#     sbatch --dependency=afterok:$parts merge.sh JOB.yaml [OUT.h5]               then one result of them
#
#SBATCH --job-name=potluck --output=%x-%A_%a.out --time=1-00:00:00
# As many tasks as PARTS. They start when and where there is room for one: small ones find it soon.
#SBATCH --array=0-3 --ntasks=1 --cpus-per-task=8
#SBATCH --signal=B:USR1@120 --requeue --open-mode=append

# Each part is a range of the replications of every point, as equal as can be. It depends on PARTS and the number of the
# task alone, so that a single part can be submitted again: sbatch --array=2 array.sh ...
set -eo pipefail
parts=${PARTS:-4} i=$SLURM_ARRAY_TASK_ID potluck=${POTLUCK:-potluck} out=${2:-$(basename "$1" .yaml).h5}
all=$("$potluck" plan "$1" | sed -n '1s/.* \([0-9]*\) replications each$/\1/p')
[ "$i" -lt "$parts" ] || { echo "array.sh: there are $parts parts, from 0" >&2; exit 2; }
exec "$potluck" run "$1" -o "${out%.h5}.part-$i.h5" --replications "$((all * i / parts)):$((all * (i + 1) / parts))" \
    --resume --max-time auto --threads "$SLURM_CPUS_PER_TASK"
