#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a program that saves its state comes back with the same result, however its job ended, and what is
        damaged is never believed.
Method: saved.c with and without disturbance: ranks that die, mpiexec killed while it stores, restarts of
        restarts, damaged generations, other numbers of ranks, a full disk.
"""

import glob
import os
import re
import shutil
import subprocess
import unittest

MPIEXEC = os.path.abspath("launcher/mpiexec")
PROGRAM = os.path.abspath("test/mpi/checkpoint/saved")
SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
STORE = os.path.join(SCRATCH, "D")
TIME_LIMIT_S = 60


def run(*words):
    return subprocess.run(words, check=False, capture_output=True, text=True, cwd=SCRATCH,
                          timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)


def mpiexec(ranks, *words, options=()):
    return run(MPIEXEC, "-n", str(ranks), "--oversubscribe", *options, PROGRAM, *words)


def saving(ranks, *words, resume=False):
    return mpiexec(ranks, *words, options=["--checkpoint-dir", "D"] + ["--resume"] * resume)


def restart(*words):
    return run(LAMINA, "restart", STORE, *words)


def result_of(text):
    return re.search(r"(?m)^result (\w+)$", text).group(1)


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)


class Saved(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(STORE, ignore_errors=True)

    def generations(self):
        return re.findall(r"(?m)^generation (\d+):", run(LAMINA, "checkpoint", "--verify", STORE).stdout)

    def test_a_rank_dies_and_the_job_is_restarted(self):
        for ranks in (1, 2, 4):
            shutil.rmtree(STORE, ignore_errors=True)
            right = result_of(mpiexec(ranks, "10").stdout)
            died = saving(ranks, "10", "die", "8")
            self.assertEqual(died.returncode, 9, died.stderr)
            self.assertNotIn("result", died.stdout)
            self.assertEqual(self.generations(), ["2", "1"])
            # The last rank dies again after eight more steps, of which there are four.
            again = restart()
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(again.stdout.splitlines(), ["restarted at step 6", "result " + right])
            # A generation may be restarted many times, and its successors too.
            first = restart("--generation", "2")
            self.assertEqual(first.stdout, again.stdout, first.stderr)
            later = restart()
            self.assertEqual(later.stdout.splitlines(), ["restarted at step 9", "result " + right])

    def test_one_script_for_the_first_time_and_every_time(self):
        right = result_of(mpiexec(2, "21").stdout)
        starts = []
        for _ in range(10):
            job = saving(2, "21", "die", "4", resume=True)
            starts.append(job.stdout.splitlines()[0])
            if job.returncode == 0:
                break
        self.assertEqual(starts, ["begun at step 0"] + ["restarted at step %d" % step
                                                        for step in (3, 6, 9, 12, 15, 18)])
        self.assertEqual(result_of(job.stdout), right)
        self.assertEqual(len(self.generations()), 2)

    def test_mpiexec_is_killed_while_it_stores(self):
        right = result_of(mpiexec(2, "12").stdout)
        killed = saving(2, "12", "kill_launcher", "6")
        self.assertEqual(killed.returncode, -9)
        self.assertIn(self.generations(), (["1"], ["2", "1"]))
        again = run(MPIEXEC, "-n", "2", "--oversubscribe", "--checkpoint-dir", STORE, "--resume", PROGRAM, "12")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertRegex(again.stdout, r"restarted at step [36]\n")
        self.assertEqual(result_of(again.stdout), right)
        self.assertFalse([name for name in os.listdir(STORE) if name.endswith(".part")])

    def test_a_damaged_generation_is_named_and_the_one_before_taken(self):
        right = result_of(saving(2, "10").stdout)
        self.assertEqual(self.generations(), ["3", "2"])
        with open(os.path.join(STORE, "g000003/rank00001/regions"), "r+b") as file:
            file.seek(50)
            file.write(b"x")
        again = restart()
        self.assertEqual(again.stdout.splitlines(), ["restarted at step 6", "result " + right])
        self.assertRegex(again.stderr, r"^mpiexec: warning: g000003: rank00001/regions is damaged: ")
        for name in glob.glob("g*", root_dir=STORE):
            with open(os.path.join(STORE, name, "manifest"), "a", encoding="ascii") as file:
                file.write("x")
        for refused in (restart(), saving(2, "10", resume=True)):
            self.assertEqual(refused.returncode, 2)
            self.assertIn("there is no complete generation", refused.stderr)

    def test_what_does_not_fit_is_refused(self):
        self.assertEqual(saving(2, "3").returncode, 0)
        other = saving(3, "3", resume=True)
        self.assertEqual((other.returncode, other.stderr),
                         (2, "mpiexec: generation 1 has 2 ranks, so the job cannot have 3\n"))
        short = saving(2, "3", "short", resume=True)
        self.assertEqual(short.returncode, 8)
        self.assertRegex(short.stdout, r"rank \d: nothing restored, class \d+\n")
        self.assertIn("region 7 has 4000 bytes, and 8000 were saved", short.stderr)

    def test_a_folder_without_states_is_left_as_it_is(self):
        os.mkdir(STORE)
        refused = restart()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("there is no complete generation", refused.stderr)
        self.assertEqual(os.listdir(STORE), [])

    def test_a_job_that_was_not_prepared_is_told(self):
        job = mpiexec(2, "3")
        self.assertEqual(job.returncode, 0)
        self.assertRegex(job.stdout, r"begun at step 0\nclass \d+ after step 3\n")

    def test_a_job_goes_on_when_it_cannot_be_saved(self):
        os.mkdir(STORE, 0o700)
        os.mkdir(os.path.join(STORE, "g000001.part"))
        os.mkdir(os.path.join(STORE, "g000001.part/rank00000"))
        right = result_of(mpiexec(2, "6").stdout)
        holder = subprocess.Popen(["flock", STORE, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with holder:
            holder.stdin.write(b"x")
            holder.stdin.flush()
            self.assertEqual(holder.stdout.read(1), b"x")  # it has the lock
            job = saving(2, "6")
            holder.stdin.close()
        self.assertEqual(job.returncode, 0)
        self.assertEqual(result_of(job.stdout), right)
        self.assertEqual(job.stderr.splitlines(), [
            "mpiexec: the job cannot be saved: another job is writing a checkpoint in the same directory"] * 2)

    def test_words(self):
        for words, message in (
                ((LAMINA, "restart"), "lamina restart: say which directory\n"),
                ((LAMINA, "restart", STORE, "--generation"), "lamina restart: --generation needs the number of one\n"),
                ((LAMINA, "restart", STORE, "--colour"), "lamina restart: unknown option --colour; --help tells more\n"),
                ((LAMINA, "restart", STORE),
                 "lamina restart: cannot open %s: No such file or directory\n" % STORE),
                ((MPIEXEC, "--resume", PROGRAM, "1"),
                 "mpiexec: --resume needs --checkpoint-dir, which says from where\n")):
            result = run(*words)
            self.assertEqual((result.returncode, result.stderr), (2, message))

    def test_what_may_not_be_used(self):
        os.mkdir(STORE, 0o777)
        os.chmod(STORE, 0o777)
        job = saving(2, "3")
        self.assertEqual(job.returncode, 1)
        self.assertIn("may be written by others (mode 0777); chmod go-w it", job.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
