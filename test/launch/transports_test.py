#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `mpiexec --report transports` says what carries messages between the hosts of a job and why nothing better
        does, and `lamina info --network` by which devices this host reaches others.
Method: jobs on one host, and on two that an agent makes of this machine; the first rank of each has to speak.
"""

import os
import subprocess
import unittest

from harness import LaunchCase, MPIEXEC, ROOT, environment

PROFILED = os.path.join(ROOT, "test/launch/profiled")
LAMINA = os.path.join(os.environ["TEST_TMPDIR"], "lamina")
AGENT = os.path.join(os.environ["TEST_TMPDIR"], "agent")


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)
    with open(AGENT, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(AGENT, 0o755)


class Transports(LaunchCase):

    def report(self, ranks, *options):
        result = self.run_job(PROFILED, "ring", ranks=ranks, options=["--report", "transports", *options])
        self.assertEqual(result.returncode, 0, result.stderr)
        return sorted(line for line in result.stderr.splitlines() if line.startswith("transports: "))

    def test_one_host(self):
        node = os.uname().nodename
        lines = self.report(2)
        self.assertEqual(lines, ["transports: %s reaches %s by shm" % (node, node)])
        # A rank alone on its host speaks to itself.
        self.assertEqual(self.report(1), ["transports: %s reaches %s by self" % (node, node)])

    def test_a_network_alone(self):
        node = os.uname().nodename
        lines = self.report(2, "--param", "transport.include=self,ucx")
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("transports: %s reaches %s by ucx" % (node, node), lines)
        self.assertTrue(any(line.startswith("transports: ucx of %s may use " % node) for line in lines), lines)

    def test_two_hosts(self):
        """They are this machine, so the memory that they share is reached."""
        options = ["--agent", AGENT + " {host}", "-H", "one:2,two:2"]
        for transports, name in (("", "shm"), ("self,ucx", "ucx")):
            lines = self.report(4, *options, *(["--param", "transport.include=" + transports] if transports else []))
            for host in ("one", "two"):
                self.assertIn("transports: %s reaches one, two by %s" % (host, name), lines)
                self.assertTrue(any(line.startswith("transports: ucx of %s may use " % host) for line in lines), lines)

    def test_this_host(self):
        result = subprocess.run([LAMINA, "info", "--network"], check=False, capture_output=True, text=True, timeout=60,
                                stdin=subprocess.DEVNULL, env=environment(self.mark))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^devices  .+\n")
        for name in ("self", "shm", "ucx"):
            self.assertIn(name, result.stdout)

    def test_mistakes(self):
        result = self.run_job("true", options=["--report", "weather"])
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("there is no report of \"weather\"", result.stderr)


if __name__ == "__main__":
    unittest.main()
