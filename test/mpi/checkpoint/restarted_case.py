# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share that have criu save a job, and restart it: the job, and a case that has it saved, ended and
compared."""

import glob
import os
import re
import shutil
import signal
import subprocess
import sys
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
    if not job.begins():
        return read("err")
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
    """A job whose output goes into the files out and err, or all into out, behind what is there."""

    def __init__(self, words, begin=True, stdin="/dev/null", together=False):  # a path or a descriptor
        for name in ("stop", "out", "err") if begin else ("stop",):
            if os.path.lexists(os.path.join(SCRATCH, name)):
                os.unlink(os.path.join(SCRATCH, name))
        with open(os.path.join(SCRATCH, "out"), "a", encoding="ascii") as out, \
                open(os.path.join(SCRATCH, "err"), "a", encoding="ascii") as err, \
                open(stdin, encoding="ascii", closefd=isinstance(stdin, str)) as given:
            self.process = subprocess.Popen(words, cwd=SCRATCH, stdin=given, stdout=out,
                                            stderr=out if together else err)

    def wait_for(self, word, count):
        """Waits until it has said the word so often."""
        until = time.monotonic() + TIME_LIMIT_S
        while read("out").count(word) < count:
            assert self.process.poll() is None, (self.process.returncode, read("err")[-1000:])
            assert time.monotonic() < until, "it does not go on: " + read("err")[-1000:]

    def begins(self):
        """Waits until it has said something; False if it has ended before."""
        until = time.monotonic() + TIME_LIMIT_S
        while "turn" not in read("out"):
            if self.process.poll() is not None:
                return "turn" in read("out")
            assert time.monotonic() < until, "it says nothing: " + read("err")[-1000:]
        return True

    def go_on(self, turns):
        """Waits until it has said the results of so many turns more."""
        self.wait_for("turn", read("out").count("turn") + turns)

    def save(self, *words):
        self.go_on(1)
        return run(LAMINA, "checkpoint", *words, str(self.process.pid))

    def save_at_once(self, *words):
        """Saves it as soon as its mpiexec answers."""
        until = time.monotonic() + TIME_LIMIT_S
        while True:
            saved = run(LAMINA, "checkpoint", *words, str(self.process.pid))
            if saved.returncode != 2 or self.process.poll() is not None:
                return saved
            assert time.monotonic() < until, "it does not answer: " + saved.stderr

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


def ranks_of(job):
    """The process ids of the ranks, which a shepherd may have started."""
    found, above = [], [str(job.process.pid)]
    while above:
        below = subprocess.run(["pgrep", "-P", ",".join(above)], check=False, text=True, capture_output=True).stdout
        for process in below.split():
            try:
                with open("/proc/%s/cmdline" % process, encoding="ascii") as file:
                    if file.read().startswith(PROGRAM + "\0"):
                        found.append(int(process))
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
        above = below.split()
    return found


def holders(path):
    """The processes that have the file open."""
    path, found = os.path.realpath(path), set()
    for entry in glob.glob("/proc/[0-9]*/fd/[0-9]*"):
        try:
            if os.readlink(entry) == path:
                found.add(int(entry.split("/")[2]))
        except OSError:
            pass  # it has ended
    return sorted(found)


class RestartedCase(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(STORE, ignore_errors=True)
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.process.poll() is None:
                job.kill()

    def job(self, words, **how):
        self.jobs.append(Job(words, **how))
        return self.jobs[-1]

    def start(self, ranks, *options, way=("course",), **how):
        """Starts steady.c, which communicates in this way."""
        return self.job([MPIEXEC, "-n", str(ranks), "--oversubscribe", *PREPARED, *options, PROGRAM, way[0], STOP,
                         *way[1:]], **how)

    def restart(self, *words, **how):
        return self.job([LAMINA, "restart", *words, STORE], begin=False, **how)

    def save(self, job, *words):
        saved = job.save(*words)
        self.assertEqual(saved.returncode, 0, saved.stderr)

    def save_and_end(self, job):
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])

    def end(self, job):
        """Has it come to its end."""
        job.end()
        self.assertEqual(job.process.returncode, 0, read("out")[-200:] + read("err")[-1000:])

    def compare(self, ranks, job, errors_again=False):
        """Ends the job, and compares all that was said with what an undisturbed run says. Of a job that was not ended
        when it was saved, standard error has some lines again."""
        job.go_on(3)
        self.end(job)
        out, err = read("out"), read("err")
        turns = out.count("turn")
        alone = run(MPIEXEC, "--quiet", "-n", str(ranks), "--oversubscribe", *PREPARED, PROGRAM, "course", STOP, str(turns))
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(out, alone.stdout)
        # What mpiexec says may come behind a line that stood open when the job was saved, which it may end.
        if not errors_again:
            self.assertEqual(re.sub(r"mpiexec: .*\n", "", err).replace("\n", ""), alone.stderr.replace("\n", ""))

    def kill_a_rank(self, job):
        os.kill(ranks_of(job)[-1], signal.SIGKILL)

    def wait_for_error(self, job, text, count=1):
        until = time.monotonic() + TIME_LIMIT_S
        while read("err").count(text) < count:
            self.assertIsNone(job.process.poll(), read("err")[-1000:])
            self.assertLess(time.monotonic(), until, read("err")[-1000:])

    def wait_until_ranks_have_ended(self):
        until = time.monotonic() + TIME_LIMIT_S
        while subprocess.run(["pgrep", "-f", "^" + PROGRAM], check=False, capture_output=True).stdout:
            self.assertLess(time.monotonic(), until, "a rank outlives its mpiexec")


def main():
    first = 2 if sys.argv[1:2] and (sys.argv[1].isdigit() or sys.argv[1] == "user") else 1
    unittest.main(argv=[sys.argv[0], *sys.argv[first:]], module="__main__", verbosity=2)
