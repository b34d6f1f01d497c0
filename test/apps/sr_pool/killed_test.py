#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   a node that is killed, whichever it is and whatever the nodes do, ends all of them: soon, with one
        message, and with nothing left behind.
Method: sr_pool does what never ends, and one node is killed as soon as all are there. Nodes that do not follow
        SIGTERM would live for longer than the test waits.

usage: killed_test.py MPIEXEC SR_POOL [--whole]     --whole: each node of each number of them"""

import os
import re
import subprocess
import sys
import time
import unittest

TIME_LIMIT_S = 30
GRACE = "launcher.supervise.grace_ms=120000"
# What the nodes do, and the numbers of nodes that can do it.
KINDS = {
    "spin": ["spin"],
    "fib": ["fib", "60"],
    "latency": ["latency", "1000000000000"],
    "leave": ["leave", "1"],
}
NODES = {"spin": (1, 2, 4, 16), "fib": (2, 4, 16), "latency": (2,), "leave": (2, 4, 16)}


def wait_until(truth):
    end = time.monotonic() + TIME_LIMIT_S
    while not truth() and time.monotonic() < end:
        time.sleep(0.01)  # tidy: sleep: polls the process table, which announces nothing
    return truth()


def nodes_with(mark):
    """The nodes whose environment has the mark, by their ranks: {rank: pid}."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                variables = file.read().decode(errors="replace").split("\0")
            program = os.readlink("/proc/%s/exe" % name)
        except OSError:
            continue
        ranks = [each for each in variables if each.startswith("PMIX_RANK=")]
        if mark in variables and ranks and program == os.path.realpath(PROGRAM):
            found[int(ranks[0].partition("=")[2])] = int(name)
    return found


class Killed(unittest.TestCase):
    def kill(self, kind, nodes, node):
        mark = "SR_KILLED_MARK=%d.%s.%d.%d" % (os.getpid(), kind, nodes, node)
        job = subprocess.Popen(
            [MPIEXEC, "--oversubscribe", "-n", str(nodes), "--param", GRACE, PROGRAM, *KINDS[kind]],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, **dict([mark.split("=")])))
        try:
            self.assertTrue(wait_until(lambda: len(nodes_with(mark)) == nodes), "the nodes did not start")
            os.kill(nodes_with(mark)[node], 9)
            said = job.communicate(timeout=TIME_LIMIT_S)[1]
        finally:
            job.kill()
            job.wait()
            job.stderr.close()
        self.assertEqual(job.returncode, 128 + 9, said)
        self.assertRegex(said, r"\Ampiexec: rank %d on \S+ was killed by signal 9 .*\n\Z" % node)
        self.assertTrue(wait_until(lambda: not nodes_with(mark)), "processes are left behind")

    def test_each_node(self):
        turns = [(kind, nodes, node) for kind in KINDS for nodes in NODES[kind] for node in range(nodes)]
        few = [("spin", 4, 0), ("spin", 4, 3), ("fib", 4, 0), ("fib", 4, 1), ("latency", 2, 1),
               ("leave", 4, 0), ("leave", 4, 1), ("leave", 4, 2)]
        for kind, nodes, node in turns if WHOLE else few:
            with self.subTest(kind=kind, nodes=nodes, node=node):
                self.kill(kind, nodes, node)


if __name__ == "__main__":
    WHOLE = "--whole" in sys.argv
    MPIEXEC, PROGRAM = (os.path.abspath(word) for word in sys.argv[1:3])
    del sys.argv[1:]
    unittest.main()
