#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   whoever shares a communicator with a process of another run hears of its loss, however the
        two have come to know each other, and whether they have spoken to each other or not.
Method: two or three runs meet, whose errors return; the last process of the second one kills itself.
        losses.c has all others wait for it, and for each other. They end in good order, and the second
        run with its loss."""

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

    def lose(self, shape, ranks, *words):
        first = self.begin("first", ranks[0], shape, "-", *words)
        port = first.stdout.readline().decode().strip()
        second = self.begin("second", ranks[1], shape, port, *words)
        survivors = [first]
        if shape == "three":
            port = first.stdout.readline().decode().strip()
        if shape == "bridge":
            port = second.stdout.readline().decode().strip()
        if shape in ("three", "bridge"):
            survivors.append(self.begin("third", ranks[2], shape, port))
        for job in survivors:
            out, err = job.communicate(timeout=harness.TIME_LIMIT_S)
            self.assertEqual((job.returncode, out.decode()), (0, "heard\n"), err.decode())
            self.assertNotIn("mpiexec: ", err.decode())
        self.is_lost(second)

    def is_lost(self, second):
        _, err = second.communicate(timeout=harness.TIME_LIMIT_S)
        self.assertEqual(second.returncode, 128 + signal.SIGKILL)
        self.assertIn("was killed by signal 9", err.decode())


class Meetings(Losses):
    """How the runs have come to know each other."""

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


class LeavingTogether(Losses):
    """What the survivors of two runs do next: nobody waits for ever, not even for somebody who lives."""

    def test_the_first_collective(self):
        """Nobody knows yet where the others are, and some hear of the loss while they tell it."""
        for what in ("allreduce", "barrier", "bcast"):
            with self.subTest(what):
                self.lose("two", (3, 2), "die", what, "lost")
        for what in ("ibarrier", "dup", "idup", "split", "disconnect"):
            with self.subTest(what):
                self.lose("two", (3, 2), "die", what)

    def test_later_collectives(self):
        """One call after the other ends, whoever stays away from it, and nobody gets another's messages."""
        for how in ("barrier", "allreduce"):
            with self.subTest(how):
                self.lose("two", (3, 2), how, "die", "hear", "allreduce", "without-allreduce", "bcast",
                          "without-barrier", "ibarrier", "without-ibarrier", "dup", "without-dup", "idup",
                          "split", "without-split", "without-barrier", "barrier", "disconnect")

    def test_polling(self):
        """Whoever only asks again and again hears of it as well."""
        for what in ("test", "probe"):
            with self.subTest(what):
                self.lose("two", (3, 2), "barrier", "die", what, "lost")

    def test_an_intercommunicator(self):
        """Members of the other group alone are lost, and so the own group has lost nobody."""
        for what in ("barrier", "allreduce", "bcast"):
            with self.subTest(what):
                self.lose("inter", (3, 2), "die", what, "hear", "lost")
        self.lose("inter", (3, 2), "barrier", "die", "hear", "without-barrier", "allreduce", "without-allreduce",
                  "without-ibarrier", "persistent", "without-persistent", "without-dup", "idup", "without-idup",
                  "without-split", "without-bcast", "lost", "disconnect")

    def test_the_whole_other_group(self):
        """Nobody is left whose message MPI_ANY_SOURCE could take."""
        for what in ("any", "any-irecv", "any-probe", "any-mprobe", "any-test", "any-iprobe"):
            with self.subTest(what):
                self.lose("inter", (2, 2), "die", what, "lost", what, "any-irecv", "any-probe")

    def test_one_leaves_the_others(self):
        """The first one disconnects while the others wait for it in something else."""
        for what in ("barrier", "allreduce", "bcast", "ibarrier", "dup", "split", "disconnect"):
            with self.subTest(what):
                self.lose("two", (3, 2), "allreduce", "die", "hear", "without-" + what, "disconnect")

    def test_a_fatal_loss(self):
        """Without an error handler the run ends, and says why once."""
        for words in (("die", "allreduce"), ("allreduce", "die", "allreduce"), ("die", "disconnect")):
            with self.subTest(words):
                first = self.begin("first", 2, "two", "-", "fatal", *words)
                port = first.stdout.readline().decode().strip()
                second = self.begin("second", 2, "two", port, "fatal", *words)
                _, err = first.communicate(timeout=harness.TIME_LIMIT_S)
                self.assertNotEqual(first.returncode, 0)
                self.assertEqual(err.decode().count("mpiexec: "), 1, err.decode())
                second.communicate(timeout=harness.TIME_LIMIT_S)
                self.assertNotEqual(second.returncode, 0)


class LossesTest(Meetings, LeavingTogether, LaunchCase):
    options = ()

    def begin(self, role, ranks, *words):
        return self.start_job(LOSSES, role, *words, ranks=ranks, options=self.options,
                              stdin=subprocess.DEVNULL)


class NetworkLossesTest(LeavingTogether, LaunchCase):
    """The same over a network, where a loss is heard of later, and goodbyes are said."""

    options = ("--param", "transport.include=self,ucx")
    begin = LossesTest.begin


class AgentLossesTest(Meetings, LaunchCase):
    """Jobs take this machine for several, so some members cannot reach each other, and need not."""

    places = {"first": "lh1:2,lh2:2", "second": "lh3:2,lh2:2", "third": "lh4:3"}

    def begin(self, role, ranks, *words):
        options = ("--agent", "env HOST={host}", "-H", self.places[role], "--map-by", "node")
        return self.start_job(LOSSES, role, *words, ranks=ranks, options=options,
                              stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    harness.main()
