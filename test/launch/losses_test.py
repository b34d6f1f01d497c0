#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   whoever shares a communicator with a process of another run hears of its loss, however the
        two have come to know each other, and whether they have spoken to each other or not.
Method: two or three runs meet, whose errors return; the last process of the second one kills itself.
        losses.c has all others wait for it. They end in good order, and the second run with its loss."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import LaunchCase  # noqa: E402

LOSSES = os.path.join(harness.ROOT, "test/launch/losses")


class Losses:
    """What is the same wherever the runs are: `begin(role, ranks, ...)` starts one."""

    def lose(self, shape, ranks, algorithm=()):
        first = self.begin("first", ranks[0], shape, options=algorithm)
        port = first.stdout.readline().decode().strip()
        second = self.begin("second", ranks[1], shape, port, options=algorithm)
        survivors = [first]
        if shape == "three":
            port = first.stdout.readline().decode().strip()
        if shape == "bridge":
            port = second.stdout.readline().decode().strip()
        if shape != "two":
            survivors.append(self.begin("third", ranks[2], shape, port, options=algorithm))
        for job in survivors:
            out, err = job.communicate(timeout=harness.TIME_LIMIT_S)
            self.assertEqual((job.returncode, out.decode()), (0, "heard\n"), err.decode())
            self.assertNotIn("mpiexec: ", err.decode())
        _, err = second.communicate(timeout=harness.TIME_LIMIT_S)
        self.assertEqual(second.returncode, 128 + signal.SIGKILL)
        self.assertIn("was killed by signal 9", err.decode())

    def test_two_runs(self):
        """Most members of the larger group have nobody in the smaller one to themselves."""
        for ranks in ((4, 2), (2, 4), (3, 1)):
            with self.subTest(ranks):
                self.lose("two", ranks)

    def test_three_runs(self):
        """The third run has met both others at once."""
        for ranks in ((2, 2, 3), (3, 2, 1)):
            with self.subTest(ranks):
                self.lose("three", ranks)

    def test_bridge(self):
        """The first and the third run have never met; the second one has introduced them."""
        for ranks in ((2, 2, 3), (3, 2, 1)):
            with self.subTest(ranks):
                self.lose("bridge", ranks)


class LossesTest(Losses, LaunchCase):
    def begin(self, role, ranks, *words, options=()):
        return self.start_job(LOSSES, role, *words, ranks=ranks, options=options,
                              stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    harness.main()
