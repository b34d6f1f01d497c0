#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   whoever is killed at whatever moment, nothing is left soon after: no process, no file.
Method: every process of a job carries a mark in its environment; kill -9 at many moments, then look
        at the process table, /dev/shm and /tmp."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import (ACTOR, MPIEXEC, PMIX_CLIENT, SUPPRESSIONS, TIME_LIMIT_S, LaunchCase, command, environment,
                     lamina_files, main, processes_with, ranks_of, wait_until)

MOMENTS = 20
SEED = 4711
NOBODY_ELSE = 61000 + os.getpid() % 500  # a user id that distributions leave free


def fields_of(process):
    """What /proc says behind the name of a process; zeros if there is none."""
    try:
        with open("/proc/%d/stat" % process, encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()
    except OSError:
        return ["0"] * 20


def state_of(process):
    return fields_of(process)[0]


def parent_of(process):
    return int(fields_of(process)[1])


def threads_of(process):
    return int(fields_of(process)[17])


class Leftovers(LaunchCase):
    def setUp(self):
        super().setUp()
        self.files_before = lamina_files()

    def nothing_left(self):
        gone = wait_until(lambda: not processes_with(self.mark))
        self.assertTrue(gone, "still running: %s" % processes_with(self.mark))
        self.assertEqual(self.no_files_of(self.files_before), [])

    def test_normal_end(self):
        self.assertEqual(self.run_job(PMIX_CLIENT, "exchange", ranks=4).returncode, 0)
        self.nothing_left()

    def test_children_of_ranks(self):
        for step in ("child", "stray"):
            with self.subTest(step=step):
                job = self.run_job(ACTOR, step, "say=left", ranks=3)
                self.assertEqual((job.returncode, job.stdout), (0, "left\n" * 3))
                self.nothing_left()

    def test_a_filter_that_the_shell_made_a_child_of_mpiexec(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            subprocess.run(["bash", "-c", '"${@:2}" > >(sort > "$1")', "bash", log,
                            *command("echo", "line", ranks=2)],
                           check=True, timeout=TIME_LIMIT_S, env=environment(self.mark))

            def logged():
                with open(log, encoding="ascii") as file:
                    return file.read()
            self.assertTrue(wait_until(lambda: os.path.exists(log) and logged() == "line\nline\n"))

    def test_children_of_a_killed_rank(self):
        job = self.run_job(ACTOR, "child", "stray", "at=1", "die=9", "at=0", "wait", ranks=2)
        self.assertEqual(job.returncode, 128 + 9)
        self.nothing_left()

    def test_launcher_killed_with_grandchildren(self):
        for step in ("child", "stray"):
            with self.subTest(step=step):
                process = self.start_job(ACTOR, step, "say=ready", "wait", ranks=3)
                self.read_lines(process, 3)
                process.kill()
                process.wait()
                self.nothing_left()

    def test_launcher_killed_with_a_child_of_a_zombie(self):
        """A process without its first thread has no environment to see, and may be a parent all the same."""
        process = self.start_job(ACTOR, "headless", "wait", ranks=2)
        self.assertEqual(self.read_lines(process, 2), ["headless"] * 2)

        def zombies():
            found = {parent_of(child) for child in processes_with(self.mark)}
            return [parent for parent in found if state_of(parent) == "Z"]
        self.assertTrue(wait_until(lambda: len(zombies()) == 2))
        headless = zombies()
        process.kill()
        process.wait()
        self.nothing_left()
        self.assertTrue(wait_until(lambda: all(threads_of(parent) < 2 for parent in headless)))

    def test_launcher_killed_while_a_stray_forks_and_ends(self):
        """A look at the process table may find the parent dead and not yet see the child."""
        for attempt in range(10):
            with self.subTest(attempt=attempt):
                process = self.start_job(ACTOR, "run=300", "say=ready", "wait", ranks=4)
                self.read_lines(process, 4)
                process.kill()
                process.wait()
                self.nothing_left()

    def test_launchers_whole_group_killed(self):
        process = self.start_job(ACTOR, "child", "stray", "say=ready", "wait", ranks=2,
                                 start_new_session=True)
        self.read_lines(process, 2)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.nothing_left()

    @unittest.skipUnless(os.geteuid() == 0, "needs a user whose leftovers are all of this test")
    def test_launcher_and_guard_killed(self):
        """Nobody is left who could clean up: `lamina clean` does, when asked. It would remove leftovers of
        all jobs of its user, so this user has no others."""
        place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, place)
        os.chmod(place, 0o755)
        mpiexec, actor, *_ = [shutil.copy2(os.path.realpath(file), place)
                              for file in (MPIEXEC, ACTOR, *SUPPRESSIONS.values())]
        process = subprocess.Popen(
            [mpiexec, "--oversubscribe", "-n", "2", actor, "child", "stray", "say=ready", "wait"],
            cwd=place, user=NOBODY_ELSE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment(self.mark, folder=place))
        self.started.append(process)
        self.read_lines(process, 2)
        for victim in (self.guard_of(process.pid), process.pid):
            os.kill(victim, signal.SIGKILL)
        process.wait()
        self.assertTrue(wait_until(lambda: len(processes_with(self.mark)) == 4))
        done = subprocess.run(["lamina", "clean"], executable=mpiexec, check=False, text=True,
                              cwd=place, user=NOBODY_ELSE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment("clean", folder=place),
                              timeout=TIME_LIMIT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("(actor), a rank without a launcher", done.stdout)
        self.nothing_left()

    def guard_of(self, pid):
        """It gives itself its name, maybe later than ranks have come to speak."""
        def found():
            for child in self.children(pid):
                with open("/proc/%d/comm" % child, encoding="ascii") as file:
                    if file.read() == "mpiexec-guard\n":
                        return child
            return None
        guard = wait_until(found)
        self.assertIsNotNone(guard, "no guard")
        return guard

    def kill_at_moments(self, victim_of, after):
        """Kills victim_of(process) at MOMENTS random moments of a PMIx job's life."""
        dice = random.Random(SEED)
        for moment in range(MOMENTS):
            delay = dice.uniform(0.0, 0.12)
            with self.subTest(moment=moment, delay=delay):
                process = self.start_job(
                    "sh", "-c", "%s exchange; %s stray wait" % (PMIX_CLIENT, ACTOR), ranks=4)
                time.sleep(delay)  # tidy: sleep: the moment of the kill is the test
                victim = victim_of(process, dice)
                if victim is not None:
                    os.kill(victim, signal.SIGKILL)
                after(process, victim is not None)
                self.nothing_left()

    def test_rank_killed_at_any_moment(self):
        def one_rank(process, dice):
            ranks = wait_until(lambda: ranks_of(process.pid))
            rank = dice.choice(sorted(ranks))
            self.victim = rank
            return ranks[rank]

        def says_who(process, _):
            self.assertEqual(process.wait(10), 128 + 9)
            message = process.stderr.read().decode()
            self.assertIn("rank %d on" % self.victim, message)
            self.assertIn("was killed by signal 9 (SIGKILL, killed)", message)
        self.kill_at_moments(one_rank, says_who)

    def test_launcher_killed_at_any_moment(self):
        def launcher(process, _):
            return process.pid

        def reap(process, _):
            self.assertEqual(process.wait(10), -signal.SIGKILL)
        self.kill_at_moments(launcher, reap)

    def test_guard_is_no_burden(self):
        """Killing the guard itself does the job no harm."""
        process = self.start_job(ACTOR, "say=ready", "heed=15", "say=ready", "wait", ranks=2)
        self.read_lines(process, 4)
        for child in self.children(process.pid):
            if child not in ranks_of(process.pid).values():
                os.kill(child, signal.SIGKILL)
        process.terminate()
        self.assertEqual(process.wait(10), 40 + 15)
        self.nothing_left()

    def children(self, pid):
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            return [int(child) for child in file.read().split()]

    def test_many_starts(self):
        descriptors = len(os.listdir("/proc/self/fd"))
        for _ in range(100):
            subprocess.run(command("true", ranks=2), check=True, env=environment(self.mark))
        self.nothing_left()
        self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)


if __name__ == "__main__":
    main()
