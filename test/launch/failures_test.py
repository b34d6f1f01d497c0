#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   what goes wrong on one of several hosts ends the job within a bounded time, with one message
        and nothing left on any host; what is only much, goes through whole.
Method: three virtual hosts by a real ssh, as in hosts_test, which has the plainer cases; shepherds
        frozen, ranks that are deaf, leave children, never come, write a million lines; mpiexec killed
        together with what guards it."""

import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test as hosts  # noqa: E402

hosts.NAME, hosts.PREFIX, hosts.SUBNET = "lamfai", "fa", "10.124.0"
hosts.HOSTS = HOSTS = ["fa1", "fa2", "fa3"]
hosts.SSH[:] = ["--param", "spawner.ssh.options=-F %s/%s/ssh_config" % (hosts.STATE, hosts.NAME)]

setUpModule, tearDownModule = hosts.setUpModule, hosts.tearDownModule


class FailuresTest(hosts.HostsCase):
    def one_message(self, process, seconds, status, words):
        got, _, err = self.ends(process, seconds)
        self.assertRegex(err, "^mpiexec: " + words + "\n$")
        self.assertEqual(got, status)

    def test_shepherd_frozen(self):
        process = self.start_and_wait(
            "wait", options=["--param", "launcher.shepherd.silence_ms=2000"])
        victim = self.shepherds()[HOSTS[1]]
        os.kill(victim, signal.SIGSTOP)
        try:
            self.one_message(process, 12, 1, "fa2 is lost: no sign of life for 2 s "
                                             ".launcher.shepherd.silence_ms.; the job was "
                                            "ended")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGCONT)
        # Whoever thaws it finds that it ends by itself, and its ranks with it.
        self.assertTrue(harness.wait_until(lambda: not self.shepherds(), 5))

    def test_mpiexec_frozen(self):
        """Without a word to anybody (SIGSTOP): the shepherds end their ranks, and say why."""
        process = self.start_and_wait(
            "wait", options=["--param", "launcher.shepherd.silence_ms=1000"])
        process.send_signal(signal.SIGSTOP)
        try:
            self.assertTrue(harness.wait_until(lambda: not self.shepherds(), 20))
        finally:
            process.send_signal(signal.SIGCONT)
        self.one_message(process, 20, 1, r"fa\d is lost: nothing was heard of the launcher for 1 s; "
                                         "the job was ended")

    def test_deaf_ranks_of_a_failed_job(self):
        process = self.start("./actor", "deaf=15", "say=up", "at=4", "exit=7", "at=any", "wait",
                             options=["--param", "launcher.supervise.grace_ms=300"])
        self.one_message(process, 10, 7, "rank 4 on fa3 exited with code 7; the job was ended")

    def test_children_of_a_killed_rank(self):
        process = self.start("./actor", "stray", "child", "say=up", "at=3", "die=9", "at=any",
                             "wait")
        self.one_message(process, 10, 137, r"rank 3 on fa2 was killed by signal 9 \(SIGKILL, "
                                           r"killed\)(;.*)?; the job was ended")
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(self.mark)))

    def test_a_million_lines(self):
        began = time.monotonic()
        process = self.start("sh", "-c", "test $PMIX_RANK != 5 || exec seq 1000000")
        out, err = process.communicate(timeout=harness.TIME_LIMIT_S)
        seconds = time.monotonic() - began
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertTrue(out == "".join("%d\n" % i for i in range(1, 1000001)))
        print("%.0f lines/s from start to end" % (1e6 / seconds), file=sys.stderr)

    def test_a_reader_who_pauses(self):
        """Nothing gathers in mpiexec meanwhile."""
        process = self.start("./actor", "at=5", "flood")
        process.stdout.readline()

        def memory_kb():
            with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        before = memory_kb()
        time.sleep(1.5)  # tidy: sleep: time in which a flood without bounds would show
        self.assertLess(memory_kb() - before, 8192)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=20), 141)

    def test_mpiexec_and_its_neighbours_killed(self):
        """mpiexec, its shepherd on this host and that one's guard at once: other hosts clean up."""
        here = os.uname().nodename
        process = self.start_and_wait("at=2", "child", "at=5", "stray", "at=any", "wait",
                                      hosts=[here, *HOSTS[:2]])
        own = {process.pid}
        for pid in harness.processes_with(self.mark):
            with contextlib.suppress(OSError):
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    if b"mpiexec" in file.read().split(b"\0")[0] and self.host_of(pid) == "here":
                        own.add(pid)
        for pid in own:
            with contextlib.suppress(ProcessLookupError):  # one has died of another's death
                os.kill(pid, signal.SIGKILL)
        process.wait()
        self.assertTrue(harness.wait_until(lambda: not self.shepherds(), 5))
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(self.mark), 5))

    def test_a_rank_that_never_comes(self):
        began = time.monotonic()
        done = self.job("sh", "-c", "test $PMIX_RANK = 3 && exec sleep 1000; exec ./pmix_client "
                                    "exchange",
                        options=["--param", "launcher.shepherd.fence_ms=2000", "--param",
                                 "launcher.shepherd.silence_ms=2000"])
        self.assertLess(time.monotonic() - began, 12)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr,
                         r"warn shepherd: a fence \(MPI_Init\) waits for ranks on fa2.* for [\d.]+ s"
                         r"\nmpiexec: a fence \(MPI_Init\) waits for ranks on fa2 for [\d.]+ s "
                         r"\(launcher.shepherd.fence_ms\); the job was ended\n$")


if __name__ == "__main__":
    harness.main()
