#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   ranks of one node find each other without PMIx, however they were started under mpiexec; with
        it where the roster is forbidden; and who can do neither is told why.
Method: an MPI program behind wrappers that take from it what a wrapper may."""

import os
import subprocess
import sys
import tempfile
import unittest

import harness
from harness import LaunchCase

LAZY = os.path.join(harness.ROOT, "test/launch/lazy")
INIT = os.path.join(harness.ROOT, "test/launch/init")
PARENT = os.path.join(harness.ROOT, "test/launch/parent")
WITHOUT = ["--param", "launcher.pmix.roster=no"]
# Without its address a PMIx client does not find its server.
NO_PMIX = ["env"] + ["--unset=PMIX_SERVER_URI" + number for number in ("2", "21", "3", "4", "41")]
# Closes all descriptors but the first three, as subprocess does.
CLOSED = [sys.executable, "-c",
          "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"]


class Roster(LaunchCase):
    def good(self, *words, options=()):
        job = self.run_job(*words, ranks=4, options=options)
        self.assertEqual((job.returncode, job.stderr), (0, ""))

    def test_needs_no_pmix(self):
        self.good(*NO_PMIX, LAZY, 0)

    def test_can_do_without(self):
        self.good(LAZY, 0, options=WITHOUT)
        job = self.run_job(*NO_PMIX, LAZY, 0, ranks=1, options=WITHOUT)
        self.assertNotEqual(job.returncode, 0)

    def test_behind_a_wrapper_that_closes_descriptors(self):
        self.good(*CLOSED, *NO_PMIX, LAZY, 0)

    def test_programs_one_after_another(self):
        self.good("sh", "-ec", 'for i in 1 2 3 4 5 6 7 8; do "$0" 0; done', LAZY)

    def test_a_rank_that_runs_one_more_is_named(self):
        """As a script that asks a program for its version on rank 0 alone: others would talk
        to it."""
        with tempfile.TemporaryDirectory(prefix="lamina-test-") as folder:
            ready = os.path.join(folder, "ready")
            os.mkfifo(ready)
            job = self.run_job("sh", "-ec", 'if [ $PMIX_RANK = 0 ]; then "$2"; : > "$0"; else : < "$0"; '
                               'fi; "$1" 0', ready, LAZY, INIT, ranks=2)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stderr, "rank 0 runs MPI program 2 of its script, but this rank runs program 1; let all "
                                     "ranks run the same programs")

    def test_a_rank_that_has_ended_is_named(self):
        """Whoever speaks to it first when it is gone does not wait for it."""
        with tempfile.TemporaryDirectory(prefix="lamina-test-") as folder:
            ready = os.path.join(folder, "ready")
            os.mkfifo(ready)
            job = self.run_job("sh", "-ec", 'if [ $PMIX_RANK = 1 ]; then "$2"; : > "$0"; else : < "$0"; '
                               '"$1" 0; fi', ready, LAZY, INIT, ranks=2,
                               options=["--timeout", "30"])
        self.assertNotIn(job.returncode, (0, 124))
        self.assertRegex(job.stderr, "rank 1 has finalized MPI and ended")

    def test_a_rank_has_one_process_at_a_time(self):
        """What a rank starts does not take its place: the rank goes on, the other is told why not."""
        job = self.run_job(PARENT, INIT, ranks=2)
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertRegex(job.stderr, r"rank 1 of this job is process \d+ already; a program that it "
                         "starts is not part of the job")
        self.assertEqual(job.stdout.count("went on"), 2)

    def test_each_rank_in_a_pid_namespace(self):
        """As in a container: they meet in the memory that mpiexec made for the node. Without it they take
        the network."""
        apart = ["unshare", "--pid", "--fork"]
        if subprocess.run([*apart, "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no right to make pid namespaces")
        lo = ["--param", "transport.ucx.net_devices=lo"]  # other tests make devices, and take them away
        without = ["env", "-u", "LAMINA_NODE_MEMORY"]
        one = 'test $PMIX_RANK = 0 || exec unshare --pid --fork "$0" 0; exec "$0" 0'
        self.good(*apart, LAZY, 0)
        self.good(*apart, "--mount-proc", LAZY, 0)
        self.good("sh", "-c", one, LAZY)
        self.good(*without, *apart, LAZY, 0, options=lo)
        job = self.run_job(*without, "sh", "-c", one, LAZY, ranks=2)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(job.stderr, "it is in another pid namespace .* mpiexec --param transport.include="
                                     "self,ucx has all ranks do without")
        self.good(*without, "sh", "-c", one, LAZY,
                  options=[*lo, "--param", "transport.include=self,ucx"])

    def test_a_roster_out_of_reach_is_named(self):
        job = self.run_job("sh", "-c", 'LAMINA_ROSTER=1:99 exec "$0" 0', LAZY, ranks=1)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(
            job.stderr, "the memory that mpiexec shares with its ranks cannot be reached "
            ".*launcher.pmix.roster=no.*: /proc/1/fd/99")


if __name__ == "__main__":
    unittest.main(verbosity=2)
