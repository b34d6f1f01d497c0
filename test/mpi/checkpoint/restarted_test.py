#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a job that was saved by criu and restarted says what the undisturbed job says, bit for bit, and its
        output is neither lost nor repeated, however often that is done.
Method: steady.c communicates all the time and says after every turn what has come of it. It is saved and ended, or
        saved and killed later, and restarted, and in the end compared with as many turns of an undisturbed run.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIEXEC = os.path.abspath("launcher/mpiexec")
PROGRAM = os.path.abspath("test/mpi/checkpoint/steady")
CRIU = os.environ.get("TEST_CRIU", "criu")
SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
STORE = os.path.join(SCRATCH, "D")
STOP = os.path.join(SCRATCH, "stop")
TIME_LIMIT_S = 120
PREPARED = ["--checkpoint", "--checkpoint-dir", "D", "--param", "checkpoint.criu.program=" + CRIU,
            "--param", "checkpoint.engine.use=criu"]


def run(*words):
    return subprocess.run(words, check=False, capture_output=True, text=True, cwd=SCRATCH,
                          timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)


def times(few):
    """How often a test is to be repeated: the dose of the suite, or what the tier says."""
    return int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else few


def why_no_criu():
    """Returns why nothing can be saved by criu here, or nothing."""
    job = Job([MPIEXEC, "-n", "1", *PREPARED, PROGRAM, "course", STOP])
    saved = job.save()
    errors = job.end()
    return None if saved.returncode == 0 else saved.stderr + errors


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)
    why = why_no_criu()
    if why:
        raise unittest.SkipTest("skipped: " + why)


def read(name):
    with open(os.path.join(SCRATCH, name), encoding="ascii") as file:
        return file.read()


