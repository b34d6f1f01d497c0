#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `lamina why` and `mpiexec --timeout` say rightly why a job hangs, on one host and on two, and `lamina
        stack` shows the stacks of all its ranks in one tree.
Method: programs that are stuck in the ways in which programs get stuck. Each is asked while it hangs, until
        its ranks have noted what they wait for, and runs out of time once more. Two hosts are made of this
        machine by an agent.
"""

import os
import re
import shutil
import signal
import subprocess
import unittest

from harness import LaunchCase, MPIEXEC, ROOT, command, environment, wait_until

STUCK = os.path.join(ROOT, "test/launch/stuck")
LAMINA = os.path.join(os.environ["TEST_TMPDIR"], "lamina")
AGENT = os.path.join(os.environ["TEST_TMPDIR"], "agent")

# Each way to get stuck, the number of ranks, and what has to be said of it.
COMPUTES = r"computes; its last call was MPI_\w+"
WAYS = {
    "head_to_head": (4, [
        r"deadlock: rank 0 waits in MPI_Recv for a message from rank 1 with tag 5; rank 1 waits in MPI_Recv for "
        r"a message from rank 0 with tag 7: neither has sent that"]),
    "wrong_tag": (4, [
        r"rank 1 has a message from rank 0 with tag 6, which it does not receive: it waits for tag 5",
        r"deadlock: rank 0 waits in MPI_Barrier of MPI_COMM_WORLD; rank 1 waits in MPI_Recv for a message from "
        r"rank 0 with tag 5"]),
    "wrong_comm": (4, [
        r"rank 1 has a message from rank 0 with tag 5 in another communicator, which it does not receive: it "
        r"waits for one in MPI_COMM_WORLD"]),
    "missing_member": (4, [
        r"ranks 0-2 wait for rank 3, which " + COMPUTES,
        r"ranks 0-2 wait in MPI_Allreduce of MPI_COMM_WORLD, for [\d.]+ s"]),
    "order": (4, [
        r"deadlock: rank \d waits in MPI_Barrier of \"(first|second)\"; rank \d waits in MPI_Barrier of "
        r"\"(second|first)\": all members must call collective operations in the same order",
        r"ranks 0 and 2 wait in MPI_Barrier of \"first\", for [\d.]+ s",
        r"ranks 1 and 3 wait in MPI_Barrier of \"second\", for [\d.]+ s"]),
    "send_send": (4, [
        r"deadlock: rank 0 waits in MPI_Send for the end of a send to rank 1 with tag 0, 4194304 bytes; rank 1 "
        r"waits in MPI_Send for the end of a send to rank 0 with tag 0, 4194304 bytes: neither receives"]),
    "probe": (4, [
        r"rank 1 has a message from rank 0 with tag 8, which it does not receive: it waits for tag 9",
        r"rank 1 waits in MPI_Probe for a message from rank 0 with tag 9, for [\d.]+ s",
        r"rank 2 calls MPI_Iprobe again and again for a message from any rank with tag 9, for [\d.]+ s"]),
    "ended": (2, [
        r"rank 0 waits in MPI_Recv for a message from rank 1 with tag 0, but rank 1 has ended"]),
    "cancelled": (2, [
        r"rank 0 waits for rank 1, which " + COMPUTES,
        r"rank 0 waits in MPI_Wait for the end of a send to rank 1 with tag 3, 4194304 bytes, which was "
        r"cancelled, for [\d.]+ s"]),
    "spin": (4, [
        r"ranks 0, 2 and 3 wait for rank 1, which " + COMPUTES]),
    "circle": (3, [
        r"deadlock: rank 0 waits in MPI_Recv for a message from rank 1 with tag 0; rank 1 waits in MPI_Recv for "
        r"a message from rank 2 with tag 0; rank 2 waits in MPI_Recv for a message from rank 0 with tag 0: none "
        r"of them has sent that"]),
    "lock": (3, [
        r"ranks 0 and 2 wait for rank 1, which " + COMPUTES,
        r"ranks 0 and 2 wait in MPI_Win_lock for a lock of rank 0, which rank 1 holds(, for [\d.]+ s)?"]),
    "window": (2, [
        r"rank 0 waits for rank 1, which " + COMPUTES,
        r"rank 0 waits in MPI_Win_wait for rank 1, for [\d.]+ s"]),
    "pready": (2, [
        r"rank 0 waits in MPI_Wait for its own MPI_Pready of partition 2, which is missing for the send to rank 1, "
        r"for [\d.]+ s"]),
    "nonblocking": (3, [
        r"ranks 0 and 2 wait for rank 1, which " + COMPUTES,
        r"ranks 0 and 2 wait in MPI_Wait for a collective operation of MPI_COMM_WORLD, for [\d.]+ s"]),
    "row": (4, [
        r"ranks 0, 1 and 3 wait for rank 2, which " + COMPUTES,
        r"rank 3 waits in MPI_Barrier of a communicator of ranks 2 and 3, for [\d.]+ s"]),
}


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)
    with open(AGENT, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(AGENT, 0o755)


class Why(LaunchCase):

    def lamina(self, *words):
        return subprocess.run([LAMINA, *words], check=False, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=environment(self.mark))

    def hang(self, way, ranks, options=()):
        job = self.start_job(STUCK, way, ranks=ranks, options=options)
        self.assertEqual(self.read_lines(job, ranks), ["here"] * ranks)
        return job

    def why(self, job, wanted, *words, deadlock=None):
        """Asks until all that is wanted is said, and whether it is a deadlock; returns what is said."""
        said = []

        def is_said():
            answer = self.lamina("why", *words, str(job.pid))
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            said[:] = answer.stdout.splitlines()
            is_deadlock = any(line.startswith("deadlock") for line in said)
            return deadlock in (None, is_deadlock) and all(
                any(re.fullmatch(line, each) for each in said) for line in wanted)

        self.assertTrue(wait_until(is_said, 30), "\n".join(["wanted:", *wanted, "said:", *said]))
        return said

    def end(self, job):
        job.terminate()
        job.wait(timeout=30)

    def ask_and_time_out(self, way, options=()):
        ranks, wanted = WAYS[way]
        job = self.hang(way, ranks, options)
        self.why(job, wanted, deadlock=any(line.startswith("deadlock") for line in wanted) or
                 way in ("wrong_comm", "probe"))
        self.end(job)
        # The first is long enough for ranks to start and for a shepherd to tell twice, unless the machine is slow.
        for seconds in (4, 12, 36):
            result = self.run_job(STUCK, way, ranks=ranks, options=["--timeout", str(seconds), *options])
            self.assertEqual(result.returncode, 124, result.stderr)
            lines = result.stderr.splitlines()
            self.assertRegex(lines[0], r"^mpiexec: timeout after %d s, still running: " % seconds)
            unsaid = [line for line in wanted
                      if not any(re.fullmatch("mpiexec:   " + line, each) for each in lines)]
            if not unsaid:
                break
        self.assertEqual(unsaid, [], result.stderr)

    def test_hang_after(self):
        """The job goes on until it is told to end, and is spoken of once. Whoever computes does not hang."""
        ranks, wanted = WAYS["head_to_head"]
        for options in ([], ["--agent", AGENT + " {host}", "-H", "one:2,two:2",
                             "--param", "launcher.shepherd.silence_ms=2000"]):
            with self.subTest(options):
                job = self.hang("head_to_head", ranks, ["--hang-after", "1.5", *options])
                said = job.stderr.readline().decode()
                self.assertEqual(said, "mpiexec: no rank has gone on for 1.5 s (--hang-after):\n")
                self.assertIsNone(job.poll())
                job.terminate()
                rest = job.stderr.read().decode()
                job.wait(timeout=30)
                self.assertNotIn("--hang-after", rest)
                lines = rest.splitlines()
                for line in wanted:
                    self.assertTrue(any(re.fullmatch("mpiexec:   " + line, each) for each in lines), lines)
        ranks, _ = WAYS["missing_member"]
        result = self.run_job(STUCK, "missing_member", ranks=ranks, options=["--hang-after", "0.5", "--timeout", "4"])
        self.assertEqual(result.returncode, 124)
        self.assertNotIn("--hang-after", result.stderr)

    def test_hang_after_that_ends_the_job(self):
        """Only a rank that waits for certain hangs; one that only tests may compute in between."""
        ranks, wanted = WAYS["head_to_head"]
        for options in ([], ["--agent", AGENT + " {host}", "-H", "one:2,two:2",
                             "--param", "launcher.shepherd.silence_ms=2000"]):
            with self.subTest(options):
                result = self.run_job(STUCK, "head_to_head", ranks=ranks,
                                      options=["--hang-after", "1.5:end", *options])
                self.assertEqual(result.returncode, 124, result.stderr)
                lines = result.stderr.splitlines()
                self.assertEqual(lines[0], "mpiexec: no rank has gone on for 1.5 s (--hang-after); the job was ended")
                for line in wanted:
                    self.assertTrue(any(re.fullmatch("mpiexec:   " + line, each) for each in lines), lines)
        # A lock is waited for in many short waits.
        result = self.run_job(STUCK, "locked", ranks=3, options=["--hang-after", "1.5:end"])
        self.assertEqual(result.returncode, 124, result.stderr)
        ranks, _ = WAYS["probe"]
        job = self.hang("probe", ranks, ["--hang-after", "0.5:end"])
        self.assertEqual(job.stderr.readline().decode(), "mpiexec: no rank has gone on for 0.5 s (--hang-after):\n")
        self.assertIsNone(job.poll())
        job.terminate()
        self.assertNotIn("--hang-after", job.stderr.read().decode())
        job.wait(timeout=30)

    def test_two_hosts(self):
        agent = ["--agent", AGENT + " {host}", "--param", "launcher.shepherd.silence_ms=2000"]
        for way in ("head_to_head", "missing_member", "send_send"):
            with self.subTest(way):
                self.ask_and_time_out(way, [*agent, "-H", "one:2,two:2"])

    def test_a_tree_of_hosts(self):
        ranks, wanted = WAYS["missing_member"]
        job = self.hang("missing_member", ranks, [
            "--agent", AGENT + " {host}", "-H", "one:1,two:1,three:1,four:1",
            "--param", "spawner.exec.onward=yes", "--param", "launcher.shepherd.width=2"])
        self.why(job, wanted)
        self.end(job)

    def test_a_rank_that_is_stopped(self):
        job = self.hang("stopped", 3)
        process = self.wait_for_ranks(job, 3)[1]
        os.kill(process, signal.SIGSTOP)
        self.why(job, [r"ranks 0 and 2 wait for rank 1, which is stopped by a signal"])
        self.end(job)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "jobs need a network of their own")
    def test_a_job_and_the_one_that_it_has_spawned(self):
        """In a network of its own, lamina sees no jobs of others."""
        job = subprocess.Popen(["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "-",
                                *command(STUCK, "spawn")], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(self.mark))
        self.started.append(job)
        self.assertEqual(self.read_lines(job, 2), ["here"] * 2)
        said = []
        wanted = [r"mpiexec %d: .*stuck spawn" % job.pid, r"mpiexec \d+: .*stuck spawned",
                  r"rank 0 waits in MPI_Recv for a message from a process of another job with tag 3 in .*, for .*",
                  r"rank 0 waits in MPI_Recv for a message from a process of another job with tag 4 in .*, for .*"]

        def is_said():
            asked = subprocess.run(["nsenter", "--net=/proc/%d/ns/net" % job.pid, LAMINA, "why"], check=False,
                                   capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                                   env=environment(self.mark))
            said[:] = asked.stdout.splitlines() + asked.stderr.splitlines()
            return all(any(re.fullmatch(line, each) for each in said) for line in wanted)

        self.assertTrue(wait_until(is_said, 30), "\n".join(["wanted:", *wanted, "said:", *said]))
        self.end(job)

    def test_queues(self):
        job = self.hang("wrong_tag", 2)
        said = self.why(job, WAYS["wrong_tag"][1], "--queues")
        self.assertIn("rank 1: receive from rank 0 with tag 5, 4 bytes", said)
        self.assertIn("rank 1: unexpected message from rank 0 with tag 6 in MPI_COMM_WORLD, 4 bytes", said)
        self.end(job)

    def test_stacks_of_sixteen_ranks_on_two_hosts(self):
        if shutil.which("eu-stack") is None and shutil.which("gdb") is None:
            self.skipTest("neither eu-stack nor gdb is here: third_party/install test")
        job = self.hang("missing_member", 16, ["--agent", AGENT + " {host}", "-H", "one:8,two:8"])
        self.why(job, [r"ranks 0-14 wait for rank 15, which " + COMPUTES])
        result = self.lamina("stack", str(job.pid), "--agent", AGENT + " {host}")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = [line.strip() for line in result.stdout.splitlines()]
        self.assertTrue(any(re.match(r"0-15: ", line) for line in lines), result.stdout)
        self.assertTrue(any(re.match(r"0-14: missing_member|0-14: P?MPI_Allreduce", line) for line in lines),
                        result.stdout)
        self.assertTrue(any(re.match(r"15: compute_for_ever", line) for line in lines), result.stdout)
        self.end(job)

    def test_mistakes(self):
        none = self.lamina("why", "1")
        self.assertEqual((none.returncode, none.stderr), (2, "lamina why: no mpiexec runs here as process 1\n"))
        self.assertEqual(self.lamina("why", "--loudly").returncode, 2)
        self.assertTrue(self.lamina("why", "--help").stdout.startswith("usage: lamina why "))


def add_way(way):
    setattr(Why, "test_" + way, lambda self: self.ask_and_time_out(way))


for each_way in WAYS:
    add_way(each_way)

if __name__ == "__main__":
    unittest.main()
