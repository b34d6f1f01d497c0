#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `mpiexec --profile` writes a page and the same numbers as a file, however the job ends, and the
        numbers are right.
Method: programs whose profile is known by construction: a sender that is late by a known time, ranks of
        which one computes twice as long, a ring; jobs that are killed, fail or time out; two hosts that an
        agent makes of this machine.
"""

import glob
import json
import os
import subprocess
import tempfile
import unittest

from harness import LaunchCase, MPIEXEC, ROOT, environment, wait_until

PROFILED = os.path.join(ROOT, "test/launch/profiled")


class Profile(LaunchCase):

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        self.line = ""

    def profile(self, *arguments, ranks=2, options=(), status=0, file=None):
        """Runs a job that is profiled; returns what FILE.json says, as its HTML page does."""
        base = os.path.join(self.folder, file or "a")
        result = self.run_job(*arguments, ranks=ranks, options=["--profile=" + base + ".html", *options])
        self.assertEqual(result.returncode, status, result.stderr)
        lines = [line for line in result.stderr.splitlines() if " profile in " in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.line = lines[0]
        with open(base + ".html", encoding="utf-8") as page:
            text = page.read()
        with open(base + ".json", encoding="utf-8") as numbers:
            profile = json.load(numbers)
        inside = text.split('id="data">')[1].split("</script>")[0]
        self.assertEqual(json.loads(inside), profile)
        self.assertNotIn("http", text)
        self.assertEqual(len(profile["ranks"]), ranks)
        return profile

    def counts(self, profile, rank, function):
        return profile["ranks"][rank]["functions"][function]

    def test_late_sender(self):
        profile = self.profile(PROFILED, "late")
        receive = self.counts(profile, 1, "MPI_Recv")
        self.assertEqual((receive["calls"], receive["received_bytes"], receive["sent_bytes"]), (1, 8, 0))
        # On a busy machine rank 1 may come to its receive later than rank 0 begins to compute.
        self.assertGreater(receive["waited_ns"], 0.2e9)
        self.assertLessEqual(receive["waited_ns"], receive["inside_ns"])
        send = self.counts(profile, 0, "MPI_Send")
        self.assertEqual((send["calls"], send["sent_bytes"], send["received_bytes"]), (1, 8, 0))
        self.assertLess(send["inside_ns"], receive["inside_ns"])
        self.assertGreater(profile["ranks"][0]["computed_ns"], 0.4e9)

    def test_imbalance(self):
        profile = self.profile(PROFILED, "imbalance")
        # A machine that does something else can only lengthen what is computed.
        first, second = (rank["computed_ns"] for rank in profile["ranks"])
        self.assertGreater(first, 0.3e9)
        self.assertGreater(second, 0.6e9)
        balance = profile["balance"]
        self.assertAlmostEqual(balance["load"], (first + second) / 2 / max(first, second), 2)
        self.assertAlmostEqual(balance["parallel"], balance["load"] * balance["communication"], 2)
        if balance["busiest"] == 1 and balance["load"] < 0.9:
            self.assertIn("rank 1 computes 1.", self.line)
        self.assertEqual(self.counts(profile, 0, "MPI_Barrier")["calls"], 2)

    def test_ring(self):
        profile = self.profile(PROFILED, "ring", ranks=4)
        for rank in range(4):
            counts = self.counts(profile, rank, "MPI_Sendrecv")
            self.assertEqual((counts["calls"], counts["sent_bytes"]), (10, 10000))
            functions = profile["ranks"][rank]["functions"].values()
            self.assertEqual(sum(counts["received_bytes"] for counts in functions), 10000)
        self.assertEqual(profile["functions"]["MPI_Sendrecv"]["calls"], 40)

    def test_collectives_have_the_bytes_of_the_program(self):
        profile = self.profile(PROFILED, "collectives")
        for rank in range(2):
            for function, sent, received in [("MPI_Bcast", 128 * (rank == 0), 128 * (rank == 1)),
                                             ("MPI_Allreduce", 128, 128), ("MPI_Alltoall", 16, 16),
                                             ("MPI_Barrier", 0, 0), ("MPI_Finalize", 0, 0)]:
                counts = self.counts(profile, rank, function)
                self.assertEqual((counts["calls"], counts["sent_bytes"], counts["received_bytes"]),
                                 (1, sent, received), function)

    def test_a_killed_rank_leaves_its_numbers(self):
        profile = self.profile(PROFILED, "killed", status=137)
        self.assertEqual(profile["end"], "exit status 137")
        self.assertTrue(profile["ranks"][1]["uses_mpi"])
        self.assertEqual(self.counts(profile, 1, "MPI_Comm_rank")["calls"], 1)

    def test_a_timeout(self):
        profile = self.profile(PROFILED, "stuck", options=["--timeout", "1"], status=124)
        for rank in range(2):
            self.assertEqual(profile["ranks"][rank]["ended_in"], "MPI_Recv")
            self.assertEqual(self.counts(profile, rank, "MPI_Recv")["calls"], 1)

    def test_two_hosts(self):
        agent = os.path.join(self.folder, "agent")
        with open(agent, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nshift\nexec "$@"\n')
        os.chmod(agent, 0o755)
        profile = self.profile(PROFILED, "late",
                               options=["--agent", agent + " {host}", "-H", "one:1,two:1"])
        self.assertEqual([rank["host"] for rank in profile["ranks"]], ["one", "two"])
        self.assertGreater(self.counts(profile, 1, "MPI_Recv")["waited_ns"], 0.2e9)

    def test_a_program_without_mpi_and_the_name_by_default(self):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            result = self.run_job("true", options=["--profile"])
        finally:
            os.chdir(before)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no rank used MPI", result.stderr)
        self.assertEqual(len(glob.glob(os.path.join(self.folder, "true.*.html"))), 1)

    def test_what_cannot_be_written_is_said(self):
        result = self.run_job("true", options=["--profile=" + self.folder + "/none/a"])
        self.assertEqual(result.returncode, 0)
        self.assertIn("cannot write the profile", result.stderr)
        self.assertIn("No such file or directory", result.stderr)


    def test_a_job_that_runs(self):
        lamina = os.path.join(self.folder, "lamina")
        os.symlink(MPIEXEC, lamina)
        agent = os.path.join(self.folder, "agent")
        with open(agent, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nshift\nexec "$@"\n')
        os.chmod(agent, 0o755)

        def ask(*words):
            return subprocess.run([lamina, "profile", *words], check=False, capture_output=True, text=True,
                                  timeout=60, cwd=self.folder, stdin=subprocess.DEVNULL,
                                  env=environment(self.mark))

        for options in ((), ("--agent", agent + " {host}", "-H", "one:1,two:1")):
            with self.subTest(options):
                end = os.path.join(self.folder, "end%d" % len(options))
                job = self.start_job(PROFILED, "stuck", ranks=2, options=["--profile=" + end, *options])
                page = os.path.join(self.folder, "now.html")

                def is_there():
                    done = ask("-o", "now.html", str(job.pid))
                    if done.returncode != 0:
                        return False  # mpiexec does not listen yet, or a host is not up
                    self.assertIn("profile in " + page, done.stdout)
                    with open(page[:-5] + ".json", encoding="utf-8") as numbers:
                        profile = json.load(numbers)
                    self.assertEqual(profile["end"], "the job goes on")
                    return all(rank["ended_in"] == "MPI_Recv" for rank in profile["ranks"])

                self.assertTrue(wait_until(is_there, 30))
                self.assertFalse(os.path.exists(end + ".html"))
                job.terminate()
                job.wait(timeout=30)
                self.assertTrue(os.path.exists(end + ".html"))
        job = self.start_job(PROFILED, "stuck", ranks=1)
        wait_until(lambda: ask(str(job.pid)).returncode != 2)
        done = ask(str(job.pid))
        self.assertEqual((done.returncode, done.stderr),
                         (1, "lamina profile: the job was started without --profile\n"))
        job.terminate()
        job.wait(timeout=30)


if __name__ == "__main__":
    unittest.main()
