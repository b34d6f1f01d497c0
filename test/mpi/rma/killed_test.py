#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a rank that dies in whatever kind of epoch ends the job: soon, with one message, and with nothing
        left behind; nobody waits for ever for its lock, its post or its answer.
Method: killed.c on every path, with windows of four ranks. Each job has a time limit far above what it needs."""

import os
import re
import subprocess
import sys
import time
import unittest

MPIEXEC, PROGRAM = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
KINDS = ["create", "fence", "post", "lock", "shared", "lock_all", "flush", "fetch"]
TIME_LIMIT_S = 20


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


class Killed(unittest.TestCase):
    def end_of(self, kind, path):
        mark = "RMA_KILLED_MARK=%d.%s.%s" % (os.getpid(), kind, path)
        job = subprocess.run(
            [MPIEXEC, "--oversubscribe", "-n", "4", "--param", "rma.path=" + path, PROGRAM, kind], check=False,
            timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=dict(os.environ, **dict([mark.split("=")])))
        self.assertEqual(job.returncode, 128 + 9, job.stderr)
        found = re.findall(r"^mpiexec: rank \d+ on \S+ .*$", job.stderr, re.MULTILINE)
        self.assertEqual(len(found), 1, job.stderr)
        self.assertRegex(found[0], r"rank 3 on \S+ was killed by signal 9")
        self.assertNotIn("went on", job.stderr)
        end = time.monotonic() + 5
        while is_there(mark) and time.monotonic() < end:
            time.sleep(0.01)  # tidy: sleep: polls the process table, which announces nothing
        self.assertFalse(is_there(mark), "processes are left behind")

    def test_each_kind_of_epoch_on_each_path(self):
        for path in ("auto", "copied", "framed"):
            for kind in KINDS:
                with self.subTest(kind=kind, path=path):
                    self.end_of(kind, path)


if __name__ == "__main__":
    unittest.main()
