#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a rank that dies in whatever kind of epoch ends the job: soon, with one message, and with nothing
        left behind; nobody waits for ever for its lock, its post or its answer. A program that asks for
        errors is told that a process is gone.
Method: killed.c on every path, with windows of four ranks; and on two virtual hosts, where those who wait
        and who holds are on the same host or not. Each job has a time limit far above what it needs.

usage: killed_test.py MPIEXEC PROGRAM
       killed_hosts_test.py PROGRAM [--whole]       --whole: each kind in each cell"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

KINDS = ["create", "fence", "meet", "free", "post", "nocheck", "lock", "shared", "lock_all", "flush", "local",
         "fetch", "unlock"]
# Where a rank dies that never spoke to the others, only the launcher knows.
TOLD_KINDS = KINDS[1:]
TIME_LIMIT_S = 30
# Ranks that do not follow SIGTERM are killed after so long, whatever they wait for.
GRACE = "launcher.supervise.grace_ms=20000"
# UCX 1.13 may abort over TCP when a peer dies during a flush (tcp_ep.c).
NO_DEVICE = "transport.ucx.one_sided=off"
SETTINGS = [GRACE, NO_DEVICE]
TOLD = re.compile(r"^rank \d was told that rank 3 is gone$", re.MULTILINE)
# Who never spoke to a rank of another host hears only that somebody is gone.
TOLD_AFAR = re.compile(r"^rank \d was told that rank (?:3|-1) is gone$", re.MULTILINE)


def is_there(mark):
    """Does a process live whose environment has the mark?"""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if mark.encode() in file.read() and int(name) != os.getpid():
                    return True
        except OSError:
            continue
    return False


class Ends(unittest.TestCase):
    def end_of(self, line, words, variables, survivors, told=TOLD):
        """Runs the job. `survivors`: so many ranks are told; 0: the job just ends."""
        mark = "RMA_KILLED_MARK=%d.%s" % (os.getpid(), ".".join(words))
        job = subprocess.run(
            [*line, *words, *(["told"] if survivors else [])], check=False, timeout=TIME_LIMIT_S,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=dict(variables, **dict([mark.split("=")])))
        self.assertEqual(job.returncode, 128 + 9, job.stderr)
        found = re.findall(r"^mpiexec: rank \d+ on \S+ .*$", job.stderr, re.MULTILINE)
        self.assertEqual(len(found), 1, job.stderr)
        self.assertRegex(found[0], r"rank \d+ on \S+ was killed by signal 9")
        self.assertNotIn("went on", job.stderr)
        self.assertEqual(len(told.findall(job.stdout)), survivors, job.stdout + job.stderr)
        end = time.monotonic() + 5
        while is_there(mark) and time.monotonic() < end:
            time.sleep(0.01)  # tidy: sleep: polls the process table, which announces nothing
        self.assertFalse(is_there(mark), "processes are left behind")


class OneHost(Ends):
    def test_each_kind_of_epoch_on_each_path(self):
        for path in ("auto", "copied", "framed"):
            settings = [word for it in [*SETTINGS, "rma.path=" + path] for word in ("--param", it)]
            line = [MPIEXEC, "--oversubscribe", "-n", "4", *settings, PROGRAM]
            for kind in KINDS:
                told = kind in TOLD_KINDS
                with self.subTest(kind=kind, path=path):
                    self.end_of(line, [kind, "0"], os.environ, 3 if told else 0)


class TwoHosts(Ends):
    """The target of locks is on the dead rank's host or on the other one."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
        cube.raise_hosts(cls.place, [PROGRAM], 2)

    @classmethod
    def tearDownClass(cls):
        cube.vcluster("down", "--name", cube.NAME, check=False)
        shutil.rmtree(cls.place, ignore_errors=True)

    def test_each_kind_of_epoch(self):
        places = [([2, 2], 0), ([2, 2], 2), ([1, 3], 0), ([3, 1], 0)]
        turns = [(kind, told, *place) for kind in KINDS for told in (True, False) for place in places
                 if not told or kind in TOLD_KINDS]
        for turn, (kind, told, cell, target) in enumerate(turns if WHOLE else turns[::4]):
            with self.subTest(turn=turn, kind=kind, cell=cell, target=target, told=told):
                line, variables = cube.command(self.place, cell, os.path.basename(PROGRAM), SETTINGS)
                self.end_of(line, [kind, str(target)], variables, 3 if told else 0, TOLD_AFAR)


if __name__ == "__main__":
    WHOLE = "--whole" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--whole"]
    print("no rank is killed while a device is used: UCX 1.13 may abort then", flush=True)
    del sys.argv[1:]
    if len(words) == 2:
        MPIEXEC, PROGRAM = map(os.path.abspath, words)
        unittest.main(defaultTest="OneHost")
    sys.path.insert(0, os.path.join(os.getcwd(), "test/mpi/collective"))
    import cube_test as cube
    PROGRAM = os.path.abspath(words[0])
    if cube.why_not():
        print("SKIPPED: " + cube.why_not())
    else:
        unittest.main(defaultTest="TwoHosts")
