#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   in a PBS job and on a BProc machine mpiexec finds its hosts by itself, starts a shepherd on
        each, runs the job, tells what went wrong and leaves nothing behind.
Method: the built mpiexec against stand-ins of pbs_mom (mom.py) and of libbproc (libbproc_double.cc),
        which behave as the documented ones do; their nodes are this machine under other names.
"""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from mom import Mom  # noqa: E402

MPIEXEC = os.path.abspath("launcher/mpiexec")
DOUBLE = os.path.abspath("test/launch/managers")
SCRATCH = os.environ["TEST_TMPDIR"]
TIME_LIMIT_S = 60


def run(words, extra):
    variables = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("PMIX_", "LAMINA_", "XDG_", "PBS_", "SLURM_"))
    }
    variables["HOME"] = SCRATCH
    variables["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    variables.update(extra)
    return subprocess.run([MPIEXEC, *words], check=False, capture_output=True, text=True,
                          cwd=SCRATCH, env=variables, timeout=TIME_LIMIT_S,
                          stdin=subprocess.DEVNULL)


class Pbs(unittest.TestCase):
    """Two lines of n1 and one of n2: two hosts, three TM nodes."""

    def setUp(self):
        self.mom = Mom("7.head", "c00c1e", 3)
        self.addCleanup(self.mom.stop)
        self.node_file = os.path.join(SCRATCH, "nodes")
        with open(self.node_file, "w", encoding="utf-8") as file:
            file.write("n1\nn1\nn2\n")

    def mpiexec(self, *words):
        return run(words, {"PBS_JOBID": "7.head", "PBS_JOBCOOKIE": "c00c1e", "PBS_TASKNUM": "1",
                           "PBS_NODENUM": "0", "PBS_MOMPORT": str(self.mom.port),
                           "PBS_NODEFILE": self.node_file, "PBS_ENVIRONMENT": "PBS_BATCH"})

    def test_the_plan_is_the_job(self):
        result = self.mpiexec("--dry-run", "true")
        self.assertEqual(result.stderr, "")
        self.assertIn("plan: 3 ranks on 2 hosts\n", result.stdout)
        self.assertIn("started by pbs\n", result.stdout)

    def test_ranks_run_and_are_counted_out(self):
        result = self.mpiexec("-l", "sh", "-c", "echo $PMIX_RANK")
        self.assertEqual(result.stderr, "")
        self.assertEqual(sorted(result.stdout.splitlines()),
                         ["[rank 0] 0", "[rank 1] 1", "[rank 2] 2"])
        self.assertEqual(result.returncode, 0)
        # One shepherd a host, on the first of its TM nodes, asked for in two requests.
        self.assertEqual(sorted(node for node, _, _ in self.mom.spawned), [0, 2])

    def test_the_secret_is_no_word(self):
        self.mpiexec("true")
        for _, words, variables in self.mom.spawned:
            for name, value in variables.items():
                if "SECRET" in name:
                    self.assertNotIn(value, " ".join(words))

    def test_exit_status(self):
        result = self.mpiexec("sh", "-c", "exit $((PMIX_RANK + 3))")
        self.assertIn(result.returncode, (3, 4, 5))

    def test_early_ends_do_not_end_the_rest(self):
        result = self.mpiexec("sh", "-c", "test $PMIX_RANK != 2 || { sleep 1; echo last; }")
        self.assertEqual((result.stdout, result.returncode), ("last\n", 0))

    def test_a_node_that_cannot_start(self):
        self.mom.broken.add(2)
        result = self.mpiexec("true")
        self.assertNotEqual(result.returncode, 0, result)
        self.assertIn("n2", result.stderr)
        self.assertIn("no such node", result.stderr)

    def test_a_node_file_that_is_not_there(self):
        """Nothing runs here instead."""
        os.unlink(self.node_file)
        result = self.mpiexec("echo", "here")
        self.assertEqual((result.returncode != 0, result.stdout), (True, ""))
        self.assertRegex(result.stderr, r"^mpiexec: .*PBS_NODEFILE.*\n$")

    def test_a_host_of_nobody(self):
        result = self.mpiexec("-H", "n9", "true")
        self.assertEqual(result.stderr, "mpiexec: host n9 (-H) does not belong to PBS job 7.head\n")

    def test_a_job_of_one_host_has_its_places(self):
        """mpiexec runs on that host: it forks, as many ranks as the job has places, not CPUs."""
        for places in (1, os.cpu_count() + 1):
            with open(self.node_file, "w", encoding="utf-8") as file:
                file.write("n1\n" * places)
            for words in ([], ["-H", "n1"]):
                result = self.mpiexec(*words, "sh", "-c", "echo $PMIX_RANK")
                self.assertEqual(sorted(result.stdout.split()), sorted(map(str, range(places))), result)
        self.assertEqual(self.mom.spawned, [])

    def test_nothing_is_left_behind(self):
        self.mpiexec("--timeout", "1", "sleep", "600")
        self.assertEqual(self.mom.stop(), 0)


class BProc(unittest.TestCase):
    """Nodes 0 and 3 are up, 1 is down."""

    def mpiexec(self, *words, nodes=None):
        extra = {"LD_LIBRARY_PATH": DOUBLE}
        if nodes is not None:
            extra["NODES"] = nodes
        return run(words, extra)

    def test_the_front_end_takes_no_ranks(self):
        result = self.mpiexec("--dry-run", "true")
        self.assertEqual(result.stderr, "")
        self.assertIn("plan: 2 ranks on 2 hosts\n", result.stdout)
        self.assertIn("host master: 1 slot, kept free (schedule=no)\n", result.stdout)
        self.assertIn("started by bproc\n", result.stdout)

    def test_ranks_run_on_their_nodes(self):
        result = self.mpiexec("-l", "sh", "-c", "echo $PMIX_RANK", nodes="0,3,3")
        self.assertEqual(result.stderr, "")
        self.assertEqual(sorted(result.stdout.splitlines()),
                         ["[rank 0] 0", "[rank 1] 1", "[rank 2] 2"])

    def test_every_bad_node_is_named(self):
        result = self.mpiexec("true", nodes="0,1,7")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("NODES: n1 is down; n7: Invalid node number", result.stderr)

    def test_hosts_that_are_no_nodes_are_reached_otherwise(self):
        self.assertIn("started by bproc\n", self.mpiexec("--dry-run", "-H", "n3", "true").stdout)
        self.assertIn("started by ssh\n", self.mpiexec("--dry-run", "-H", "east7", "true").stdout)
        result = self.mpiexec("--dry-run", "-H", "east7", "--spawner", "bproc", "true")
        self.assertIn("host east7 (-H) does not belong to the nodes of BProc", result.stderr)

    def test_exit_status(self):
        self.assertEqual(self.mpiexec("sh", "-c", "exit 5").returncode, 5)


class Slurm(unittest.TestCase):
    """A node that is not this host; srun runs its task here."""

    SRUN = """#!/usr/bin/env python3
