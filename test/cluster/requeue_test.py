#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the recipes that carry a job over wall-time limits and preemptions work as they stand in the READMEs.
Method: each is cut out and run in a directory with a solver, an installation that has criu, virtual hosts node1 and
        node2 and a real Slurm; PBS is our stand-in, and a machine that is to go away says so by a signal. The solver
        says after every turn what has come of it, so a turn that is lost or said twice is seen.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import everywhere_test as everywhere  # noqa: E402

CRIU = os.environ.get("TEST_CRIU", "criu")
REQUEUE_S = 15  # Slurm lets a requeued job wait for as long as its credentials may be used
TIME_LIMIT_S = 120
RECIPES = {}


def place(name):
    return os.path.join(everywhere.PLACE, name)


def write(name, text, mode=0o755):
    with open(place(name), "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(place(name), mode)


def read(name):
    if not os.path.exists(place(name)):
        return ""
    with open(place(name), encoding="utf-8") as file:
        return file.read()


def setUpModule():
    if not os.path.exists(CRIU) and shutil.which(CRIU, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
        raise unittest.SkipTest("skipped: there is no criu (third_party/install checkpoint)")
    everywhere.NAME, everywhere.PREFIX, everywhere.SUBNET = "lamreq", "node", "10.145.0"
    everywhere.HOSTS = ["node1", "node2"]
    everywhere.PROGRAMS = everywhere.PROGRAMS + ("test/mpi/checkpoint/steady",)
    everywhere.SLURM_OPTIONS = ["--credentials", str(REQUEUE_S)]
    everywhere.setUpModule()
    os.makedirs(place("prefix/bin"))
    os.makedirs(place("prefix/libexec/lamina"))
    for name in ("mpiexec", "lamina"):
        os.link(place("mpiexec"), place("prefix/bin/" + name))
    if os.path.exists(CRIU):
        shutil.copytree(os.path.dirname(CRIU), place("prefix/libexec/lamina/criu"), symlinks=True)
    write("solver", "#!/bin/sh\nexec %s course %s\n" % (place("steady"), place("stop")))
    for name in ("README.md", "checkpoint/README.md"):
        with open(name, encoding="utf-8") as file:
            RECIPES.update(re.findall(r"<!-- recipe: (\w+) -->\n```sh\n(.*?)```", file.read(), re.S))


class Requeue(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(place("state"), ignore_errors=True)
        for name in ("stop", "out", "errors", "again"):
            if os.path.exists(place(name)):
                os.unlink(place(name))
        self.addCleanup(write, "stop", "")

    def wait_until(self, is_so, why=lambda: ""):
        until = time.monotonic() + TIME_LIMIT_S
        while not is_so():
            self.assertLess(time.monotonic(), until, why() + read("out")[-1000:] + read("errors")[-1000:])
            time.sleep(0.05)  # tidy: sleep: polls what others write

    def go_on(self, turns):
        wanted = read("out").count("turn") + turns
        self.wait_until(lambda: read("out").count("turn ") >= wanted)

    def compare(self):
        """All turns stand in the output, each once."""
        said = re.findall(r"(?m)^turn (\d+) value", read("out"))
        self.assertEqual(said, [str(turn) for turn in range(len(said))])
        self.assertIn("\ndone\n", read("out"))

    @staticmethod
    def variables(extra=None):
        return everywhere.variables(dict(extra or {}, PATH=place("prefix/bin") + ":" + everywhere.variables()["PATH"]))

    def slurm(self, *words):
        return subprocess.run(words, check=True, cwd=everywhere.PLACE, text=True, stdout=subprocess.PIPE,
                              env=self.variables(everywhere.slurm_environment()), timeout=TIME_LIMIT_S).stdout

    def test_recipe_requeue(self):
        write("requeue.sh", RECIPES["requeue"])
        job = self.slurm("sbatch", "-o", place("out"), place("requeue.sh")).split()[-1]
        self.addCleanup(self.slurm, "scancel", job)

        def told(word):
            return re.findall(word + r"=(\S+)", self.slurm("scontrol", "show", "job", job))[0]

        for restart in ("0", "1"):
            self.wait_until(lambda: told("JobState") == "RUNNING" and told("Restarts") == restart)
            self.go_on(3)
            if restart == "0":
                self.slurm("scancel", "--batch", "--signal=USR1", job)
        write("stop", "")
        self.wait_until(lambda: told("JobState") == "COMPLETED")
        self.compare()

    def test_recipe_resubmit(self):
        write("prefix/bin/qsub", "#!/bin/sh\nprintf '%%s\\n' \"$@\" > %s\n" % place("again"))
        write("again.pbs", RECIPES["resubmit"])
        for start in range(3):
            done = everywhere.in_pbs_job(lambda job: self.run_script(start, job), everywhere.HOSTS)
            self.assertEqual(done, 0, read("errors"))
            self.assertEqual(read("again"), "again.pbs\n" if start < 2 else "")
            if start < 2:
                os.unlink(place("again"))
        self.compare()

    def run_script(self, start, job):
        """Runs it as PBS does, until the time is up or, in the end, the work is done."""
        with open(place("out"), "a", encoding="ascii") as out, open(place("errors"), "a", encoding="ascii") as errors:
            script = subprocess.Popen(["bash", "again.pbs"], cwd=everywhere.PLACE, stdin=subprocess.DEVNULL, stdout=out,
                                      stderr=errors, env=self.variables(dict(job, PBS_O_WORKDIR=everywhere.PLACE)))
        self.go_on(3)
        if start < 2:
            found = subprocess.run(["pgrep", "-P", str(script.pid)], check=True, text=True, stdout=subprocess.PIPE)
            os.kill(int(found.stdout.split()[0]), signal.SIGALRM)  # as if the time of timeout(1) were over
        else:
            write("stop", "")
        return script.wait(timeout=TIME_LIMIT_S)

    def test_recipe_spot(self):
        write("spot.sh", RECIPES["spot"])
        for start in range(3):
            script = subprocess.Popen(["bash", "spot.sh"], cwd=everywhere.PLACE, stdin=subprocess.DEVNULL,
                                      env=self.variables())
            self.go_on(3)
            if start < 2:
                script.send_signal(signal.SIGTERM)
            else:
                write("stop", "")
            self.assertEqual(script.wait(timeout=TIME_LIMIT_S), 85 if start < 2 else 0, read("errors"))
        self.compare()


if __name__ == "__main__":
    unittest.main(verbosity=2)
