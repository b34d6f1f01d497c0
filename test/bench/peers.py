# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs that are measured: how to build a program for each, and how to run it."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

from places import HERE, ROOT, VC_SHELL, VCLUSTER, WORK
from rows import UNBOUND
from virtual_hosts import Hosts

NAMES = ("lamina", "lam", "openmpi", "mpich")

# Another installation of Lamina, which is no peer: rows show how it compares with the one measured.
BEFORE = "before"


class Mpi:
    """How to build for one MPI and run under it."""

    programs = ("measure", "pack", "spawn", "threads", "windows", "files", "init", "stopwatch")
    sources = ()  # files that every program is linked with
    user = []     # words in front of a command that has to run as another user

    def __init__(self, name, mpicc, mpiexec, bind, unbind, ways={}):
        self.name, self.mpicc, self.mpiexec, self.bind, self.unbind = name, mpicc, mpiexec, bind, unbind
        self.ways = ways  # the options for each way in which bytes can be made to go
        self.folder = os.path.join(WORK, name)
        self.ours = name in ("lamina", BEFORE)

    def build(self):
        os.makedirs(self.folder, exist_ok=True)
        for program in self.programs:
            files = [os.path.join(HERE, name + ".c") for name in (program,) + self.sources]
            subprocess.run(self.mpicc + ["-O2", "-w", "-pthread", "-rdynamic", "-o",
                                         self.program(program)] + files, check=True)

    def command(self, ranks, words, way=""):
        free = ranks != 2 or "threads" in words[0] or way in UNBOUND
        place = self.unbind if free else self.bind
        return self.mpiexec + place + self.ways.get(way, []) + ["-n", str(ranks)] + words

    def program(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        """Returns why this MPI cannot be measured, or None."""

    def stop(self):
        pass


class Lam(Mpi):
    """LAM/MPI needs its daemon, which refuses root and keeps the pipe open that it was started with."""

    # It lacks some types that pack.c and files.c need, and most of what windows.c is about.
    programs = ("measure", "threads", "init", "stopwatch")
    sources = ("lam_writev",)

    def __init__(self):
        super().__init__("lam", ["mpicc.lam"], [], [], [])
        self.folder = tempfile.mkdtemp(prefix="lamina-bench-lam-")
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.user = ["setpriv", "--reuid=nobody", "--regid=%d" % nobody.pw_gid, "--clear-groups"]
        self.user = self.user + ["env", "-C", self.folder, "HOME=" + self.folder,
                                 "LAM_MPI_SESSION_SUFFIX=bench"]

    def command(self, ranks, words, way=""):
        if words == ["true"]:
            return ["lamexec", "-np", str(ranks)] + words
        # `usysv` spins, which is fastest for two ranks and slowest where ranks outnumber processors.
        rpi = "tcp" if way == "tcp" else "usysv" if ranks == 2 else "sysv"
        return ["mpirun.lam", "-ssi", "rpi", rpi, "-np", str(ranks)] + words

    def tell_daemon(self, word):
        try:
            return subprocess.run(self.user + [word], timeout=20, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        except subprocess.TimeoutExpired:
            return "a hang"

    def start(self):
        status = self.tell_daemon("lamboot")
        return "lamboot ended with %s" % status if status else None

    def stop(self):
        self.tell_daemon("lamhalt")
        end_leftovers(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def lamina(prefix, name="lamina"):
    return Mpi(name, [prefix + "/bin/mpicc"], [prefix + "/bin/mpiexec", "--oversubscribe"],
               ["--bind-to", "core"], [],
               {"tcp": ["--param", "transport.include=self,ucx", "--param", "transport.ucx.tls=tcp"],
                **dict.fromkeys(Hosts.WAYS, [
                    "--param", "transport.ucx.tls=tcp", "--host", ",".join(Hosts.NODES),
                    "--agent", VCLUSTER + " exec {host}"]),
                "copied": ["--param", "transport.shm.single_copy=never"]})


def openmpi():
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
    return Mpi("openmpi", ["mpicc.openmpi"], ["mpirun.openmpi"] + root + ["--oversubscribe"],
               ["--bind-to", "core"], ["--bind-to", "none"],
               {"tcp": tcp,
                **dict.fromkeys(Hosts.WAYS, tcp + ["--mca", "plm_rsh_agent", VC_SHELL, "--host",
                                                   ",".join(Hosts.NODES)]),
                "copied": ["--mca", "btl_vader_single_copy_mechanism", "none"]})


def mpich():
    return Mpi("mpich", ["mpicc.mpich"], ["mpiexec.hydra"], ["-bind-to", "core"], [],
               {"tcp": ["-genv", "UCX_TLS", "tcp"],
                **dict.fromkeys(Hosts.WAYS, [
                    "-genv", "UCX_TLS", "tcp", "-launcher", "ssh", "-launcher-exec", VC_SHELL,
                    "-hosts", ",".join(Hosts.NODES)]),
                "copied": ["-genv", "UCX_TLS", "posix,self"]})


def end_leftovers(folder):
    """Kills processes that a launcher left behind; their programs lie in `folder`."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink("/proc/%s/exe" % entry).startswith(folder + "/"):
                os.kill(int(entry), signal.SIGKILL)
        except OSError:
            pass


def own_prefix(prefix):
    """An installation of Lamina: the given one, or one that is built from this checkout."""
    if prefix:
        return os.path.abspath(prefix)
    prefix = os.path.join(WORK, "prefix")
    subprocess.run(["bazel", "run", "--config=opt", "--ui_event_filters=-info,-stdout",
                    "--noshow_progress", "//:install", "--", prefix], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL)
    return prefix


def chosen(names, prefix, before):
    """The MPIs of these names, and the Lamina installed at `before` if that is given."""
    makers = {"lamina": lambda: lamina(own_prefix(prefix)), "lam": Lam, "openmpi": openmpi, "mpich": mpich}
    mpis = [makers[name]() for name in NAMES if name in names]
    if before:
        mpis.insert(1 if "lamina" in names else 0, lamina(os.path.abspath(before), BEFORE))
    return mpis
