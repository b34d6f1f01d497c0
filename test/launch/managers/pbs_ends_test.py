#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   however a PBS job ends, nothing of ours outlives it, and PBS has nothing left to kill: after
        a normal end, with mpiexec still there, with ranks still running, with no rank ever run.
Method: the built mpiexec in a job of mom.py, which counts the tasks that it has to kill at the end;
        mpiexec gets what PBS gives a job's script: nothing, SIGTERM, SIGKILL."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from mom import Mom  # noqa: E402

MPIEXEC = os.path.abspath("launcher/mpiexec")
SCRATCH = os.environ["TEST_TMPDIR"]
TIME_LIMIT_S = 60
SHELL = "trap '' USR1; echo up; exec tail -f /dev/null"  # a rank that stays


def wait_until(truth, seconds):
    end = time.monotonic() + seconds
    while not truth() and time.monotonic() < end:
        time.sleep(0.01)  # tidy: sleep: polls the process table, which announces nothing
    return truth()


class PbsEnds(unittest.TestCase):
    def setUp(self):
        self.mom = Mom("7.head", "c00c1e", 3)
        self.addCleanup(self.mom.stop)
        self.mark = "PBS_ENDS_TEST=%d.%s" % (os.getpid(), self.id())
        self.nodes = os.path.join(SCRATCH, "nodes")
        with open(self.nodes, "w", encoding="ascii") as file:
            file.write("n1\nn1\nn2\n")

    def start(self, *words):
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("PMIX_", "LAMINA_", "XDG_", "PBS_", "SLURM_"))}
        variables.update(
            HOME=SCRATCH, PBS_JOBID="7.head", PBS_JOBCOOKIE="c00c1e", PBS_TASKNUM="1",
            PBS_NODENUM="0", PBS_MOMPORT=str(self.mom.port), PBS_NODEFILE=self.nodes,
            PBS_ENVIRONMENT="PBS_BATCH", PBS_ENDS_TEST=self.mark.split("=")[1],
            PATH=SCRATCH + "/pbs:" + os.environ["PATH"])
        process = subprocess.Popen([MPIEXEC, *words], cwd=SCRATCH, env=variables, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def start_and_wait(self, *words):
        process = self.start(*words, "sh", "-c", SHELL)
        for _ in range(3):
            self.assertEqual(process.stdout.readline(), "up\n")
        return process

    def left(self):
        """Processes of the job, mpiexec and its ranks, that still run."""
        found = []
        for name in os.listdir("/proc"):
            try:
                with open("/proc/%s/environ" % name, "rb") as file:
                    if self.mark.encode() in file.read().split(b"\0"):
                        found.append(int(name))
            except (OSError, ValueError):
                continue
        return found

    def nothing_is_left(self, seconds=5):
        self.assertTrue(wait_until(lambda: not self.left(), seconds), self.left())
        # Tasks end by themselves: PBS would not have to kill any.
        self.assertTrue(wait_until(lambda: all(task.poll() is not None
                                               for task in self.mom.tasks.values()), seconds))
        self.assertEqual(self.mom.stop(), 0)

    def test_normal_end(self):
        process = self.start("true")
        self.assertEqual(process.communicate(timeout=TIME_LIMIT_S), ("", ""))
        self.assertEqual(process.returncode, 0)
        self.nothing_is_left()

    def test_end_with_mpiexec_still_there(self):
        """The script has ended, or time is up: PBS sends SIGTERM and waits a while."""
        process = self.start_and_wait()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIME_LIMIT_S)
        self.assertLess(time.monotonic() - began, 10)  # well within the 30 s that PBS gives
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.nothing_is_left()

    def test_end_with_ranks_still_running(self):
        """PBS has waited long enough: SIGKILL."""
        process = self.start_and_wait()
        process.kill()
        process.wait(timeout=TIME_LIMIT_S)
        self.nothing_is_left()

    def test_end_without_a_rank_ever_run(self):
        process = self.start("./nosuch")
        _, err = process.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual(process.returncode, 127)
        self.assertIn("cannot run ./nosuch", err)
        self.nothing_is_left()

    def test_end_without_anything_started(self):
        process = self.start("--dry-run", "true")
        process.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual((process.returncode, self.mom.spawned), (0, []))
        self.nothing_is_left()


