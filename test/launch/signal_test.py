#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a signal to mpiexec is a signal to its ranks, and ctrl-C, ctrl-Z and their kin do what the
        user's hand expects.
Method: ranks say what they have heard; the process table says who is stopped."""

import os
import signal

from harness import ACTOR, LaunchCase, main, ranks_of, wait_until


def state_of(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


class Forwarding(LaunchCase):
    def ready(self, *steps, ranks=2, **more):
        """A job whose ranks have done `steps`, said "ready" and wait."""
        process = self.start_job(ACTOR, *steps, "say=ready", "wait", ranks=ranks, **more)
        self.assertEqual(self.read_lines(process, ranks), ["ready"] * ranks)
        return process

    def test_every_signal_arrives(self):
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                # The first that ends takes the others along, who may not have said anything yet.
                process = self.ready("hear=%d" % number)
                process.send_signal(number)
                self.assertEqual(self.read_lines(process, 2), ["got %02d" % number] * 2)
                os.kill(ranks_of(process.pid)[0], signal.SIGKILL)
                self.assertNotEqual(process.wait(10), 0)
                process = self.ready("heed=%d" % number, ranks=1)
                process.send_signal(number)
                self.assertEqual(self.read_lines(process, 1), ["got %02d" % number])
                self.assertEqual(process.wait(10), 40 + number % 40)

    def test_a_rank_may_go_on(self):
        process = self.ready("hear=10", "hear=12", "heed=15")
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            process.send_signal(number)
            self.assertEqual(self.read_lines(process, 2), ["got %d" % number] * 2)
            self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(10), 40 + 15)

    def test_status_after_sigterm(self):
        process = self.ready()
        process.terminate()
        self.assertEqual(process.wait(10), 128 + 15)
        self.assertEqual(process.stderr.read(), b"")

    def test_interrupt_is_seen_by_the_shell(self):
        process = self.ready()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), -signal.SIGINT)
        self.assertEqual(process.stderr.read(), b"")

    def test_second_interrupt_kills(self):
        process = self.ready("hear=2")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.read_lines(process, 2), ["got 02"] * 2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 128 + 9)
        self.assertEqual(process.stderr.read(), b"")

    def test_hint_after_the_first_interrupt(self):
        process = self.ready("deaf=2",
                             options=["--param", "launcher.supervise.hint_ms=100"])
        process.send_signal(signal.SIGINT)
        self.assertIn(b"2 still run; press it again to kill them", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 128 + 9)

    def test_stopped_ranks_are_ended(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.ready()
            for rank in ranks_of(process.pid).values():
                os.kill(rank, signal.SIGSTOP)
            process.send_signal(number)
            self.assertIn(process.wait(10), (128 + number, -number))

    def test_what_was_ignored_stays_ignored(self):
        for number in (signal.SIGHUP, signal.SIGINT):
            process = self.ready("hear=10",
                                 preexec_fn=lambda n=number: signal.signal(n, signal.SIG_IGN))
            process.send_signal(number)
            process.send_signal(number)
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(self.read_lines(process, 2), ["got 10"] * 2)
            process.terminate()
            self.assertEqual(process.wait(10), 128 + 15)

    def test_a_rank_that_has_left_its_group(self):
        leave = ("import os, signal; os.setpgid(0, os.getpgid(os.getppid())); print('left', flush=True)\n"
                 "signal.pause()")
        process = self.start_job("python3", "-c", leave)
        self.assertEqual(process.stdout.readline(), b"left\n")
        process.terminate()
        self.assertEqual(process.wait(10), 128 + 15)

    def test_interrupt_lets_ranks_finish_what_they_do_about_it(self):
        process = self.start_job(ACTOR, "at=0", "heed=2", "at=1", "deaf=2", "say=ready", "at=0",
                                 "say=ready", "wait", "at=1", "pause=700", "say=saved", ranks=2)
        self.read_lines(process, 2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.read_lines(process, 2), ["got 02", "saved"])
        self.assertEqual(process.wait(10), 42)

    def test_stop_and_continue(self):
        process = self.ready(ranks=2)
        ranks = list(ranks_of(process.pid).values())
        process.send_signal(signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: state_of(process.pid) == "T"))
        self.assertTrue(wait_until(lambda: all(state_of(rank) == "T" for rank in ranks)))
        process.send_signal(signal.SIGCONT)
        self.assertTrue(wait_until(lambda: all(state_of(rank) != "T" for rank in ranks)))
        process.terminate()
        self.assertEqual(process.wait(10), 128 + 15)

    def test_stopped_ranks_can_be_ended(self):
        process = self.ready(ranks=2)
        ranks = ranks_of(process.pid)
        for rank in ranks.values():
            os.kill(rank, signal.SIGSTOP)
        os.kill(ranks[1], signal.SIGKILL)
        self.assertEqual(process.wait(10), 128 + 9)


if __name__ == "__main__":
    main()
