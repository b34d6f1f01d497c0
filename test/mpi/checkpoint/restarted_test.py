#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a job that was saved by criu and restarted says what the undisturbed job says, bit for bit, and its
        output is neither lost nor repeated, however often that is done.
Method: steady.c communicates all the time and says after every turn what has come of it. It is saved and ended, or
        saved and killed later, and restarted, and in the end compared with as many turns of an undisturbed run.
"""

import fcntl
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
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
        while "turn" not in read("out"):
            if self.process.poll() is not None:
                return "turn" in read("out")
        return True

    def go_on(self, turns):
        """Waits until it has said the results of so many turns more."""
        self.wait_for("turn", read("out").count("turn") + turns)

    def save(self, *words):
        self.go_on(1)
        return run(LAMINA, "checkpoint", *words, str(self.process.pid))

    def save_at_once(self, *words):
        """Saves it as soon as its mpiexec answers."""
        while True:
            saved = run(LAMINA, "checkpoint", *words, str(self.process.pid))
            if saved.returncode != 2 or self.process.poll() is not None:
                return saved

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


class Restarted(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(STORE, ignore_errors=True)
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.process.poll() is None:
                job.kill()

    def start(self, ranks, *options):
        self.jobs.append(Job([MPIEXEC, "-n", str(ranks), "--oversubscribe", *PREPARED, *options, PROGRAM, "course",
                              STOP]))
        return self.jobs[-1]

    def restart(self, *words):
        self.jobs.append(Job([LAMINA, "restart", *words, STORE], begin=False))
        return self.jobs[-1]

    def save(self, job, *words):
        saved = job.save(*words)
        self.assertEqual(saved.returncode, 0, saved.stderr)

    def compare(self, ranks, job, errors_again=False):
        """Ends the job, and compares all that was said with what an undisturbed run says. Of a job that was not ended
        when it was saved, standard error has some lines again."""
        job.go_on(3)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        out, err = read("out"), read("err")
        turns = out.count("turn")
        alone = run(MPIEXEC, "--quiet", "-n", str(ranks), "--oversubscribe", *PREPARED, PROGRAM, "course", STOP, str(turns))
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(out, alone.stdout)
        # What mpiexec says may come behind a line that stood open when the job was saved, which it may end.
        if not errors_again:
            self.assertEqual(re.sub(r"mpiexec: .*\n", "", err).replace("\n", ""), alone.stderr.replace("\n", ""))

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
            errors = read("err")
            job = self.restart()
            job.go_on(1)
            # What was said there may tell why a job had to be restarted.
            self.assertEqual(read("err")[:len(errors)], errors)
        self.compare(2, job, errors_again=True)

    def test_a_job_that_runs_is_not_restarted(self):
        """It is once it has been killed, at once, whether or not anybody knows of that yet."""
        job = self.start(2)
        self.save(job)
        refused = run(LAMINA, "restart", STORE)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertRegex(refused.stderr, r"\Alamina restart: another job saves its states in %s \(mpiexec %d on \S+\); "
                         r"wait until it ends, end it, or give another --checkpoint-dir\n\Z" % (STORE, job.process.pid))
        self.assertEqual(self.holders(), [job.process.pid])
        for _ in range(20):
            job.process.send_signal(signal.SIGKILL)
            job = self.restart()
            self.wait_until_it_has_the_directory(job)
        self.compare(2, job, errors_again=True)

    def wait_until_it_has_the_directory(self, job):
        until = time.monotonic() + TIME_LIMIT_S
        while not read("D/lock").startswith("%d " % job.process.pid):
            self.assertIsNone(job.process.poll(), read("err")[-1000:])
            self.assertLess(time.monotonic(), until)

    def holders(self):
        """The processes that have the lock of the directory open."""
        lock, found = os.path.realpath(STORE + "/lock"), set()
        for entry in glob.glob("/proc/[0-9]*/fd/[0-9]*"):
            try:
                if os.readlink(entry) == lock:
                    found.add(int(entry.split("/")[2]))
            except OSError:
                pass  # it has ended
        return sorted(found)

    def test_a_state_that_was_just_saved_to_end(self):
        """It is restarted at once, whether or not its mpiexec has ended."""
        job = self.start(2)
        for _ in range(5):
            self.save(job, "--end")
            job = self.restart()
        self.compare(2, job, errors_again=True)

    def test_a_fast_directory_comes_first(self):
        fast = os.path.join(SCRATCH, "fast")
        shutil.rmtree(fast, ignore_errors=True)
        os.mkdir(fast)
        job = self.start(2, "--param", "checkpoint.store.local=" + fast, "--param", "checkpoint.store.every=2")
        local = os.path.join(STORE, "local")
        for _ in range(3):
            self.save(job)
        self.assertEqual(self.generations(STORE), ["g000002"])
        self.assertEqual(self.generations(local), ["g000002", "g000003"])
        shown = run(LAMINA, "checkpoint", "--verify", STORE)
        self.assertRegex(shown.stdout, r"\Ageneration 2: .*, whole\ngeneration 3: .*, whole, in %s/lamina-\S+\n\Z" % fast)
        job.kill()
        job = self.restart()
        job.go_on(1)
        # A state that the job is to end with, and that cannot be copied, is none.
        with open(os.path.join(STORE, "g000004.part"), "w", encoding="ascii"):
            pass
        refused = job.save("--end")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertRegex(refused.stderr, r"\Alamina checkpoint: generation 4 could not be kept: %s: cannot read the folder "
                         r"g000004.part: Not a directory\n\Z" % STORE)
        os.unlink(os.path.join(STORE, "g000004.part"))
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        self.assertEqual(self.generations(STORE), ["g000002", "g000005"])
        shutil.rmtree(os.path.realpath(local))  # as on another machine
        job = self.restart()
        self.compare(2, job, errors_again=True)

    def generations(self, directory):
        return sorted(name for name in os.listdir(directory) if name.startswith("g"))

    def test_no_other_job_comes_in_between(self):
        job = self.start(2, "--restarts", "1")
        self.save(job)
        with open(os.path.join(STORE, "lock"), encoding="ascii") as lock:
            waiting = threading.Thread(target=fcntl.flock, args=(lock, fcntl.LOCK_EX), daemon=True)
            waiting.start()
            self.kill_a_rank(job)
            self.wait_for_error(job, "the job is restarted from generation 1")
            job.go_on(2)
            self.assertTrue(waiting.is_alive())
            job.end()
            self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
            waiting.join(TIME_LIMIT_S)
            self.assertFalse(waiting.is_alive())

    def test_standard_output_and_error_in_one_file(self):
        """No line of the ranks is there twice, and what mpiexec has said stays."""
        words = [MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, PROGRAM, "course", STOP]
        job = Job(words, together=True)
        self.jobs.append(job)
        self.save(job)
        job.go_on(3)
        self.kill_a_rank(job)
        job.wait()
        said = re.search(r"mpiexec: rank \d on \S+ was killed by signal 9.*\n", read("out"))
        self.assertTrue(said, read("out"))
        job = Job([LAMINA, "restart", STORE], begin=False, together=True)
        self.jobs.append(job)
        job.go_on(3)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("out")[-1000:])
        self.assertEqual(read("out").count(said.group()), 1, read("out"))
        turns = re.findall(r"turn (\d+) value", read("out"))
        self.assertEqual(turns, [str(turn) for turn in range(int(turns[0]), int(turns[0]) + len(turns))], read("out"))
        self.assertEqual(read("err"), "")

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
        self.compare(2, self.restart(), errors_again=True)
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
            file.write("#!/bin/sh\nexec %s --checkpoint-dir %s --checkpoint-signal TERM:end --resume -n 2 --oversubscribe "
                       "--param checkpoint.criu.program=%s %s course %s\n" % (MPIEXEC, STORE, CRIU, PROGRAM, STOP))
        os.chmod(script, 0o700)
        for start in range(3):
            job = Job([script], begin=start == 0)
            self.jobs.append(job)
            job.go_on(2)
            if start < 2:
                job.process.send_signal(signal.SIGTERM)
                self.assertEqual(job.wait(), 85, read("err")[-1000:])
        self.compare(2, job)

    def test_resuming_what_was_saved_otherwise(self):
        job = self.start(2)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        resume = [MPIEXEC, "-n", "2", "--oversubscribe", "--checkpoint-dir", STORE, "--resume"]
        refused = run(*resume, PROGRAM, "course", STOP)
        self.assertEqual((refused.returncode, refused.stdout, refused.stderr), (
            2, "", "mpiexec: generation 1 in %s was saved by criu, so --resume needs --checkpoint or --checkpoint-signal or "
                   "--checkpoint-every beside it\n" % STORE))
        job = Job([*resume, *PREPARED, "echo", "other"], begin=False)
        self.jobs.append(job)
        self.compare(2, job)
        self.assertIn("mpiexec: warning: the job goes on from generation 1 in %s, which is one of `%s course %s` and not of "
                      "`echo other`; to begin anew, remove the directory or give another\n" % (STORE, PROGRAM, STOP),
                      read("err"))

    def test_a_shell_around_the_program(self):
        job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, "sh", "-c",
                   "%s course %s; echo behind it" % (PROGRAM, STOP)])
        self.jobs.append(job)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        job = self.restart()
        job.go_on(3)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        turns, behind = read("out").count("turn"), "behind it\n"
        alone = run(MPIEXEC, "--quiet", "-n", "2", "--oversubscribe", PROGRAM, "course", STOP, str(turns))
        self.assertEqual(read("out").replace(behind, ""), alone.stdout)
        self.assertEqual(read("out").count(behind), 2)

    def test_a_timer_that_has_a_descriptor(self):
        """It has expired whenever the rank is saved."""
        job = Job([MPIEXEC, "-n", "1", *PREPARED, PROGRAM, "ticking", STOP])
        self.jobs.append(job)
        for _ in range(2):
            self.save(job, "--end")
            self.assertEqual(job.wait(), 85, read("err")[-1000:])
            job = self.restart()
            job.go_on(3)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])

    def test_what_ranks_share_without_a_name(self):
        for way, why in (("unlinked", r"/dev/shm/lamina-test-\d+ \(deleted\), whose name is gone, so each would have one of its "
                                      r"own after a restart"),
                         ("named", r"\S+/pipe \(deleted\), whose contents each of them would have after a restart")):
            job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, PROGRAM, way, STOP,
                       os.path.join(SCRATCH, "pipe")])
            self.jobs.append(job)
            refused = job.save()
            self.assertEqual((refused.returncode, refused.stdout), (1, ""), way)
            self.assertRegex(refused.stderr, r"\Alamina checkpoint: ranks share %s\n\Z" % why)
            job.go_on(2)
            job.end()
            self.assertEqual(job.process.returncode, 0, read("err")[-1000:])

    def test_signals_while_ranks_are_revived(self):
        job = self.start(2)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        for number, status in ((signal.SIGTERM, 143), (signal.SIGUSR1, 138)):
            job = self.restart()
            while not children(job, "restore"):  # criu
                self.assertIsNone(job.process.poll(), read("err")[-1000:])
            job.process.send_signal(number)
            self.assertEqual(job.wait(), status, read("err")[-1000:])

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
        self.wait_until_ranks_have_ended()
        self.compare(2, self.restart(), errors_again=True)

    def test_kills_at_each_step(self):
        for seed in range(1, times(2) + 1):
            with self.subTest(seed=seed):
                self.kill_at_a_step(random.Random(seed))

    def kill_at_a_step(self, dice):
        shutil.rmtree(STORE, ignore_errors=True)
        step = dice.choice(("stop", "dump", "write", "commit", "resume", "restart"))
        job = self.start(2, "--restarts", "3")
        self.save(job)
        job.go_on(1)
        part = os.path.join(STORE, "g000002.part")
        has_come = {
            "stop": lambda: os.path.exists(part),
            "dump": lambda: children(job, "criu dump"),
            "write": lambda: glob.glob(part + "/rank0000*/pages-*.img"),
            "commit": lambda: os.path.exists(part + "/manifest") or os.path.exists(part[:-5]),
            "resume": lambda: False,
            "restart": lambda: children(job, "criu restore"),
        }[step]
        with subprocess.Popen([LAMINA, "checkpoint", str(job.process.pid)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as saving:
            if step == "restart":
                saving.wait(timeout=TIME_LIMIT_S)
                self.kill_a_rank(job)
                self.wait_for_error(job, "the job is restarted from generation 2")
                before = read("out").count("turn")
                while not has_come() and read("out").count("turn") <= before:
                    self.assertIsNone(job.process.poll(), read("err")[-1000:])
            while step != "restart" and not has_come() and saving.poll() is None:
                continue  # a moment that is over before it is seen is as good as any
            found = children(job, "criu (dump|restore)") if dice.random() < 0.3 else []
            found = found or (children(job, "^" + PROGRAM) if dice.random() < 0.5 else [])
            victim = int(dice.choice(found)) if found else job.process.pid
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass  # criu had done its work
            if victim == job.process.pid:
                job.wait()
            saving.wait(timeout=TIME_LIMIT_S)
        # A criu that was to revive a rank takes the restart with it, and a rank may die with its criu at any time
        # from now on, so the job is ended in any case.
        if job.process.poll() is None:
            job.kill()
        self.wait_until_ranks_have_ended()
        self.compare(2, self.restart(), errors_again=True)

    def wait_until_ranks_have_ended(self):
        until = time.monotonic() + TIME_LIMIT_S
        while subprocess.run(["pgrep", "-f", "^" + PROGRAM], check=False, capture_output=True).stdout:
            self.assertLess(time.monotonic(), until, "a rank outlives its mpiexec")

    def test_a_rank_is_killed_while_criu_saves_it(self):
        for _ in range(times(4)):
            shutil.rmtree(STORE, ignore_errors=True)
            job = self.start(2)
            job.go_on(1)
            with subprocess.Popen([LAMINA, "checkpoint", str(job.process.pid)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as saving:
                while not children(job, "criu dump") and saving.poll() is None:
                    continue
                os.kill(int(children(job, "^" + PROGRAM)[0]), signal.SIGKILL)
                # On a busy machine criu may have ended before the kill.
                self.assertIn(saving.wait(timeout=TIME_LIMIT_S), (0, 1))
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


    def kill_a_rank(self, job):
        os.kill(ranks_of(job)[-1], signal.SIGKILL)

    def wait_for_error(self, job, text, count=1):
        until = time.monotonic() + TIME_LIMIT_S
        while read("err").count(text) < count:
            self.assertIsNone(job.process.poll(), read("err")[-1000:])
            self.assertLess(time.monotonic(), until, read("err")[-1000:])

    def test_a_lost_job_goes_on_by_itself(self):
        job = self.start(2, "--restarts", "2")
        for left in (1, 0):
            self.save(job)
            job.go_on(2)
            self.kill_a_rank(job)
            self.wait_for_error(job, "the job is restarted from generation %d; %d more restart" % (2 - left, left))
        self.compare(2, job, errors_again=True)
        self.assertEqual(len(re.findall(r"mpiexec: rank \d on \S+ was killed by signal 9", read("err"))), 2)

    def test_files_are_read_and_written_on(self):
        given = os.path.join(SCRATCH, "given")
        with open(given, "w", encoding="ascii") as file:
            for line in range(20000):
                file.write("%d %s\n" % (line, "x" * 3000))
        ours = os.path.join(SCRATCH, "ours")
        for rank in range(2):
            with open("%s.%d" % (ours, rank), "w", encoding="ascii"):
                pass
        job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, "--restarts", "1", PROGRAM, "filing", STOP, ours],
                  stdin=given)
        self.jobs.append(job)
        self.save(job)
        job.go_on(30)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1")
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        job = Job([LAMINA, "restart", STORE], begin=False, stdin=given)
        self.jobs.append(job)
        job.go_on(30)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        lines = read("out").splitlines()
        turns = len(lines) - 2
        self.assertEqual(lines, ["begun"] + ["turn %d reads %d" % (turn, turn) for turn in range(turns)] + ["done"])
        for rank in range(2):
            self.assertEqual(read("ours.%d" % rank).splitlines(),
                             ["turn %d of rank %d" % (turn, rank) for turn in range(turns)])

    def test_input_from_a_pipe_is_read_on(self):
        """The pipe is full all the time, so that there is unread input whenever the job is saved."""
        ours = os.path.join(SCRATCH, "piped")
        mine, its = os.pipe()
        self.addCleanup(os.close, mine)
        enough, written = threading.Event(), []

        def feed():
            while not enough.is_set():
                os.write(its, b"%d %s\n" % (len(written), b"x" * 40))
                written.append(str(len(written)))
            os.close(its)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, PROGRAM, "filing", STOP, ours], stdin=mine)
        self.jobs.append(job)
        for _ in range(2):
            self.save(job, "--end")
            self.assertEqual(job.wait(), 85, read("err")[-1000:])
            job = Job([LAMINA, "restart", STORE], begin=False, stdin=mine)
            self.jobs.append(job)
        job.go_on(1)
        enough.set()
        feeder.join(TIME_LIMIT_S)
        job.wait_for("reads %s\n" % written[-1], 1)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        self.assertEqual(re.findall(r"turn \d+ reads (\d+)", read("out")), written)

    def refused(self, *words):
        """Restarts in vain; returns why. Nothing was started, and no output was cut."""
        with open(os.path.join(SCRATCH, "out"), "a", encoding="ascii") as out:
            out.write("kept\n")
            refused = subprocess.run([LAMINA, "restart", *words, STORE], check=False, cwd=SCRATCH, text=True, stdout=out,
                                     stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIME_LIMIT_S)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertTrue(read("out").endswith("kept\n"))
        return refused.stderr

    def test_files_that_are_not_what_they_were(self):
        ours = os.path.join(SCRATCH, "theirs")
        for rank in range(2):
            with open("%s.%d" % (ours, rank), "w", encoding="ascii"):
                pass
        job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, PROGRAM, "filing", STOP, ours])
        self.jobs.append(job)
        job.wait_for("begun", 1)
        while os.path.getsize(ours + ".1") < 100:
            self.assertIsNone(job.process.poll(), read("err"))
        saved = run(LAMINA, "checkpoint", "--end", str(job.process.pid))
        self.assertEqual(saved.returncode, 0, saved.stderr)
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        for rank in "01":
            shutil.copy(ours + "." + rank, ours + ".kept." + rank)
        length = os.path.getsize(ours + ".1")
        advice = "; bring back what it had, or take other hosts (-H) or an older generation (--generation)\n"
        os.unlink(ours + ".1")
        self.assertEqual(self.refused(), "mpiexec: generation 1 cannot be restarted: rank 1: %s.1, which it writes, is "
                         "not there any more" % ours + advice)
        shutil.copy(ours + ".kept.1", ours + ".1")
        os.truncate(ours + ".1", 10)
        os.truncate(ours + ".0", 0)
        self.assertRegex(self.refused(), r"^mpiexec: generation 1 cannot be restarted: rank 0: %s.0, which it writes, "
                         r"has 0 bytes, and had \d+ when the job was saved; rank 1: %s.1, which it writes, has 10 bytes, "
                         r"and had %d when" % (ours, ours, length))
        for rank in "01":
            shutil.copy(ours + ".kept." + rank, ours + "." + rank)
        job = self.restart()
        while os.path.getsize(ours + ".1") < length + 100:
            self.assertIsNone(job.process.poll(), read("err")[-1000:])
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])

    def test_a_program_that_is_not_the_one_that_was_saved(self):
        program = os.path.join(SCRATCH, "program")
        shutil.copy(PROGRAM, program)
        job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, "-genv", "LD_LIBRARY_PATH",
                   os.path.abspath("runtime"), program, "course", STOP])
        self.jobs.append(job)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        length = os.path.getsize(program)
        with open(program, "ab") as file:
            file.write(b"more")
        self.assertIn("rank 0: %s, which it runs, has %d bytes, and had %d when" % (program, length + 4, length),
                      self.refused())
        shutil.copy(PROGRAM, program)
        job = self.restart()
        job.go_on(2)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])

    def test_ranks_that_write_into_one_file(self):
        path = os.path.join(SCRATCH, "log")
        if os.path.exists(path):
            os.unlink(path)
        job = Job([MPIEXEC, "-n", "3", "--oversubscribe", *PREPARED, PROGRAM, "logging", STOP, path])
        self.jobs.append(job)
        for _ in range(2):
            self.save(job)
            job.go_on(2)
            job.kill()
            self.wait_until_ranks_have_ended()
            job = self.restart()
        job.go_on(2)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
        for rank in range(3):
            own = [line for line in lines if line.endswith("of rank %d" % rank)]
            self.assertEqual(own, ["line %d of rank %d" % (at, rank) for at in range(len(own))])
            self.assertGreater(len(own), 0)

    def test_files_that_are_locked(self):
        path = os.path.join(SCRATCH, "locked")
        job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, PROGRAM, "locks", STOP, path])
        self.jobs.append(job)
        job.wait_for("begun", 1)
        before = self.locks_of(path)
        self.assertEqual(len(before), 4, before)
        self.assertEqual([len(self.locks_of("%s.%d" % (path, rank))) for rank in range(2)], [1, 1])
        self.save(job)
        job.go_on(1)
        self.assertEqual(self.locks_of(path), before)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        self.assertEqual(self.locks_of(path), [])
        job = self.restart()
        job.go_on(1)
        self.assertEqual(self.locks_of(path), before)
        self.assertEqual([len(self.locks_of("%s.%d" % (path, rank))) for rank in range(2)], [1, 1])
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])

    def locks_of(self, path):
        """What the kernel says of a file's locks, without the processes that hold them."""
        with open("/proc/locks", encoding="ascii") as file:
            fields = [line.split() for line in file if ":%d " % os.stat(path).st_ino in line]
        return sorted((field[1], field[3], field[6], field[7]) for field in fields)

    def test_processes_that_would_be_lost(self):
        for kind, reason in (("daemon", r"\(sleep\), which a rank has left behind, is below no rank, so it would not be saved; "
                                        r"end it, or wait until it ends"),
                             ("stopped", r"\(sh\) is stopped, and would come back running; continue it \(kill -CONT\) or "
                                         r"end it"),
                             ("forked", r"\(steady\) was forked by a rank and has the memory that ranks share, which cannot "
                                        r"be saved; end it, or have it call exec")):
            with self.subTest(kind=kind):
                shutil.rmtree(STORE, ignore_errors=True)
                job = Job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, PROGRAM, "child", STOP, kind])
                self.jobs.append(job)
                job.wait_for("turn", 1)
                refused = run(LAMINA, "checkpoint", str(job.process.pid))
                self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
                match = re.match(r"lamina checkpoint: rank \d: process (\d+) %s\n\Z" % reason, refused.stderr)
                self.assertTrue(match, refused.stderr)
                os.kill(int(match.group(1)), signal.SIGKILL)
                saved = run(LAMINA, "checkpoint", str(job.process.pid))
                self.assertEqual(saved.returncode, 0, saved.stderr)
                job.end()
                self.assertEqual(job.process.returncode, 0, read("err")[-1000:])

    def test_messages_that_are_owed(self):
        job = Job([MPIEXEC, "-n", "3", "--oversubscribe", *PREPARED, PROGRAM, "owed", STOP])
        self.jobs.append(job)
        job.wait_for("begun", 1)
        for _ in range(2):
            saved = job.save_at_once("--end")
            self.assertEqual(saved.returncode, 0, saved.stderr)
            self.assertEqual(job.wait(), 85, read("err")[-1000:])
            job = self.restart()
        job.end()
        self.assertEqual((job.process.returncode, read("out")), (0, "begun\ndone\n"), read("err")[-1000:])

    def test_windows(self):
        job = Job([MPIEXEC, "-n", "4", "--oversubscribe", *PREPARED, "--restarts", "1", PROGRAM, "windows", STOP,
                   "say"])
        self.jobs.append(job)
        self.save(job)
        job.go_on(20)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1")
        for _ in range(2):
            job.go_on(10)
            self.save(job, "--end")
            self.assertEqual(job.wait(), 85, read("err")[-1000:])
            job = self.restart()
        job.go_on(10)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("err")[-1000:])
        turns = read("out").count("turn")
        self.assertEqual(read("out").splitlines(),
                         ["begun"] + ["turn %d" % (turn + 1) for turn in range(turns)] + ["done"])

    def test_files(self):
        path = os.path.join(SCRATCH, "numbers")
        for name in (path, path + ".apart"):
            if os.path.exists(name):
                os.unlink(name)
        job = Job([MPIEXEC, "-n", "3", "--oversubscribe", *PREPARED, "--restarts", "1", PROGRAM, "files", STOP, path])
        self.jobs.append(job)
        self.save(job)
        job.go_on(20)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1")
        job.go_on(10)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        job = self.restart()
        job.go_on(10)
        job.end()
        self.assertEqual(job.process.returncode, 0, read("out")[-200:] + read("err")[-1000:])
        self.assertEqual(read("out").splitlines()[-1], "done")

    def test_a_job_goes_on_by_itself_so_often_only(self):
        job = self.start(2, "--restarts", "1")
        job.go_on(1)
        self.kill_a_rank(job)
        self.assertEqual(job.wait(), 137)
        self.assertIn("mpiexec: the job cannot be restarted: ", read("err"))
        job = self.start(2, "--restarts", "1")
        self.save(job)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1; 0 more restarts are allowed")
        job.go_on(2)
        self.kill_a_rank(job)
        self.assertEqual(job.wait(), 137)
        # What another job has saved is none of a job's own, which begins anew.
        job = self.start(2, "--restarts", "1")
        job.go_on(1)
        self.kill_a_rank(job)
        self.assertEqual(job.wait(), 137)
        self.assertIn("the job cannot be restarted: it has not been saved yet", read("err"))
        refused = run(MPIEXEC, "--restarts", "1", PROGRAM, "course", STOP)
        self.assertEqual((refused.returncode, refused.stderr), (
            2, "mpiexec: --restarts needs saved states: --checkpoint-dir DIR keeps those that the "
               "program makes, and --checkpoint-every TIME makes them\n"))

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

    def test_a_criu_that_fails_is_quoted(self):
        job = self.start(2)
        self.save(job, "--end")
        self.assertEqual(job.wait(), 85, read("err")[-1000:])
        failed = self.restart("--param", self.criu_that("echo 'it does not work'; exit 7"))
        self.assertEqual(failed.wait(), 2, read("err")[-1000:])
        self.assertRegex(read("err"), r"mpiexec: generation 1 cannot be restarted: rank \d: criu \S+ cannot revive process "
                         r"\d+ on kernel \S+ \(it does not work\)\n")
        self.compare(2, self.restart())

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
        until = time.monotonic() + TIME_LIMIT_S
        while subprocess.run(["pgrep", "-f", "^sleep 86431$"], check=False, capture_output=True).stdout:
            self.assertLess(time.monotonic(), until, "criu outlives its mpiexec")


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
