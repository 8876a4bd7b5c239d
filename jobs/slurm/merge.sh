#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     sbatch --dependency=afterok:ARRAY merge.sh JOB.yaml [OUT.h5]      the parts of array.sh into OUT.h5
#
#SBATCH --job-name=potluck-merge --output=%x-%j.out --time=1:00:00
# One core and a few moments: results are read and written, nothing is played.
#SBATCH --ntasks=1 --open-mode=append

# --force: a merge of the same parts is the same file, and one of more parts holds all that one of fewer did.
out=${2:-$(basename "$1" .yaml).h5}
exec "${POTLUCK:-potluck}" merge "$out" "${out%.h5}".part-*.h5 --force
