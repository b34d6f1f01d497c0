#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   where errors end the job, no rank gets a result out of a collective that a lost rank had no part in.
Method: the last rank kills itself before the collective. Others hear of that in the middle of it, and what they would
        pass on then lacks its part; partial.c says what has come out."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import LaunchCase  # noqa: E402

PARTIAL = os.path.join(harness.ROOT, "test/launch/partial")
# Boards are left out, because whoever meets at one passes nothing on.
OPTIONS = ("--param", "launcher.supervise.grace_ms=1000", "--param", "collective.board.enable=never")


class PartialTest(LaunchCase):
    def lose(self, way):
        for ranks in (4, 7):
            with self.subTest(ranks):
                job = self.run_job(PARTIAL, way, ranks=ranks, options=OPTIONS)
                self.assertNotEqual(job.returncode, 0, job.stderr)
                self.assertEqual(job.stdout, "turn 0: %d\n" % ranks * ranks, job.stderr)

    def test_blocking(self):
        self.lose("blocking")

    def test_nonblocking(self):
        self.lose("nonblocking")

    def test_persistent(self):
        self.lose("persistent")


if __name__ == "__main__":
    harness.main()
