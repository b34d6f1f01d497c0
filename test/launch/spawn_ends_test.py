#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   whatever way parents and children end, the run ends in bounded time with one message that
        says why, and nothing is left.
Method: hasty.c spawns children and has one of the two sides end too early, too late, or not at all."""

import os
import re
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import LaunchCase, processes_with, wait_until  # noqa: E402

HASTY = os.path.join(harness.ROOT, "test/launch/hasty")
SHORT_GRACE = ["--param", "launcher.supervise.grace_ms=500"]


class SpawnEnds(LaunchCase):
    def run_hasty(self, *words, ranks=2, options=()):
        return self.run_job(HASTY, *words, ranks=ranks, options=options)

    def refused(self, *words):
        """What the parents hear, who go on."""
        done = self.run_hasty(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("MPI_ERR_SPAWN: "), done.stdout)
        return done.stdout

    def test_children_that_end_before_mpi(self):
        """D15: the spawn fails, at all parents and for all children, and says why."""
        for how, words in (("0", "(have not called|exited without calling) MPI_Init"), ("3", "exited with code 3"),
                           ("s9", r"killed by signal 9 \(SIGKILL"), ("s11", r"by signal 11 \(SIGSEGV")):
            with self.subTest(how):
                self.assertRegex(self.refused("all", how), words)

    def test_one_child_that_ends_before_mpi(self):
        """The other one is in MPI_Init, which it could never leave."""
        for how, words in (("0", "rank 1 on .* exited without calling MPI_Init"),
                           ("3", "rank 1 on .* exited with code 3"),
                           ("s9", r"rank 1 on .* was killed by signal 9 \(SIGKILL")):
            with self.subTest(how):
                self.assertRegex(self.refused("one", how), words)

    def test_children_that_end_after_the_meeting(self):
        """Their launcher may hear of their end before it hears that parents have met them."""
        for how, status, words in (("3", 3, "exited with code 3.*"), ("s9", 137, r"was killed by signal 9 \(SIGKILL.*")) * 4:
            with self.subTest(how):
                done = self.run_hasty("met", how)
                said = [line for line in done.stderr.splitlines() if line.startswith("mpiexec: ")]
                self.assertEqual(len(said), 1, done.stderr)
                self.assertRegex(said[0], r"\Ampiexec: rank \d on \S+ \(spawned\) " + words)
                self.assertEqual(done.returncode, status)

    def test_a_parent_that_leaves_without_a_word(self):
        """It is the last one, whose end would be none of the launcher's business otherwise."""
        done = self.run_hasty("leave", ranks=1)
        self.assertRegex(done.stderr, r"\Ampiexec: rank 0 on .* exited without calling MPI_Finalize; "
                                      r"what it has spawned was ended\n\Z")
        self.assertEqual(done.returncode, 1)

    def test_a_parent_that_outlives_the_root(self):
        """The root has finalized, so the children's launcher hears nothing from it when another one fails."""
        for how, status, words in (("0", 1, "exited without calling MPI_Finalize; .* was ended"),
                                   ("3", 3, "exited with code 3.*"),
                                   ("s9", 137, r"was killed by signal 9 \(SIGKILL.*")):
            with self.subTest(how):
                done = self.run_hasty("last", how)
                self.assertRegex(done.stderr, r"\Ampiexec: rank 1 on .* %s\n\Z" % words)
                self.assertEqual(done.returncode, status)

    def test_a_killed_parent_whose_copy_lives_on(self):
        """The copy holds all that its parent had open, so no end of file tells the children."""
        done = self.run_hasty("copy", ranks=1)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertRegex(done.stderr, r"\Ampiexec: rank 0 on .* was killed by signal 9 [^\n]*\n\Z")

    def test_copies_do_no_harm(self):
        done = self.run_hasty("copies")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_timeout_with_deaf_children_alone(self):
        """mpiexec says what still runs, and kills it. A slow machine needs more time to come there."""
        for seconds in (3, 9, 27):
            done = self.run_hasty("deaf", options=["--timeout", str(seconds), *SHORT_GRACE])
            self.assertEqual(done.returncode, 124)
            self.assertNotIn("still running: ;", done.stderr)
            if re.search("still running: 2 ranks of jobs that it has spawned", done.stderr):
                break
        self.assertRegex(done.stderr, r"\Ampiexec: timeout after %d s, still running: 2 ranks of jobs th"
                                      r"at it has spawned; the job was ended\nmpiexec:   spawned: .*hasty d"
                                      r"eaf  child \(2 on .*; mpiexec \d+\)\n\Z" % seconds)

    def test_mpiexec_killed_with_deaf_children(self):
        """The launcher of the children has nobody above it any more, and ends them."""
        job = self.start_job(HASTY, "deaf", options=SHORT_GRACE)
        # mpiexec and the children's, with a guard each, and two children; the parent has gone.
        self.assertTrue(wait_until(lambda: self.deaf_children() == 2, 40.0))
        job.kill()
        self.assertTrue(wait_until(lambda: not processes_with(self.mark), 40.0), "something is left")

    def deaf_children(self):
        """How many ignore SIGTERM and have heard from their parents, who then finalize and end."""
        deaf = parents = 0
        for process in processes_with(self.mark):
            try:
                with open("/proc/%d/cmdline" % process, "rb") as file:
                    words = file.read().split(b"\0")
                with open("/proc/%d/status" % process, encoding="ascii") as file:
                    ignored = int(re.search(r"SigIgn:\s*(\w+)", file.read()).group(1), 16)
            except OSError:
                continue
            if words[0].endswith(b"/hasty"):
                deaf += ignored >> (signal.SIGTERM - 1) & 1
                parents += b"child" not in words
        return deaf if parents == 0 else 0


if __name__ == "__main__":
    harness.main()
