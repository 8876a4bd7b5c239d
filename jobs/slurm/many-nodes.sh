#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
#     sbatch [--nodes=N] many-nodes.sh JOB.yaml [OUT.h5]      several nodes
#
#SBATCH --job-name=potluck --output=%x-%j.out --time=1-00:00:00
# One rank for each NUMA domain, its threads on the cores of that domain: what a rank's threads share stays in memory
# near them. Here: two domains of 16 cores a node (lscpu says what yours have). Ranks need not be alike or equally fast.
#SBATCH --nodes=4 --ntasks-per-node=2 --cpus-per-task=16 --exclusive --mem=0
# Two minutes before the limit the batch shell (B:) gets USR1. After the failure of a node Slurm starts the job again.
#SBATCH --signal=B:USR1@120 --requeue --open-mode=append

case ${LAUNCH:-srun} in
    # --mpi=pmix, or every task is a rank 0 of 1; a rank that dies takes the others with it, or they would wait for it;
    # srun does not take --cpus-per-task from sbatch.
    srun) launch=(srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK") ;;
    # PE: so many cores for each rank. Without it one or two ranks would be bound to one core each, threads and all.
    mpirun) launch=(mpirun --map-by "slot:PE=$SLURM_CPUS_PER_TASK" --bind-to core) ;;
    *) echo "many-nodes.sh: LAUNCH is srun or mpirun" >&2; exit 2 ;;
esac
# exec: the launcher gets the signals and passes them on to all ranks. --resume and --max-time auto: see one-node.sh.
exec "${launch[@]}" "${POTLUCK:-potluck}" run "$1" ${2:+-o "$2"} \
    --resume --max-time auto --threads "$SLURM_CPUS_PER_TASK"
