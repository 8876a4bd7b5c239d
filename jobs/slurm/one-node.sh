#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     sbatch one-node.sh JOB.yaml [OUT.h5]      one node, all its cores
#
#SBATCH --job-name=potluck --output=%x-%j.out --time=1-00:00:00
# One process with as many threads as there are cores: tables are in memory once, and MPI is not needed. Where a node
# has several NUMA domains and the tables are larger than the caches, take many-nodes.sh with --nodes=1.
#SBATCH --nodes=1 --ntasks=1 --exclusive --mem=0
# Two minutes before the limit the batch shell (B:; without it job steps alone) gets USR1: potluck saves and ends.
#SBATCH --signal=B:USR1@120
# After the failure of a node Slurm starts the job again; append, or the output of the first start would be lost.
#SBATCH --requeue --open-mode=append

# exec puts potluck in the place of the shell, so that signals reach it. --resume goes on with what an earlier start has
# saved and begins anew where there is nothing; --max-time auto ends in time even where no signal comes.
exec "${POTLUCK:-potluck}" run "$1" ${2:+-o "$2"} --resume --max-time auto
