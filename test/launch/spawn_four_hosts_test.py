#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   jobs on four hosts spawn and meet, and hear of each other's losses, whoever shares a host with whom.
Method: spawn_hosts_test's programs on four virtual hosts, by ssh and by an agent; losses.c has a process die that
        others wait for."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test  # noqa: E402
import spawn_hosts_test  # noqa: E402
from hosts_test import HostsCase  # noqa: E402
from losses_test import LeavingTogether, Meetings  # noqa: E402

tearDownModule = hosts_test.tearDownModule
FOUR = ["lh1", "lh2", "lh3", "lh4"]


def setUpModule():
    hosts_test.HOSTS[:] = FOUR
    spawn_hosts_test.setUpModule()
    shutil.copy(os.path.realpath("test/launch/losses"), hosts_test.program("losses"))


class SshTest(spawn_hosts_test.SpawnCase):
    def test_parents_on_all_hosts(self):
        """Children on free slots of the same hosts, on one that a key or a file names, on one that is added."""
        four = ",".join(host + ":2" for host in FOUR)
        by_node = ["-n", "4", "--map-by", "node"]
        listed = hosts_test.program("listed")
        with open(listed, "w", encoding="ascii") as file:
            file.write("lh4 slots=2\nlh2 slots=2\n")
        for words, wanted in (
                (["spawn", -1, 4], "lh1 lh2 lh3 lh4"),
                (["spawn", 2, 2, "host", "lh3,lh2"], "lh3 lh2"),
                (["spawn", 1, 2, "hostfile", listed], "lh4 lh2")):
            with self.subTest(words):
                said = self.on(four, *words, "map_by", "node", "oversubscribe", "yes", options=by_node)
                self.assertEqual(sorted(said.split()[2:]), sorted(wanted.split()), said)
        said = self.on("lh1:1,lh2:1,lh3:1", "spawn", -1, 2, "add-host", "lh4:2", options=["-n", "3"])
        self.assertEqual(said, "children on lh4 lh4")

    def test_two_runs_on_two_hosts_each(self):
        service = "lamina pair %d" % os.getpid()
        server = self.start("./travel", "serve", service, hosts=FOUR[:2])
        self.assertEqual(server.stdout.readline(), "open\n")
        self.assertEqual(self.on("lh3:2,lh4:2", "call", service), "")
        status, _, err = self.ends(server, harness.TIME_LIMIT_S)
        self.assertEqual((status, err), (0, ""))

    def test_a_singleton_spawns(self):
        """It has no launcher that would know how hosts are reached, so a parameter says so."""
        said = self.done_alone("lh1", "env", "LAMINA_SPAWNER_SSH_OPTIONS=" + hosts_test.SSH[1].split("=", 1)[1],
                               "./travel", "spawn", "0", "4", "host", ",".join(FOUR), "map_by", "node")
        self.assertEqual(sorted(said.split()[2:]), FOUR, said)


class LossesTest(Meetings, LeavingTogether, HostsCase):
    """Some ranks share a host and some do not, within a run and across."""

    reach = hosts_test.AGENT
    places = {"first": "lh1:2,lh2:2", "second": "lh3:2,lh2:2", "third": "lh4:3"}

    def begin(self, role, ranks, *words):
        line = [hosts_test.program("mpiexec"), *self.reach, "-H", self.places[role], "--oversubscribe",
                "-n", str(ranks), "--map-by", "node", "./losses", role, *words]
        job = subprocess.Popen(line, cwd=hosts_test.PLACE, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.variables())
        self.started.append(job)
        self.watch(job)
        return job


if __name__ == "__main__":
    harness.main()
