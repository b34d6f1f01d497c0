#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a job that was saved by criu is restarted on other hosts, on fewer and on more, unevenly and on this one, and
        says what the undisturbed job says, bit for bit; its output is neither lost nor repeated.
Method: virtual hosts of this machine, reached by ssh. steady.c says after every turn what has come of it; it is saved
        and ended, and restarted elsewhere, again and again.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

VCLUSTER = os.path.abspath("test/cluster/vcluster")
CRIU = os.environ.get("TEST_CRIU", "criu")
NAME, PREFIX, SUBNET = "lamckp", "lk", "10.144.0"
STATE = "/run/lamina-checkpoint"
HOSTS = [PREFIX + str(i) for i in (1, 2, 3)]
TIME_LIMIT_S = 120
PLACE = None  # hosts have a /tmp of their own, so what they run lies elsewhere


def vcluster(*arguments, check=True):
    own = dict(os.environ, VC_NAME=NAME, VC_RUN=STATE, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
    return subprocess.run([VCLUSTER, *arguments], env=own, check=check, text=True, cwd=PLACE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=400).stdout


def why_not():
    if os.geteuid() != 0:
        return "virtual hosts need root"
    for tool in ("ip", "nsenter", "ssh", "/usr/sbin/sshd"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            return tool + " is missing: third_party/install test"
    return ""


def place(name):
    return os.path.join(PLACE, name)


def read(name):
    with open(place(name), encoding="ascii") as file:
        return file.read()


def setUpModule():
    global PLACE
    if why_not():
        raise unittest.SkipTest("skipped: " + why_not())
    PLACE = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
    for source in ("launcher/mpiexec", "runtime/libmpi_abi.so.1", "test/mpi/checkpoint/steady"):
        shutil.copy(os.path.realpath(source), place(os.path.basename(source)))
    os.symlink("mpiexec", place("lamina"))
    if os.path.exists(CRIU):
        shutil.copytree(os.path.dirname(CRIU), place("criu"), symlinks=True)
    vcluster("up", "-n", str(len(HOSTS)), "--name", NAME, "--prefix", PREFIX, "--subnet", SUBNET, "--no-system")
    job = Job(2, "-H", "localhost:2")
    saved = job.save()
    errors = job.stop()
    if saved.returncode != 0:
        raise unittest.SkipTest("skipped: " + saved.stderr + errors)


def tearDownModule():
    if PLACE is not None:
        vcluster("down", "--name", NAME, check=False)
        shutil.rmtree(PLACE, ignore_errors=True)


def variables():
    return dict(os.environ, LD_LIBRARY_PATH=PLACE)


def words(ranks, *options):
    """The words that begin a job."""
    criu = place("criu/criu") if os.path.exists(CRIU) else CRIU
    return [place("mpiexec"), "-n", str(ranks), "--oversubscribe", "--checkpoint-dir", "D", "--checkpoint", "--param",
            "checkpoint.criu.program=" + criu, "--param", "checkpoint.engine.use=criu", "--param",
            "spawner.ssh.options=-F %s/%s/ssh_config" % (STATE, NAME), *options, "./steady", "course", place("stop")]


class Job:
    """A job whose output goes into the files out and err, behind what is there."""

    def __init__(self, ranks, *options):
        if ranks:
            for name in ("out", "err"):
                if os.path.lexists(place(name)):
                    os.unlink(place(name))
            shutil.rmtree(place("D"), ignore_errors=True)
            line = words(ranks, *options)
        else:
            line = [place("lamina"), "restart", *options, "D"]
        if os.path.lexists(place("stop")):
            os.unlink(place("stop"))
        with open(place("out"), "a", encoding="ascii") as out, open(place("err"), "a", encoding="ascii") as err:
            self.process = subprocess.Popen(line, cwd=PLACE, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=variables())

    def go_on(self, turns):
        """Waits until it has said the results of so many turns more."""
        wanted = read("out").count("turn") + turns
        while read("out").count("turn") < wanted:
            assert self.process.poll() is None, (self.process.returncode, read("err")[-2000:])

    def save(self, *words):
        self.go_on(2)
        return subprocess.run([place("lamina"), "checkpoint", *words, str(self.process.pid)], check=False,
                              capture_output=True, text=True, timeout=TIME_LIMIT_S)

    def wait(self):
        return self.process.wait(timeout=TIME_LIMIT_S)

    def stop(self):
        with open(place("stop"), "w", encoding="ascii"):
            pass
        self.wait()
        return read("err")


class RestartedHosts(unittest.TestCase):
    def setUp(self):
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.process.poll() is None:
                job.process.kill()
                job.wait()

    def go(self, ranks, places):
        """Goes from place to place, and compares what was said with what an undisturbed run says."""
        for number, where in enumerate(places):
            job = Job(0 if number else ranks, "-H", where)
            self.jobs.append(job)
            if number + 1 < len(places):
                saved = job.save("--end")
                self.assertEqual(saved.returncode, 0, saved.stderr + read("err")[-2000:])
                self.assertEqual(job.wait(), 85, read("err")[-2000:])
        job.go_on(3)
        job.stop()
        self.assertEqual(job.process.returncode, 0, read("err")[-2000:])
        out = read("out")
        # The order in which a sum is made depends on where a job begins, and stays.
        alone = subprocess.run([*words(ranks, "-H", places[0]), str(out.count("turn"))], cwd=PLACE, check=True,
                               capture_output=True, text=True, timeout=TIME_LIMIT_S, env=variables())
        self.assertEqual(out, alone.stdout)

    def test_from_this_host_to_another_and_back(self):
        self.go(2, ["localhost:2", "lk1:2", "localhost:2"])

    def test_more_hosts_and_fewer(self):
        self.go(4, ["lk1:4", "lk2:1,lk3:3", "lk1:4", "lk2:2,lk3:2", "localhost:4"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
