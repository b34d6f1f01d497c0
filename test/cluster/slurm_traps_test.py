#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   what Slurm does unlike one expects harms no job. README.md lists each trap and its test.
Method: a real Slurm on three virtual hosts; ranks that come late, that leave early, hosts that lose
        power, scripts and allocations of every shape.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import everywhere_test as everywhere  # noqa: E402
from everywhere_test import mpiexec, run  # noqa: E402

LAST_WORDS = r"(?m)^last words of (\d+) ranks$"


def setUpModule():
    everywhere.NAME, everywhere.PREFIX, everywhere.SUBNET = "lamtrp", "lp", "10.143.0"
    everywhere.HOSTS = ["lp1", "lp2", "lp3"]
    everywhere.PROGRAMS = everywhere.PROGRAMS + ("test/launch/lazy",)
    everywhere.setUpModule()


def program(name):
    return os.path.join(everywhere.PLACE, name)


def slurm(words, extra=None):
    return run(words, dict(everywhere.slurm_environment(), **(extra or {})))


def salloc(*words):
    return ["salloc", "-Q", *words]


class Pmix(unittest.TestCase):
    """Under srun alone: Slurm's PMIx is the only server there is."""

    def srun(self, kind, *words, extra=None):
        return slurm(["srun", "--mpi=" + kind, "-N3", "--ntasks-per-node=1", *words], extra)

    def test_a_late_rank_is_waited_for(self):
        for kind in ("pmix", "pmi2"):
            with self.subTest(kind):
                done = self.srun(kind, program("lazy"), "1")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, LAST_WORDS)

    def test_later_than_slurm_waits(self):
        """A fence of Slurm's would fail for good after this time; ours are none of its."""
        done = self.srun("pmix", program("lazy"), "5", extra={"SLURM_PMIX_TIMEOUT": "2"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_who_leaves_early_takes_nobody_along(self):
        for kind in ("pmix", "pmi2"):
            with self.subTest(kind):
                done = self.srun(kind, "--kill-on-bad-exit=0", program("lazy"), "0", "3")
                self.assertRegex(done.stdout, LAST_WORDS)
                self.assertEqual(done.returncode, 3, done.stderr)


class Allocations(unittest.TestCase):

    def test_uneven_tasks(self):
        done = slurm(salloc("-N3", "-n5", "-m", "cyclic", *mpiexec(program("lazy"))))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(LAST_WORDS, done.stdout), ["5"])

    def test_a_host_file_of_slurms(self):
        path = program("order")
        with open(path, "w", encoding="ascii") as file:
            file.write("lp3\nlp1\nlp1\nlp2\n")
        done = slurm(salloc("-N3", "-n4", "env", "SLURM_HOSTFILE=" + path,
                            *mpiexec("-l", "hostname")))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()),
                         ["[rank 0] lp3", "[rank 1] lp1", "[rank 2] lp1", "[rank 3] lp2"])

    def test_a_script_is_no_task(self):
        """SLURM_PROCID is set in a batch script: neither mpiexec nor a lone program mind."""
        script = program("batch")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/bash\n#SBATCH -N2 -n4\n%s %s && %s\n" % (
                program("mpiexec"), program("tour"), program("tour")))
        out = program("batch.out")
        done = slurm(["sbatch", "--wait", "-o", out, script])
        with open(out, encoding="ascii") as file:
            said = file.read()
        self.assertEqual(done.returncode, 0, said)
        self.assertEqual(re.findall(r"tour of (\d) ranks", said), ["4", "1"])

    def test_two_jobs_at_a_time(self):
        """Without --overlap the second would wait for the first."""
        done = slurm(salloc("-N2", "-n2", "bash", "-c", "%s & %s & wait -n && wait" % (
            " ".join(mpiexec(program("lazy"), "2")), " ".join(mpiexec(program("lazy"), "2")))))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(LAST_WORDS, done.stdout), ["2", "2"])

    def test_what_a_job_spawns(self):
        """D2: it starts at once beside what runs, on free nodes first, or on those that a key names."""
        listed = program("listed")
        with open(listed, "w", encoding="ascii") as file:
            file.write("lp3 slots=2\n")
        for keys, wanted in (([], "lp2 lp3"), (["host", "lp1,lp3"], "lp1 lp3"),
                             (["hostfile", listed], "lp3 lp3")):
            with self.subTest(keys=keys):
                done = slurm(salloc("-N3", "-n3", *mpiexec("-n", "1", program("travel"), "spawn", "0", "2",
                                                           *keys)))
                self.assertEqual((done.returncode, done.stdout), (0, "children on %s\n" % wanted), done.stderr)
        done = slurm(salloc("-N2", "-n2", *mpiexec("-n", "1", program("travel"), "spawn", "0", "1", "host",
                                                   "elsewhere")))
        self.assertRegex(done.stdout, "refused: .*host elsewhere .*does not belong to")

    def test_what_a_lone_process_spawns(self):
        """D3: nobody looks after it, and its children find the nodes of the allocation."""
        done = slurm(salloc("-N2", "--ntasks-per-node=2", "env",
                            "PATH=%s:%s" % (everywhere.PLACE, os.environ["PATH"]), program("travel"),
                            "spawn", "0", "4"))
        # The allocation ends with the process, perhaps before its children's mpiexec, which may say so.
        self.assertEqual((done.returncode, done.stdout), (0, "children on lp1 lp1 lp2 lp2\n"), done.stderr)

    def test_input_goes_to_one_rank(self):
        for start in ("shepherds", "direct"):
            with self.subTest(start):
                done = slurm(salloc("-N2", "-n2", "bash", "-c", "echo hello | " + " ".join(mpiexec(
                    "--param", "spawner.slurm.start=" + start, "cat"))))
                self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)

    def test_sigterm_reaches_the_ranks(self):
        """srun given a SIGTERM would kill the step without a word."""
        job = subprocess.Popen(
            salloc("-N2", "-n2", "bash", "-c", "echo $$; exec " + " ".join(mpiexec(
                "bash", "-c", "'trap \"echo heard; exit 0\" TERM; echo up; "
                "while :; do read -t 0.1 < /dev/zero; done'"))),
            cwd=everywhere.PLACE, env=everywhere.variables(everywhere.slurm_environment()), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.kill)
        launcher = int(job.stdout.readline())
        for _ in range(2):
            self.assertEqual(job.stdout.readline(), "up\n")
        os.kill(launcher, signal.SIGTERM)
        out, err = job.communicate(timeout=60)
        self.assertEqual(out, "heard\n" * 2, err)


