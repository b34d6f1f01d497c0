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

from restarted_case import (CRIU, LAMINA, MPIEXEC, PREPARED, PROGRAM, SCRATCH, STOP, STORE, TIME_LIMIT_S, RestartedCase,
                            children, main, read, run, setUpModule, times)

REVIVING = os.path.join(SCRATCH, "reviving")


class Restarted(RestartedCase):
    def test_a_job_that_was_ended_goes_on(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                shutil.rmtree(STORE, ignore_errors=True)
                job = self.start(ranks)
                for _ in range(2):
                    self.save_and_end(job)
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
        self.save_and_end(job)
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
            self.end(job)
            waiting.join(TIME_LIMIT_S)
            self.assertFalse(waiting.is_alive())

    def test_a_state_is_restarted_again_and_a_damaged_one_is_not(self):
        job = self.start(2)
        self.save(job)
        self.save_and_end(job)
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
            job = self.job([script], begin=start == 0)
            job.go_on(2)
            if start < 2:
                job.process.send_signal(signal.SIGTERM)
                self.assertEqual(job.wait(), 85, read("err")[-1000:])
        self.compare(2, job)

    def test_a_shell_around_the_program(self):
        job = self.job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, "sh", "-c",
                        "%s course %s; echo behind it" % (PROGRAM, STOP)])
        self.save_and_end(job)
        job = self.restart()
        job.go_on(3)
        self.end(job)
        turns, behind = read("out").count("turn"), "behind it\n"
        alone = run(MPIEXEC, "--quiet", "-n", "2", "--oversubscribe", PROGRAM, "course", STOP, str(turns))
        self.assertEqual(read("out").replace(behind, ""), alone.stdout)
        self.assertEqual(read("out").count(behind), 2)

    def test_a_timer_that_has_a_descriptor(self):
        """It has expired whenever the rank is saved."""
        job = self.start(1, way=("ticking",))
        for _ in range(2):
            self.save_and_end(job)
            job = self.restart()
            job.go_on(3)
        self.end(job)

    def test_signals_while_ranks_are_revived(self):
        gate = os.path.join(SCRATCH, "gate")
        job = self.start(2)
        self.save_and_end(job)
        for number, status in ((signal.SIGTERM, 143), (signal.SIGUSR1, 138)):
            with open(gate, "w", encoding="ascii"):
                pass
            job = self.restart("--param", self.criu_that("while [ -e %s ]; do :; done" % gate))
            self.wait_until_it_revives(job)
            job.process.send_signal(number)
            os.unlink(gate)
            self.assertEqual(job.wait(), status, read("err")[-1000:])

    def test_states_back_to_back(self):
        job = self.start(4, way=("traffic",))
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
        self.save_and_end(job)
        job = self.restart()
        job.go_on(1)
        children = subprocess.run(["pgrep", "-P", str(job.process.pid), "steady"], check=True, text=True,
                                  capture_output=True).stdout.split()
        self.assertEqual(len(children), 2)
        os.kill(int(children[-1]), signal.SIGKILL)
        self.assertEqual(job.wait(), 137)
        self.assertRegex(read("err"), r"(?m)^mpiexec: rank \d on \S+ was killed by signal 9 \(SIGKILL, killed\)")

    def test_a_lost_job_goes_on_by_itself(self):
        job = self.start(2, "--restarts", "2")
        for left in (1, 0):
            self.save(job)
            job.go_on(2)
            self.kill_a_rank(job)
            self.wait_for_error(job, "the job is restarted from generation %d; %d more restart" % (2 - left, left))
        self.compare(2, job, errors_again=True)
        self.assertEqual(len(re.findall(r"mpiexec: rank \d on \S+ was killed by signal 9", read("err"))), 2)

    def test_messages_that_are_owed(self):
        job = self.start(3, way=("owed",))
        job.wait_for("begun", 1)
        for _ in range(2):
            saved = job.save_at_once("--end")
            self.assertEqual(saved.returncode, 0, saved.stderr)
            self.assertEqual(job.wait(), 85, read("err")[-1000:])
            job = self.restart()
        job.end()
        self.assertEqual((job.process.returncode, read("out")), (0, "begun\ndone\n"), read("err")[-1000:])

    def test_windows(self):
        job = self.start(4, "--restarts", "1", way=("windows", "say"))
        self.save(job)
        job.go_on(20)
        self.kill_a_rank(job)
        self.wait_for_error(job, "the job is restarted from generation 1")
        for _ in range(2):
            job.go_on(10)
            self.save_and_end(job)
            job = self.restart()
        job.go_on(10)
        self.end(job)
        turns = read("out").count("turn")
        self.assertEqual(read("out").splitlines(),
                         ["begun"] + ["turn %d" % (turn + 1) for turn in range(turns)] + ["done"])

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
        """Returns the option that makes criu do this first when it is to revive something, once REVIVING is there."""
        if os.path.exists(REVIVING):
            os.unlink(REVIVING)
        path = os.path.join(SCRATCH, "slow_criu")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n[ \"$1\" != restore ] || { touch %s; %s; }\nexec %s \"$@\"\n" % (REVIVING, line, CRIU))
        os.chmod(path, 0o700)
        return "checkpoint.criu.program=" + path

    def wait_until_it_revives(self, job):
        while not os.path.exists(REVIVING):
            self.assertIsNone(job.process.poll(), read("err")[-1000:])

    def test_reviving_slowly_is_no_silence(self):
        job = self.start(2)
        self.save_and_end(job)
        job = self.restart("--param", self.criu_that("sleep 3"),  # tidy: sleep: criu is to be slow
                           "--param", "launcher.shepherd.silence_ms=1000")
        self.compare(2, job)

    def test_a_criu_that_fails_is_quoted(self):
        job = self.start(2)
        self.save_and_end(job)
        failed = self.restart("--param", self.criu_that("echo 'it does not work'; exit 7"))
        self.assertEqual(failed.wait(), 2, read("err")[-1000:])
        self.assertRegex(read("err"), r"mpiexec: generation 1 cannot be restarted: rank \d: criu \S+ cannot revive process "
                         r"\d+ on kernel \S+ \(it does not work\)\n")
        self.compare(2, self.restart())

    def test_a_job_is_ended_while_it_is_being_revived(self):
        job = self.start(2)
        self.save_and_end(job)
        job = self.restart("--param", self.criu_that("exec sleep 86431"))  # tidy: sleep: it hangs
        self.wait_until_it_revives(job)
        job.process.send_signal(signal.SIGTERM)
        self.assertNotEqual(job.wait(), 0)
        until = time.monotonic() + TIME_LIMIT_S
        while subprocess.run(["pgrep", "-f", "^sleep 86431$"], check=False, capture_output=True).stdout:
            self.assertLess(time.monotonic(), until, "criu outlives its mpiexec")


def become_user():
    """Goes on as a user whom nobody is, with copies of what that user has to read."""
    place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    here = os.path.abspath(__file__)
    for path in (MPIEXEC, PROGRAM, os.path.abspath("runtime/libmpi_abi.so.1"), here,
                 os.path.join(os.path.dirname(here), "restarted_case.py")):
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
    main()
