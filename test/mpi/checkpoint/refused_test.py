#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   what criu would lose or mix up is refused with a reason before anything is saved, and a state that does not
        fit what is there now, before anything is started.
Method: steady.c has what cannot be saved, or its files, its program or its command are changed before it is restarted;
        afterwards it goes on.
"""

import os
import re
import shutil
import signal
import subprocess
import time

from restarted_case import (LAMINA, MPIEXEC, PREPARED, PROGRAM, SCRATCH, STOP, STORE, TIME_LIMIT_S, RestartedCase, holders,
                            main, read, run, setUpModule)


class Refused(RestartedCase):
    def test_a_job_that_runs_is_not_restarted(self):
        """It is once it has been killed, at once, whether or not anybody knows of that yet."""
        job = self.start(2)
        self.save(job)
        refused = run(LAMINA, "restart", STORE)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertRegex(refused.stderr, r"\Alamina restart: another job saves its states in %s \(mpiexec %d on \S+\); "
                         r"wait until it ends, end it, or give another --checkpoint-dir\n\Z" % (STORE, job.process.pid))
        self.assertEqual(holders(STORE + "/lock"), [job.process.pid])
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

    def test_resuming_what_was_saved_otherwise(self):
        job = self.start(2)
        self.save_and_end(job)
        resume = [MPIEXEC, "-n", "2", "--oversubscribe", "--checkpoint-dir", STORE, "--resume"]
        refused = run(*resume, PROGRAM, "course", STOP)
        self.assertEqual((refused.returncode, refused.stdout, refused.stderr), (
            2, "", "mpiexec: generation 1 in %s was saved by criu, so --resume needs --checkpoint or --checkpoint-signal or "
                   "--checkpoint-every beside it\n" % STORE))
        job = self.job([*resume, *PREPARED, "echo", "other"], begin=False)
        self.compare(2, job)
        self.assertIn("mpiexec: warning: the job goes on from generation 1 in %s, which is one of `%s course %s` and not of "
                      "`echo other`; to begin anew, remove the directory or give another\n" % (STORE, PROGRAM, STOP),
                      read("err"))

    def test_what_ranks_share_without_a_name(self):
        for way, why in (("unlinked", r"/dev/shm/lamina-test-\d+ \(deleted\), whose name is gone, so each would have one of its "
                                      r"own after a restart"),
                         ("named", r"\S+/pipe \(deleted\), whose contents each of them would have after a restart")):
            job = self.start(2, way=(way, os.path.join(SCRATCH, "pipe")))
            refused = job.save()
            self.assertEqual((refused.returncode, refused.stdout), (1, ""), way)
            self.assertRegex(refused.stderr, r"\Alamina checkpoint: ranks share %s\n\Z" % why)
            job.go_on(2)
            self.end(job)

    def test_processes_that_would_be_lost(self):
        for kind, reason in (("daemon", r"\(sleep\), which a rank has left behind, is below no rank, so it would not be saved; "
                                        r"end it, or wait until it ends"),
                             ("stopped", r"\(sh\) is stopped, and would come back running; continue it \(kill -CONT\) or "
                                         r"end it"),
                             ("forked", r"\(steady\) was forked by a rank and has the memory that ranks share, which cannot "
                                        r"be saved; end it, or have it call exec")):
            with self.subTest(kind=kind):
                shutil.rmtree(STORE, ignore_errors=True)
                job = self.start(2, way=("child", kind))
                job.wait_for("turn", 1)
                refused = run(LAMINA, "checkpoint", str(job.process.pid))
                self.assertEqual((refused.returncode, refused.stdout), (1, ""), refused.stderr)
                match = re.match(r"lamina checkpoint: rank \d: process (\d+) %s\n\Z" % reason, refused.stderr)
                self.assertTrue(match, refused.stderr)
                os.kill(int(match.group(1)), signal.SIGKILL)
                saved = run(LAMINA, "checkpoint", str(job.process.pid))
                self.assertEqual(saved.returncode, 0, saved.stderr)
                self.end(job)

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
        job = self.start(2, way=("filing", ours))
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
        self.end(job)

    def test_a_program_that_is_not_the_one_that_was_saved(self):
        program = os.path.join(SCRATCH, "program")
        shutil.copy(PROGRAM, program)
        job = self.job([MPIEXEC, "-n", "2", "--oversubscribe", *PREPARED, "-genv", "LD_LIBRARY_PATH",
                        os.path.abspath("runtime"), program, "course", STOP])
        self.save_and_end(job)
        length = os.path.getsize(program)
        with open(program, "ab") as file:
            file.write(b"more")
        self.assertIn("rank 0: %s, which it runs, has %d bytes, and had %d when" % (program, length + 4, length),
                      self.refused())
        shutil.copy(PROGRAM, program)
        job = self.restart()
        job.go_on(2)
        self.end(job)


if __name__ == "__main__":
    main()
