#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     sbatch requeue.sh JOB.yaml [OUT.h5]      longer than any time limit: requeues itself until complete
#
#SBATCH --job-name=potluck --output=%x-%j.out --time=4:00:00
# Ranks and threads, and why: many-nodes.sh. A short --time finds gaps between other jobs.
#SBATCH --nodes=4 --ntasks-per-node=2 --cpus-per-task=16 --exclusive --mem=0
#SBATCH --signal=B:USR1@120 --requeue --open-mode=append

# Not exec: the shell has to see the exit code. It hands USR1 on to srun, which hands it to all ranks. A trap interrupts
# `wait`, so that is called until srun is gone, and once more for its exit code.
trap 'kill -USR1 "$srun"' USR1
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" "${POTLUCK:-potluck}" run "$1" \
    ${2:+-o "$2"} --resume --max-time auto --threads "$SLURM_CPUS_PER_TASK" &
srun=$!
while kill -0 "$srun" 2>/dev/null; do wait "$srun"; done
wait "$srun"
code=$?
# 75: stopped early, everything saved. Any other code would only come again. The bound ends what never gets on.
[ "$code" -ne 75 ] || [ "${SLURM_RESTART_COUNT:-0}" -ge "${RESTARTS:-50}" ] || exec scontrol requeue "$SLURM_JOB_ID"
exit "$code"
