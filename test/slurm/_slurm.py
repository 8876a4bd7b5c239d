# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Slurm of one or more nodes on this host, without systemd, munge or a database.

The daemons run in the foreground as children, so nothing of them outlives the test. Several nodes are several slurmd
that share a host name: one rank a node is fine, two would mix up their shared memory.
"""
import contextlib
import getpass
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test" / "parallel"))
from _common import MPI, until

# What has no next state. A requeued job is PENDING again.
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}

# CPUS may exceed the cores of this host. A requeued job waits until its credential has expired, 120 s by default.
# Completed jobs stay known for the whole test.
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=3
MinJobAge=3600
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def documented(words):
    """The block of commands in jobs/README.md, "On a cluster", in which these words stand."""
    section = (ROOT / "jobs" / "README.md").read_text().split("## On a cluster")[1]
    return next(b for b in re.findall(r"(?:^    .*\n)+", section, re.M) if words in b)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


class Slurm:
    """`with Slurm(folder, 4) as slurm:` has nodes n1 to n4, all idle."""

    def __init__(self, folder, nodes, cpus=2):
        self.folder = pathlib.Path(folder)
        self.names = [f"n{i}" for i in range(1, nodes + 1)]
        self.daemons = []
        # Binding is the business of the scripts under test.
        mpi = {k: v for k, v in MPI.items() if k != "OMPI_MCA_hwloc_base_binding_policy"}
        inherited = {k: v for k, v in os.environ.items() if k not in MPI and not k.startswith("SLURM")}
        self.environment = inherited | mpi | {"SLURM_CONF": str(self.folder / "slurm.conf")}
        host = socket.gethostname().split(".")[0]
        port, *ports = free_ports(nodes + 1)
        node = "NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs={} State=UNKNOWN"
        lines = [node.format(name, host, p, cpus) for name, p in zip(self.names, ports)]
        self.conf = CONF.format(
            host=host, user=getpass.getuser(), folder=self.folder, port=port, nodes="\n".join(lines)
        )

    def __enter__(self):
        self.folder.mkdir()
        (self.folder / "slurm.conf").write_text(self.conf)
        (self.folder / "state").mkdir()
        try:
            self.daemon("slurmctld", "-c")
            for name in self.names:
                (self.folder / f"spool-{name}").mkdir()
                (self.folder / f"tmp-{name}").mkdir()
                self.daemon("slurmd", "-N", name)
            if not until(lambda: self.tell("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split() == self.names, 30):
                raise RuntimeError(f"Slurm does not start:\n{self.words()}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # stopping is not to be stopped
        self.tell("scancel", "--user", getpass.getuser())
        until(lambda: not self.tell("squeue", "-h"), 15)
        for process in reversed(self.daemons):
            process.terminate()
        for process in self.daemons:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def daemon(self, name, *options):
        words = ["setpriv", "--pdeathsig", "TERM", name, "-D", "-f", str(self.folder / "slurm.conf"), *options]
        log = self.folder / f"{name}{options[-1]}.log"
        with open(log, "wb") as out:
            # A session of its own: a signal to the group of this test must not end Slurm before its jobs.
            process = subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.folder,
                start_new_session=True,
            )
        self.daemons.append(process)

    def words(self):
        """The end of what the daemons said."""
        return "\n".join(f"{p.name}: {p.read_text()[-2000:]}" for p in sorted(self.folder.glob("*.log")))

    def run(self, *words, **variables):
        """(exit code, stdout, stderr) of a command of Slurm."""
        done = subprocess.run(
            [str(w) for w in words], env=self.environment | variables, cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def tell(self, *words, **variables):
        return self.run(*words, **variables)[1].strip()

    def submit(self, *words, **variables):
        """The number of the job that sbatch makes of it."""
        code, out, err = self.run("sbatch", "--parsable", *words, **variables)
        if code != 0:
            raise RuntimeError(f"sbatch {' '.join(map(str, words))}: {err.strip()}")
        return out.strip()

    def jobs(self, job):
        """The fields of a job, or of each task of an array."""
        lines = self.tell("scontrol", "-o", "show", "job", job).splitlines()
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in lines if line.startswith("JobId=")]

    def state(self, job):
        return self.jobs(job)[0]["JobState"]

    def outcome(self, job, seconds=120):
        """How a job ended, such as 'COMPLETED 0:0'; of the tasks of an array, each way there is."""
        until(lambda: all(fields["JobState"] in ENDED for fields in self.jobs(job)), seconds)
        return " ".join(sorted({f"{fields['JobState']} {fields['ExitCode']}" for fields in self.jobs(job)}))