class Job:
    """A job whose output goes into the files out and err, behind what is there."""

    def __init__(self, words, begin=True):
        for name in ("stop", "out", "err") if begin else ("stop",):
            if os.path.lexists(os.path.join(SCRATCH, name)):
                os.unlink(os.path.join(SCRATCH, name))
        with open(os.path.join(SCRATCH, "out"), "a", encoding="ascii") as out, \
                open(os.path.join(SCRATCH, "err"), "a", encoding="ascii") as err:
            self.process = subprocess.Popen(words, cwd=SCRATCH, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def wait_for(self, word, count):
        """Waits until it has said the word so often."""
        until = time.monotonic() + TIME_LIMIT_S
        while read("out").count(word) < count:
            assert self.process.poll() is None, (self.process.returncode, read("err")[-1000:])
            assert time.monotonic() < until, "it does not go on: " + read("err")[-1000:]

    def go_on(self, turns):
        """Waits until it has said the results of so many turns more."""
        self.wait_for("turn", read("out").count("turn") + turns)

    def save(self, *words):
        self.go_on(1)
        return run(LAMINA, "checkpoint", *words, str(self.process.pid))

    def wait(self):
        return self.process.wait(timeout=TIME_LIMIT_S)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.wait()

    def end(self):
        with open(STOP, "w", encoding="ascii"):
            pass
        self.wait()
        return read("err")


def children(job, pattern):
    """The process ids of what mpiexec has started with such words."""
    return subprocess.run(["pgrep", "-P", str(job.process.pid), "-f", pattern], check=False, text=True,
                          capture_output=True).stdout.split()


class Restarted(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(STORE, ignore_errors=True)
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.process.poll() is None:
                job.kill()

    def start(self, ranks):
        self.jobs.append(Job([MPIEXEC, "-n", str(ranks), "--oversubscribe", *PREPARED, PROGRAM, "course", STOP]))
        return self.jobs[-1]

    def restart(self, *words):
        self.jobs.append(Job([LAMINA, "restart", *words, STORE], begin=False))
        return self.jobs[-1]

    def save(self, job, *words):
        saved = job.save(*words)
        self.assertEqual(saved.returncode, 0, saved.stderr)

    def compare(self, ranks, job):
        """Ends the job, and compares all that was said with what an undisturbed run says."""
        job.go_on(3)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        out, err = read("out"), read("err")
        turns = out.count("turn")
        alone = run(MPIEXEC, "-n", str(ranks), "--oversubscribe", *PREPARED, PROGRAM, "course", STOP, str(turns))
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(out, alone.stdout)
        # What mpiexec says may come behind a line that stood open when the job was saved.
        self.assertEqual(re.sub(r"mpiexec: .*\n", "", err), alone.stderr)

    def test_a_job_that_was_ended_goes_on(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                shutil.rmtree(STORE, ignore_errors=True)
                job = self.start(ranks)
                for _ in range(2):
                    self.save(job, "--end")
                    self.assertEqual(job.wait(), 85, read("err")[-1000:])
                    job = self.restart()
                self.compare(ranks, job)

    def test_what_came_after_the_saved_state_comes_again(self):
        job = self.start(2)
        for _ in range(2):
            self.save(job)
            job.go_on(5)
            job.kill()
            job = self.restart()
        self.compare(2, job)

    def test_a_state_is_restarted_again_and_a_damaged_one_is_not(self):
        job = self.start(2)
        self.save(job)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85)
        again = self.restart()
        again.go_on(2)
        again.kill()
        folder = os.path.join(STORE, "g000002", "rank00001")
        files = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("pages-")]
        with open(max(files, key=os.path.getsize), "r+b") as file:
            file.seek(5000)
            file.write(b"damage")
        self.compare(2, self.restart())
        self.assertRegex(read("err"), r"mpiexec: warning: g000002: rank00001/pages-\d+.img is damaged: ")
        shutil.rmtree(os.path.join(STORE, "g000001"))
        for words in ([], ["--generation", "1"]):
            refused = run(LAMINA, "restart", *words, STORE)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), refused.stderr)
            self.assertTrue(re.search("lamina restart: .*(there is no complete generation|g000001)", refused.stderr),
                            refused.stderr)

    def test_one_script_for_the_first_time_and_every_time(self):
        script = os.path.join(SCRATCH, "job")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec %s --checkpoint-dir %s --checkpoint-signal USR1:end --resume -n 2 --oversubscribe "
                       "--param checkpoint.criu.program=%s %s course %s\n" % (MPIEXEC, STORE, CRIU, PROGRAM, STOP))
        os.chmod(script, 0o700)
        for start in range(3):
            job = Job([script], begin=start == 0)
            self.jobs.append(job)
            job.go_on(2)
            if start < 2:
                job.process.send_signal(signal.SIGUSR1)
                self.assertEqual(job.wait(), 85, read("err")[-1000:])
        self.compare(2, job)

    def test_states_back_to_back(self):
        job = Job([MPIEXEC, "-n", "4", "--oversubscribe", *PREPARED, PROGRAM, "traffic", STOP])
        self.jobs.append(job)
        job.wait_for("begun", 1)
        for _ in range(times(4)):
            saved = run(LAMINA, "checkpoint", str(job.process.pid))
            self.assertEqual(saved.returncode, 0, saved.stderr)
        job.end()
        self.assertEqual((job.process.returncode, read("out"), read("err")), (0, "begun\ndone\n", ""))

    def test_kills_at_any_moment(self):
        for seed in range(1, times(2) + 1):
            with self.subTest(seed=seed):
                self.kill_somebody(random.Random(seed))

    def kill_somebody(self, dice):
        shutil.rmtree(STORE, ignore_errors=True)
        job = self.start(2)
        self.save(job)
        with subprocess.Popen([LAMINA, "checkpoint", str(job.process.pid)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as saving:
            time.sleep(dice.uniform(0, 1))  # tidy: sleep: the kill is to come at any moment
            name = dice.choice(["steady", "criu", "mpiexec"])
            found = children(job, "criu dump" if name == "criu" else "^" + PROGRAM)
            victim = int(dice.choice(found)) if found and name != "mpiexec" else job.process.pid
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass  # criu had done its work
            saving.wait(timeout=TIME_LIMIT_S)
        if job.process.poll() is None:
            job.kill()  # whether a rank has died with the criu that was inside of it is chance
        until = time.monotonic() + TIME_LIMIT_S
        while subprocess.run(["pgrep", "-f", "^" + PROGRAM], check=False, capture_output=True).stdout:
            self.assertLess(time.monotonic(), until, "a rank outlives its mpiexec")
        self.compare(2, self.restart())

    def test_a_rank_is_killed_while_criu_saves_it(self):
        for _ in range(times(4)):
            shutil.rmtree(STORE, ignore_errors=True)
            job = self.start(2)
            job.go_on(1)
            with subprocess.Popen([LAMINA, "checkpoint", str(job.process.pid)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as saving:
                while not children(job, "criu dump"):
                    self.assertIsNone(saving.poll())
                os.kill(int(children(job, "^" + PROGRAM)[0]), signal.SIGKILL)
                self.assertEqual(saving.wait(timeout=TIME_LIMIT_S), 1)
            self.assertEqual(job.wait(), 137, read("err")[-1000:])

    def test_the_end_of_a_restarted_rank_is_judged(self):
        job = self.start(2)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85)
        job = self.restart()
        job.go_on(1)
        children = subprocess.run(["pgrep", "-P", str(job.process.pid), "steady"], check=True, text=True,
                                  capture_output=True).stdout.split()
        self.assertEqual(len(children), 2)
        os.kill(int(children[-1]), signal.SIGKILL)
        self.assertEqual(job.wait(), 137)
        self.assertRegex(read("err"), r"(?m)^mpiexec: rank \d on \S+ was killed by signal 9 \(SIGKILL, killed\)")


    def criu_that(self, line):
        """Returns the option that makes criu do this first when it is to revive something."""
        path = os.path.join(SCRATCH, "slow_criu")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n[ \"$1\" != restore ] || { %s; }\nexec %s \"$@\"\n" % (line, CRIU))
        os.chmod(path, 0o700)
        return "checkpoint.criu.program=" + path

    def test_reviving_slowly_is_no_silence(self):
        job = self.start(2)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        job = self.restart("--param", self.criu_that("sleep 3"),  # tidy: sleep: criu is to be slow
                           "--param", "launcher.shepherd.silence_ms=1000")
        self.compare(2, job)

    def test_a_job_is_ended_while_it_is_being_revived(self):
        job = self.start(2)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        reviving = os.path.join(SCRATCH, "reviving")
        job = self.restart("--param", self.criu_that("touch %s; exec sleep 86431" % reviving))  # tidy: sleep: it hangs
        while not os.path.exists(reviving):
            self.assertIsNone(job.process.poll(), read("err")[-1000:])
        job.process.send_signal(signal.SIGTERM)
        self.assertNotEqual(job.wait(), 0)
        self.assertEqual(subprocess.run(["pgrep", "-f", "^sleep 86431$"], check=False, capture_output=True).stdout, b"")


def become_user():
    """Goes on as a user whom nobody is, with copies of what that user has to read."""
    place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    for path in (MPIEXEC, PROGRAM, os.path.abspath("runtime/libmpi_abi.so.1"), os.path.abspath(__file__)):
        copy = os.path.join(place, os.path.relpath(path))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.path.realpath(path), copy)
    variables = dict(os.environ, TEST_TMPDIR=os.path.join(place, "tmp"), LD_LIBRARY_PATH=os.path.join(place, "runtime"))
    os.mkdir(variables["TEST_TMPDIR"])
    if os.path.exists(CRIU):
        shutil.copytree(os.path.dirname(CRIU), os.path.join(place, "criu"), symlinks=True)
        variables["TEST_CRIU"] = os.path.join(place, "criu/criu")
    subprocess.run(["chown", "-R", "64321:64321", place], check=True)
    try:
        return subprocess.run(["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups", sys.executable,
                               os.path.relpath(__file__), *sys.argv[1:]], check=False, cwd=place,
                              env=variables).returncode
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    if sys.argv[1:2] == ["user"] and os.geteuid() == 0:
        sys.exit(become_user())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
