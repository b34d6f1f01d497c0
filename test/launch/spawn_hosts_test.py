#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   ranks spawn, publish and meet wherever they run: children go to free slots of the run's
        hosts, to hosts that a key names or adds, and communicators that span jobs know their hosts.
Method: the virtual hosts of hosts_test, by ssh and by an agent; travel.c says where children are."""

import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test  # noqa: E402
from hosts_test import HOSTS, HostsCase  # noqa: E402

tearDownModule = hosts_test.tearDownModule


def setUpModule():
    hosts_test.setUpModule()
    shutil.copy(os.path.realpath("test/launch/travel"), hosts_test.program("travel"))


class SpawnCase(HostsCase):
    def on(self, where, *arguments, options=()):
        """What a job with these hosts says."""
        line = [hosts_test.program("mpiexec"), *self.reach, "-H", where, *options, "./travel",
                *map(str, arguments)]
        done = subprocess.run(line, check=False, cwd=hosts_test.PLACE, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=harness.TIME_LIMIT_S, env=self.variables())
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.strip()


class SshTest(SpawnCase):
    def test_free_slots_of_the_run_come_first(self):
        """D4: the parents' slots are taken, and a root on any host knows that."""
        for root in (0, -1):
            with self.subTest(root):
                said = self.on("lh1:1,lh2:3", "spawn", root, 2, options=["-n", "2"])
                self.assertEqual(said, "children on lh2 lh2")

    def test_a_promise_stays_a_promise(self):
        """D5, D12: all parents hear that there are not enough slots; --oversubscribe is the run's."""
        said = self.on("lh1:1,lh2:2", "spawn", -1, 2, options=["-n", "2"])
        self.assertIn("refused", said)
        self.assertIn("1 free slot on 2 hosts", said)
        said = self.on("lh1:1,lh2:2", "spawn", -1, 2, options=["-n", "2", "--oversubscribe"])
        self.assertEqual(said, "children on lh1 lh2")

    def test_hosts_by_key(self):
        """D6, D7: also a host that the run does not have yet, from a root on any host."""
        listed = hosts_test.program("listed")
        with open(listed, "w", encoding="ascii") as file:
            file.write("lh3 slots=2\n")
        for key, value in (("host", "lh3:2"), ("add-host", "lh3:2"), ("hostfile", listed),
                           ("add-hostfile", listed)):
            with self.subTest(key):
                said = self.on("lh1:1,lh2:1", "spawn", -1, 2, key, value)
                self.assertEqual(said, "children on lh3 lh3")
        said = self.on("lh1:2,lh2:2", "spawn", 0, 2, "host", "lh1,lh3", "oversubscribe", "yes",
                       options=["-n", "4"])
        self.assertEqual(said, "children on lh1 lh3")

    def test_a_second_job_knows_who_is_where(self):
        """D8: parents and children spawn together, and each of the three jobs is on a host of its own."""
        self.assertEqual(self.on("lh1:2,lh2:2,lh3:2", "twice", 2, options=["-n", "2"]), "")

    def tell(self, *words):
        return subprocess.run(["lamina", *map(str, words)], executable=hosts_test.program("mpiexec"),
                              check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=harness.TIME_LIMIT_S)

    def test_hosts_come_and_go_while_the_job_runs(self):
        """lamina grow and lamina shrink: the next spawn knows."""
        job = subprocess.Popen(
            [hosts_test.program("mpiexec"), *self.reach, "-H", "lh1:1,lh2:2", "-n", "1", "./travel",
             "later", "0", "2"], cwd=hosts_test.PLACE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.variables())
        self.started.append(job)
        self.assertEqual(job.stdout.readline(), "ready\n")
        self.assertEqual(self.tell("shrink", job.pid, "lh9").stderr,
                         "lamina shrink: lh9 is no host of this job\n")
        self.assertEqual(self.tell("shrink", job.pid, "lh2").returncode, 0)
        self.assertEqual(self.tell("grow", job.pid, "lh3:2").returncode, 0)
        out, err = job.communicate("\n", timeout=harness.TIME_LIMIT_S)
        self.assertEqual((job.returncode, out, err), (0, "children on lh3 lh3\n", ""))

    def test_a_host_that_cannot_be_reached(self):
        said = self.on("lh1:1,lh2:1", "spawn", -1, 1, "host", "no-such-host")
        self.assertIn("refused", said)
        self.assertIn("no-such-host", said)

    def test_two_runs_meet_by_a_name(self):
        """D9, D11: across hosts, and the name ends with its process."""
        service = "lamina test %d" % os.getpid()
        server = self.start("./travel", "serve", service, hosts=HOSTS[:1])
        self.assertEqual(server.stdout.readline(), "open\n")
        self.assertEqual(self.on("lh2:1", "find", service), "found")
        self.assertEqual(self.on("lh2:1,lh3:1", "call", service), "")
        self.assertEqual(self.ends(server, 30)[0], 0)
        self.assertEqual(self.on("lh2:1", "find", service), "unknown")

    def test_a_singleton(self):
        """D3: it spawns on its own host, and on others if a key says so."""
        for key, wanted in (([], "lh1 lh1 lh1 lh1"), (["host", "lh1:4"], "lh1 lh1 lh1 lh1")):
            said = hosts_test.vcluster("exec", "lh1", "env", "LD_LIBRARY_PATH=" + hosts_test.PLACE,
                                       "PATH=%s:%s" % (hosts_test.PLACE, os.environ["PATH"]),
                                       *["%s=%s" % pair for pair in self.mark_variables()],
                                       "./travel", "spawn", "0", "4", *key)
            self.assertEqual(said.strip(), "children on " + wanted)

    def mark_variables(self):
        own = self.variables()
        return [(name, value) for name, value in own.items() if os.environ.get(name) != value and
                name not in ("LD_LIBRARY_PATH", "PATH")]


class AgentTest(SpawnCase):
    """The same by `ip netns exec`, which the hosts themselves need not have."""

    reach = hosts_test.AGENT

    def test_children_on_added_hosts(self):
        here = os.uname().nodename
        said = self.on("lh1:1,lh2:1", "spawn", -1, 2, "host", "lh3:1,lh1:1")
        self.assertEqual(said, "children on %s %s" % (here, here))


if __name__ == "__main__":
    unittest.main(verbosity=2)