class Manager(PbsEnds):
    """What PBS itself does to a job is not laid at anybody else's door. qstat is a script."""

    def says(self, state):
        folder = os.path.join(SCRATCH, "pbs")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "qstat")
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n[ \"$*\" = '-f 7.head' ] || exit 1\n"
                       "echo 'Job Id: 7.head'\necho '    job_state = %s'\n" % state)
        os.chmod(path, 0o755)

    def signal_tasks(self, number):
        """The sessions of its tasks, as PBS does it: shepherds, but not their ranks."""
        for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
            with contextlib.suppress(ProcessLookupError):
                if os.getsid(pid) in self.mom.tasks:
                    os.kill(pid, number)

    def signal_ranks(self, process, number):
        for pid in self.left():
            if pid != process.pid:
                os.kill(pid, number)

    def test_cancelled(self):
        process = self.start_and_wait()
        self.says("E")
        self.signal_tasks(signal.SIGTERM)
        _, err = process.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual(err, "mpiexec: the job was cancelled by PBS (qdel or walltime)\n")
        self.assertEqual(process.returncode, 1)
        self.nothing_is_left()

    def test_a_rank_that_is_killed_while_the_job_runs(self):
        process = self.start_and_wait()
        self.says("R")
        self.signal_ranks(process, signal.SIGTERM)
        _, err = process.communicate(timeout=TIME_LIMIT_S)
        self.assertNotIn("cancelled", err)
        self.assertIn("; the job was ended\n", err)
        self.nothing_is_left()

    def test_suspended(self):
        process = self.start_and_wait("--param", "launcher.shepherd.silence_ms=500")
        self.says("S")
        self.signal_tasks(signal.SIGSTOP)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        self.signal_tasks(signal.SIGCONT)
        self.says("R")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate(timeout=TIME_LIMIT_S), ("", ""))
        self.nothing_is_left()

    # Those of PbsEnds have had their turn.
    test_normal_end = test_end_with_mpiexec_still_there = test_end_with_ranks_still_running = None
    test_end_without_a_rank_ever_run = test_end_without_anything_started = None


class Ports(PbsEnds):
    """Where shepherds call: through a firewall."""

    def called(self, *words):
        process = self.start("--param", *words, "true")
        _, err = process.communicate(timeout=TIME_LIMIT_S)
        return process.returncode, err, {
            int(address.rsplit(":", 1)[1]) for _, _, variables in self.mom.spawned
            for address in variables.get("LAMINA_SHEPHERD_CALL", "").split(",") if address}

    @staticmethod
    def two_free_ports():
        """(held socket, its port, the next port)."""
        while True:
            first = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
            port = first.getsockname()[1]
            try:
                socket.create_server(("", port + 1), family=socket.AF_INET6,
                                     dualstack_ipv6=True).close()
                return first, port, port + 1
            except OSError:
                first.close()

    def test_the_first_free_port_of_a_range(self):
        held, taken, free = self.two_free_ports()
        with held:
            self.assertEqual(self.called("launcher.shepherd.ports=%d-%d" % (taken, free)),
                             (0, "", {free}))

    def test_no_port_is_free(self):
        held, taken, _ = self.two_free_ports()
        with held:
            status, err, _ = self.called("launcher.shepherd.ports=%d" % taken)
        self.assertNotEqual(status, 0)
        self.assertRegex(err, "^mpiexec: cannot listen for shepherds on a port of "
                              "launcher.shepherd.ports=%d: Address already in use\n$" % taken)

    def test_no_range(self):
        status, err, _ = self.called("launcher.shepherd.ports=90000-1")
        self.assertNotEqual(status, 0)
        self.assertIn("launcher.shepherd.ports=90000-1 is no range of ports", err)


# What Ports inherits is for its set-up alone.
for inherited in [name for name in vars(PbsEnds) if name.startswith("test_")]:
    setattr(Ports, inherited, None)

if __name__ == "__main__":
    unittest.main(verbosity=2)
