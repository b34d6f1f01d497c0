#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `lamina ps` says which ranks wait for a lock of a window and who holds it, wherever these ranks
        are, and says nothing of the kind once the lock was released.
Method: held.c on this machine, and as two hosts that are this machine too. ps is asked until it has told
        what is expected.

usage: held_test.py MPIEXEC PROGRAM"""

import os
import re
import subprocess
import sys
import time
import unittest

SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
AGENT = os.path.join(SCRATCH, "agent")
TIME_LIMIT_S = 60

RANK_2 = r"^    rank 2 waits for an exclusive lock of rank 0 in window \d+, which rank 1 holds$"
RANK_3 = r"^    rank 3 waits for locks of all ranks in window \d+, one of which rank 1 holds$"
SHARED = r"^    rank 2 waits for an exclusive lock of rank 0 in window \d+, which 1 process shares$"


def setUpModule():
    os.symlink(os.path.abspath(MPIEXEC), LAMINA)
    with open(AGENT, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(AGENT, 0o755)


class Held(unittest.TestCase):
    def expect(self, kind, hosts, *expected):
        reach = ["--agent", AGENT + " {host}", "-H", hosts] if hosts else []
        line = [os.path.abspath(MPIEXEC), "--oversubscribe", *reach, "-n", "4", PROGRAM, kind]
        with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
            end = time.monotonic() + TIME_LIMIT_S
            said = ""
            while time.monotonic() < end and not all(re.search(each, said, re.M) for each in expected):
                said = subprocess.run([LAMINA, "ps", str(job.pid)], check=False, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            job.stdin.close()
            complaint = job.stderr.read()
            self.assertEqual((job.wait(TIME_LIMIT_S), complaint), (0, ""))
        for each in expected:
            self.assertRegex(said, re.compile(each, re.M))
        self.assertEqual(said.count(" waits for "), len(expected), said)

    def test_one_host(self):
        self.expect("exclusive", "", RANK_2, RANK_3)

    def test_shared(self):
        self.expect("shared", "", SHARED)

    def test_the_holder_is_on_the_targets_host(self):
        self.expect("exclusive", "a:2,b:2", RANK_2, RANK_3)

    def test_the_holder_is_on_another_host(self):
        self.expect("exclusive", "a:1,b:3", RANK_2, RANK_3)

    def test_sharers_on_another_host(self):
        self.expect("shared", "a:1,b:3", SHARED)


if __name__ == "__main__":
    MPIEXEC, PROGRAM = (os.path.abspath(word) for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