import os, subprocess, sys, time
words = sys.argv[1:]
while words[0].startswith("--"):
    words.pop(0)
task = subprocess.Popen(words, env=dict(os.environ, SLURM_NODEID="0"))
while not os.path.exists("cancel"):
    time.sleep(0.02)  # tidy: sleep: a stand-in that has nothing to wait on
task.kill()
while not os.path.exists("asked"):
    time.sleep(0.02)  # tidy: sleep: as above
time.sleep(0.5)  # tidy: sleep: the delay is the test
sys.exit("slurmstepd: error: *** STEP 7.0 ON node17 CANCELLED AT 2026-11-27T19:00:00 ***")
"""
    SQUEUE = """#!/bin/sh
echo RUNNING
touch asked
"""

    def test_words_that_come_after_the_answer(self):
        """squeue knows nothing of a cancelled step, and srun may be slow to say it."""
        for name, text in (("srun", self.SRUN), ("squeue", self.SQUEUE)):
            path = os.path.join(SCRATCH, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o755)
        result = run(["sh", "-c", "touch cancel; exec tail -f /dev/null"],
                     {"SLURM_JOB_ID": "7", "SLURM_NNODES": "1", "SLURM_NODELIST": "node17",
                      "SLURM_JOB_NODELIST": "node17", "SLURM_TASKS_PER_NODE": "1",
                      "SLURM_JOB_CPUS_PER_NODE": "1", "PATH": SCRATCH + ":" + os.environ["PATH"]})
        self.assertEqual(result.stderr, "mpiexec: the job was cancelled by Slurm (scancel)\n")
        self.assertNotEqual(result.returncode, 0)


class Container(unittest.TestCase):
    """Inside an allocation, the variables of the manager are there; its commands and files are not."""

    def test_what_can_be_done_is_said(self):
        slurm = {"SLURM_JOB_ID": "7", "SLURM_NNODES": "1", "SLURM_NODELIST": "node17",
                 "SLURM_JOB_NODELIST": "node17", "SLURM_TASKS_PER_NODE": "2",
                 "SLURM_JOB_CPUS_PER_NODE": "2", "PATH": "/nonexistent"}
        pbs = {"PBS_JOBID": "7.x", "PBS_NODEFILE": os.path.join(SCRATCH, "not mounted")}
        for variables, wrong in ((slurm, "cannot run srun: No such file or directory; "),
                                 (pbs, "PBS_NODEFILE (%s) cannot be read" % pbs["PBS_NODEFILE"])):
            result = run(["-n", "2", "/bin/true"], variables)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(wrong, result.stderr)
            self.assertIn("--spawner local runs all ranks on this host", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            result = run(["--spawner", "local", "-n", "2", "/bin/true"], variables)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_no_job_is_no_job(self):
        result = run(["--spawner", "pbs", "-n", "1", "/bin/true"], {})
        self.assertIn("this is no PBS job: PBS_JOBID and PBS_NODEFILE are not set", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
