#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a job is saved while it runs, whatever its ranks are in, and goes on with the right answer; what cannot
        be saved is refused with a reason, and the job goes on as well.
Method: steady.c under mpiexec --checkpoint with the engine that saves nothing, so that every rank comes to rest, lets
        its transports go and takes them up again, here as on any machine.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from restarted_case import holders

MPIEXEC = os.path.abspath("launcher/mpiexec")
PROGRAM = os.path.abspath("test/mpi/checkpoint/steady")
SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
STOP = os.path.join(SCRATCH, "stop")
TIME_LIMIT_S = 120
SAVED = r"^generation (\d+): (\d+) ranks?, \d+ bytes; at rest after [\d.]+ s, stopped [\d.]+ s, complete after [\d.]+ s$"


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)


def state_of(process):
    """The letter that /proc has for it; Z if there is no such process."""
    try:
        with open("/proc/%d/stat" % process, encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def lives(process):
    return state_of(process) != "Z"


class Job:
    """A job that runs until it is told to stop, and is killed if the test fails before."""

    def __init__(self, ranks, way, *options, prepared=True, engine="checkpoint.engine.use=pretend", more=()):
        if os.path.lexists(STOP):
            os.unlink(STOP)
        words = [MPIEXEC, "-n", str(ranks), "--oversubscribe"]
        if prepared:
            words += ["--checkpoint", "--checkpoint-dir", "D", "--param", engine]
        self.process = subprocess.Popen([*words, *options, PROGRAM, way, STOP, *more], cwd=SCRATCH, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if way != "late":
            assert self.process.stdout.readline() == "begun\n", self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=TIME_LIMIT_S)

    def save(self):
        return subprocess.run([LAMINA, "checkpoint", str(self.process.pid)], check=False, capture_output=True,
                              text=True, timeout=TIME_LIMIT_S)

    def stop(self):
        with open(STOP, "w", encoding="ascii"):
            pass

    def end(self):
        self.stop()
        output, errors = self.process.communicate(timeout=TIME_LIMIT_S)
        return self.process.returncode, output, errors


class Outside(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(os.path.join(SCRATCH, "D"), ignore_errors=True)

    def save_and_end(self, ranks, way, times, *options):
        shutil.rmtree(os.path.join(SCRATCH, "D"), ignore_errors=True)
        with Job(ranks, way, *options) as job:
            for number in range(1, times + 1):
                saved = job.save()
                self.assertEqual(saved.returncode, 0, saved.stderr)
                self.assertEqual(re.match(SAVED, saved.stdout).groups(), (str(number), str(ranks)), saved.stdout)
            self.assertEqual(job.end(), (0, "done\n", ""), way)

    def test_states_of_an_earlier_job_are_kept(self):
        self.save_and_end(2, "recv", 3)
        with Job(2, "recv") as job:
            for _ in range(3):
                saved = job.save()
                self.assertEqual(saved.returncode, 0, saved.stderr)
            status, output, errors = job.end()
        self.assertEqual((status, output), (0, "done\n"))
        self.assertEqual(errors, "mpiexec: warning: D has saved states of an earlier job, which are kept; `lamina restart` or "
                         "--resume goes on from the newest, generation 3\n")
        self.assertEqual(sorted(os.listdir(os.path.join(SCRATCH, "D"))),
                         ["g000002", "g000003", "g000005", "g000006", "lock"])

    def test_states_in_the_usual_directory(self):
        shutil.rmtree(os.path.join(SCRATCH, "lamina-checkpoint"), ignore_errors=True)
        warning = ""
        for options in (["--checkpoint"], ["--checkpoint"], ["--checkpoint=required"], ["--checkpoint-every", "1h"],
                        ["--checkpoint-signal", "USR1"]):
            with Job(2, "recv", *options, "--param", "checkpoint.engine.use=pretend", prepared=False) as job:
                if warning == "":
                    self.assertEqual(job.save().returncode, 0)
                self.assertEqual(job.end(), (0, "done\n", warning), options)
            warning = ("mpiexec: warning: lamina-checkpoint has saved states of an earlier job, which are kept; `lamina "
                       "restart` or --resume goes on from the newest, generation 1\n")

    def test_two_jobs_at_once(self):
        lock = os.path.join(SCRATCH, "D", "lock")
        pretend = ("--param", "checkpoint.engine.use=pretend")
        with Job(2, "traffic") as job:
            self.assertEqual(job.save().returncode, 0)
            self.assertEqual(holders(lock), [job.process.pid])
            # They wait for a while, so all do at the same time.
            others = [subprocess.Popen(words, cwd=SCRATCH, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
                      for words in ([MPIEXEC, "--checkpoint", "--checkpoint-dir", "D", *pretend, "echo", "begun"],
                                    [MPIEXEC, "--checkpoint-dir", "D", "echo", "begun"],
                                    [MPIEXEC, "--checkpoint-dir", "D", "--resume", "echo", "begun"],
                                    [MPIEXEC, "--checkpoint-dir", "D", "--restarts", "1", "echo", "begun"],
                                    [LAMINA, "restart", "D"])]
            for other in others:
                output, errors = other.communicate(timeout=TIME_LIMIT_S)
                self.assertEqual((other.returncode, output), (1, ""), errors)
                self.assertRegex(errors, r"\A(mpiexec|lamina restart): another job saves its states in (%s/)?D "
                                 r"\(mpiexec %d on \S+\); wait until it ends, end it, or give another --checkpoint-dir\n\Z" %
                                 (SCRATCH, job.process.pid))
            # Whoever only looks is not refused, nor is a job that nobody can save.
            self.assertRegex(self.generations(), r"^generation 1: 2 ranks, .*, whole\n$")
            for more in (["--restarts", "1", "--dry-run", "true"],
                         ["--checkpoint", "--param", "checkpoint.criu.program=/nowhere/criu", "true"]):
                looked = subprocess.run([MPIEXEC, "--checkpoint-dir", "D", *more], check=False, cwd=SCRATCH,
                                        capture_output=True, text=True, timeout=TIME_LIMIT_S)
                self.assertEqual(looked.returncode, 0, looked.stderr)
            self.assertNotIn("earlier job", looked.stderr)
            self.assertEqual(job.save().returncode, 0)
            self.assertEqual(job.end(), (0, "done\n", ""))
        self.save_on_in_the_same_directory()

    def save_on_in_the_same_directory(self):
        with Job(2, "traffic") as job:
            self.assertEqual(job.save().returncode, 0)
            self.assertEqual(job.end()[:2], (0, "done\n"))

    def test_a_killed_job_is_none(self):
        """The next one is started at once, whether or not the ranks of the one before have ended."""
        with contextlib.ExitStack() as jobs:
            job = jobs.enter_context(Job(2, "traffic"))
            for _ in range(20):
                job.process.kill()
                job = jobs.enter_context(Job(2, "traffic"))
            self.assertEqual(job.end(), (0, "done\n", ""))

    def test_under_traffic(self):
        for ranks, times in ((1, 2), (2, 20), (4, 10)):
            self.save_and_end(ranks, "traffic", times)

    def test_ranks_that_wait_for_one_that_computes(self):
        for way in ("recv", "wait", "test", "probe", "barrier"):
            self.save_and_end(3, way, 3)

    def test_messages_that_nobody_has_received(self):
        self.save_and_end(3, "unreceived", 3)

    def test_threads(self):
        self.save_and_end(2, "threads", 5)

    def test_ranks_that_have_finalized(self):
        self.save_and_end(2, "finalized", 2)

    def test_ranks_that_are_in_finalize(self):
        for options in ((), ("--param", "transport.include=ucx,self")):
            self.save_and_end(3, "owed", 3, *options)

    def test_ranks_that_have_not_begun_are_waited_for(self):
        with Job(2, "late") as job:
            with subprocess.Popen([LAMINA, "checkpoint", str(job.process.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as saving:
                job.stop()
                output, errors = saving.communicate(timeout=TIME_LIMIT_S)
            # The ranks may have ended before they were asked.
            self.assertTrue(re.match(SAVED, output) or "ended" in errors or "mpiexec" in errors, (output, errors))
            self.assertEqual(job.end()[0], 0)

    def test_windows(self):
        self.save_and_end(4, "windows", 5)

    def test_a_file_that_is_being_written(self):
        with Job(2, "writing", more=(os.path.join(SCRATCH, "written"),)) as job:
            refused = job.save()
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertRegex(refused.stderr, r"^lamina checkpoint: rank \d cannot be saved: it has used "
                                             r"MPI_File_iwrite_at, and what that has made cannot be saved yet\n$")
            self.assertEqual(job.end(), (0, "done\n", ""))

    def test_what_cannot_be_saved_is_told_and_goes_on(self):
        with Job(2, "reduction", "--param", "checkpoint.stop_ms=500") as job:
            for _ in range(2):
                refused = job.save()
                self.assertEqual((refused.returncode, refused.stdout), (1, ""))
                self.assertRegex(refused.stderr, "^lamina checkpoint: rank \\d( and \\d others?)? ha(s|ve) not come to "
                                                 "rest\n$")
            self.assertEqual(job.end(), (0, "done\n", ""))

    def generations(self):
        return subprocess.run([LAMINA, "checkpoint", "--verify", os.path.join(SCRATCH, "D")], check=False,
                              capture_output=True, text=True).stdout

    def test_a_job_that_is_to_end_is_saved_before(self):
        with Job(2, "traffic") as job:
            saved = subprocess.run([LAMINA, "checkpoint", "--end", str(job.process.pid)], check=False,
                                   capture_output=True, text=True, timeout=TIME_LIMIT_S)
            self.assertEqual((saved.returncode, saved.stderr), (0, ""))
            _, errors = job.process.communicate(timeout=TIME_LIMIT_S)
            self.assertEqual(job.process.returncode, 85, errors)
            self.assertRegex(errors, r"^mpiexec: generation 1: 2 ranks, .*; the job was ended\n$")
        self.assertRegex(self.generations(), r"^generation 1: 2 ranks, .*, whole\n$")

    def test_a_signal_has_the_job_saved(self):
        for option, number, status in (("USR1", signal.SIGUSR1, 0), ("USR2:end", signal.SIGUSR2, 85)):
            shutil.rmtree(os.path.join(SCRATCH, "D"), ignore_errors=True)
            with Job(2, "traffic", "--checkpoint-signal", option) as job:
                job.process.send_signal(number)
                while "whole" not in self.generations():
                    self.assertIn(job.process.poll(), (None, status))
                if status == 0:
                    self.assertEqual(job.end(), (0, "done\n", ""))
                else:
                    job.process.communicate(timeout=TIME_LIMIT_S)
                    self.assertEqual(job.process.returncode, status)

    def test_the_time_has_the_job_saved_again_and_again(self):
        with Job(2, "traffic", "--checkpoint-every", "1s") as job:
            while not re.search("(?m)^generation 2:.*whole$", self.generations()):
                self.assertIsNone(job.process.poll())
            self.assertEqual(job.end(), (0, "done\n", ""))

    def test_a_rank_that_is_killed_ends_the_job_as_always(self):
        with Job(2, "traffic") as job:
            self.assertEqual(job.save().returncode, 0)
            children = subprocess.run(["pgrep", "-P", str(job.process.pid), "steady"], check=True, text=True,
                                      capture_output=True).stdout.split()
            os.kill(int(children[-1]), signal.SIGKILL)
            output, errors = job.process.communicate(timeout=TIME_LIMIT_S)
            self.assertEqual(job.process.returncode, 137, (output, errors))
        self.assertRegex(self.generations(), r"^generation 1: 2 ranks, .* by pretend .*, whole\n$")

    def test_kills_at_any_moment(self):
        seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
        for seed in range(1, seeds + 1):
            with self.subTest(seed=seed):
                self.kill_somebody(random.Random(seed))

    def kill_somebody(self, dice):
        with Job(2, "traffic") as job:
            ranks = [int(rank) for rank in subprocess.run(
                ["pgrep", "-P", str(job.process.pid), "steady"], check=True, text=True,
                capture_output=True).stdout.split()]
            saved = sum(job.save().returncode == 0 for _ in range(2))
            self.assertEqual(saved, 2)
            with subprocess.Popen([LAMINA, "checkpoint", str(job.process.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as saving:
                time.sleep(dice.uniform(0, 0.06))  # tidy: sleep: the kill is to come at any moment
                victim = dice.choice([*ranks, job.process.pid])
                os.kill(victim, signal.SIGKILL)
                saving.communicate(timeout=TIME_LIMIT_S)
            errors = job.process.communicate(timeout=TIME_LIMIT_S)[1]
            self.assertEqual(job.process.returncode, -9 if victim == job.process.pid else 137, errors)
        while any(lives(rank) for rank in ranks):  # those of a launcher that was killed die soon
            pass
        lines = self.generations().splitlines()
        self.assertTrue([line for line in lines if line.endswith("whole")], lines)
        for line in lines:
            self.assertRegex(line, r"^generation \d+: .*, whole$|^g\d+\.part: not complete$")
        # What was left of an unfinished one does not hinder the next job.
        with Job(2, "traffic") as job:
            self.assertEqual(job.save().returncode, 0)
            self.assertEqual(job.end()[0], 0)
        self.assertNotIn("part", self.generations())

    def test_a_job_that_no_engine_can_save_runs_as_always(self):
        with Job(1, "barrier", engine="checkpoint.criu.program=/nowhere/criu") as job:
            refused = job.save()
            self.assertEqual((refused.returncode, refused.stderr),
                             (1, "lamina checkpoint: no checkpoint engine works here; `lamina info checkpoint` says why\n"))
            status, output, errors = job.end()
            self.assertEqual((status, output), (0, "done\n"))
            self.assertEqual(errors, "mpiexec: warning: --checkpoint: there is no program /nowhere/criu; "
                             "install CRIU 4.2 or newer in a folder of PATH, or name one by --param "
                             "checkpoint.criu.program=PATH; third_party/criu in Lamina's source tree fetches one\n")
        self.assertFalse(os.path.exists(os.path.join(SCRATCH, "D")))

    def test_a_job_that_is_to_be_saved_by_itself_needs_an_engine(self):
        """It would be lost when its time is over, or when the signal comes."""
        for option, value in (("--checkpoint-every", "1h"), ("--checkpoint-signal", "USR1:end")):
            refused = subprocess.run([MPIEXEC, option, value, "--param", "checkpoint.criu.program=/nowhere/criu", "true"],
                                     check=False, capture_output=True, text=True, cwd=SCRATCH, timeout=TIME_LIMIT_S)
            self.assertEqual(refused.stdout, "")
            self.assertRegex(refused.stderr, r"\Ampiexec: the processes of this job cannot be saved: there is no program "
                             r"/nowhere/criu; install .*\n\Z")
            self.assertNotEqual(refused.returncode, 0)

    def test_a_job_that_is_suspended(self):
        with Job(2, "traffic") as job:
            job.process.send_signal(signal.SIGSTOP)
            while state_of(job.process.pid) != "T":
                pass
            for words in (["checkpoint"], ["checkpoint", "--end"]):
                refused = subprocess.run([LAMINA, *words, str(job.process.pid)], check=False, capture_output=True,
                                         text=True, timeout=TIME_LIMIT_S)
                self.assertEqual((refused.returncode, refused.stdout, refused.stderr), (
                    2, "", "lamina checkpoint: mpiexec %d is suspended, so it cannot save its job; continue it first "
                           "(kill -CONT %d, or fg in its shell)\n" % (job.process.pid, job.process.pid)))
            job.process.send_signal(signal.SIGCONT)
            self.assertEqual(job.save().returncode, 0)
            self.assertEqual(job.end(), (0, "done\n", ""))

    def test_words(self):
        with Job(1, "barrier", prepared=False) as job:
            refused = job.save()
            self.assertEqual((refused.returncode, refused.stderr),
                             (1, "lamina checkpoint: the job was started without --checkpoint\n"))
            self.assertEqual(job.end()[0], 0)
        for word, message in (("x", '"x" is not the number of a process (lamina ps shows them)'),
                              ("1", "no mpiexec runs here as process 1")):
            refused = subprocess.run([LAMINA, "checkpoint", word], check=False, capture_output=True, text=True)
            self.assertEqual((refused.returncode, refused.stderr), (2, "lamina checkpoint: " + message + "\n"))
        for option, value, message in (
                ("every", "10x", "not a time, as in 90s, 10m or 2h"), ("every", "0", "not a time, as in 90s, 10m or 2h"),
                ("signal", "KILL", "neither USR1, USR2, TERM or HUP, nor one of these and :end"),
                ("signal", "USR1:stop", "neither USR1, USR2, TERM or HUP, nor one of these and :end")):
            refused = subprocess.run([MPIEXEC, "--checkpoint-" + option, value, PROGRAM], check=False,
                                     capture_output=True, text=True)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(message, refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