class Manager(unittest.TestCase):
    """What Slurm itself does to a job is not laid at anybody else's door."""

    def start(self, *words):
        """A job of three ranks that wait for the file `go`; the job's number in Slurm."""
        go = program("go")
        if os.path.exists(go):
            os.unlink(go)
        job = subprocess.Popen(
            salloc("-N3", "-n3", *mpiexec(
                *words, "bash", "-c", "echo $SLURM_JOB_ID; until [ -e go ]; do read -t 0.1 < /dev/zero; "
                "done; exit 0")),
            cwd=everywhere.PLACE, env=everywhere.variables(everywhere.slurm_environment()), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.kill)
        numbers = {job.stdout.readline().strip() for _ in range(3)}
        self.assertEqual(len(numbers), 1)
        return job, numbers.pop()

    def test_cancelled(self):
        for what in ("%s", "%s.0"):
            with self.subTest(what):
                job, number = self.start()
                self.assertEqual(slurm(["scancel", what % number]).returncode, 0)
                _, err = job.communicate(timeout=90)
                said = [line for line in err.splitlines() if line.startswith("mpiexec: ")]
                self.assertEqual(len(said), 1, err)
                self.assertRegex(said[0], r"^mpiexec: the job was cancelled by Slurm \(scancel.*\)$")

    def test_cancelled_on_one_node(self):
        """Ranks are started by fork there, and mpiexec is told to end as well."""
        script, out = program("one"), program("one.out")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/bash\n#SBATCH -N1 -n2\n%s bash -c 'echo up; exec tail -f /dev/null'\n"
                       % program("mpiexec"))
        with open(out, "w", encoding="ascii"):
            pass
        job = subprocess.Popen(["sbatch", "--parsable", "--wait", "-o", out, script], text=True,
                               env=everywhere.variables(everywhere.slurm_environment()),
                               cwd=everywhere.PLACE, stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        number = job.stdout.readline().strip()
        began = time.monotonic()
        said = ""
        while "up\nup\n" not in said and time.monotonic() < began + 30:
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(timeout=0.1)
            with open(out, encoding="ascii") as file:
                said = file.read()
        self.assertEqual(slurm(["scancel", number]).returncode, 0)
        job.wait(timeout=60)
        with open(out, encoding="ascii") as file:
            self.assertIn("mpiexec: the job was cancelled by Slurm (scancel", file.read())

    def test_suspended(self):
        """Three times as long as a host may be silent; the job goes on afterwards."""
        job, number = self.start("--param", "launcher.shepherd.silence_ms=1000")
        self.assertEqual(slurm(["scontrol", "suspend", number]).returncode, 0)
        with self.assertRaises(subprocess.TimeoutExpired):
            job.wait(timeout=4)
        self.assertEqual(slurm(["scontrol", "resume", number]).returncode, 0)
        with open(program("go"), "w", encoding="ascii"):
            pass
        _, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, err), (0, ""))


class Power(unittest.TestCase):
    """Last by its name, because a host is gone afterwards."""

    def test_z_a_host_that_vanishes(self):
        """Slurm takes half a minute to notice and says 0; our own heartbeat does not wait for it."""
        job = subprocess.Popen(
            salloc("--no-kill", "-N3", "-n3", *mpiexec(
                "--param", "launcher.shepherd.silence_ms=1500", "bash", "-c",
                "echo up; exec tail -f /dev/null")),
            cwd=everywhere.PLACE, env=everywhere.variables(everywhere.slurm_environment()), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.kill)
        for _ in range(3):
            self.assertEqual(job.stdout.readline(), "up\n")
        everywhere.vcluster("poweroff", "lp2")
        line = job.stderr.readline()
        began = time.monotonic()
        self.assertRegex(line, "^mpiexec: lp2 is lost: no sign of life for 1.5 s "
                               ".launcher.shepherd.silence_ms.; the job was ended")
        job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1)
        self.assertLess(time.monotonic() - began, 30)


if __name__ == "__main__":
    unittest.main(verbosity=2)
