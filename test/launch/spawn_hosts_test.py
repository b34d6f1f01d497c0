#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   ranks spawn, publish and meet wherever they run: children go to free slots of the run's
        hosts, to hosts that a key names or adds, and communicators that span jobs know their hosts.
Method: the virtual hosts of hosts_test, by ssh and by an agent; travel.c says where children are."""

import contextlib
import os
import shutil
import signal
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
    for path in ("test/launch/travel", "test/mpi/collective/random_spawned_1_program"):
        shutil.copy(os.path.realpath(path), hosts_test.program(os.path.basename(path)))


class SpawnCase(HostsCase):
    def on(self, where, *arguments, options=(), program="travel"):
        """What a job with these hosts says."""
        line = [hosts_test.program("mpiexec"), *self.reach, "-H", where, *options,
                "./" + program, *map(str, arguments)]
        done = subprocess.run(line, check=False, cwd=hosts_test.PLACE, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=harness.TIME_LIMIT_S, env=self.variables())
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout.strip()

    def alone_on(self, host, *words):
        """A command that belongs to this test and has been started on that host by nobody's mpiexec."""
        return [hosts_test.VCLUSTER, "exec", host, "env",
                *["%s=%s" % pair for pair in self.mark_variables()],
                "LD_LIBRARY_PATH=" + hosts_test.PLACE,
                "PATH=%s:%s" % (hosts_test.PLACE, os.environ["PATH"]), *map(str, words)]

    def begin_alone(self, host, *words):
        process = subprocess.Popen(
            self.alone_on(host, *words), cwd=hosts_test.PLACE, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=hosts_test.vcluster_variables())
        self.started.append(process)
        return process

    def done_alone(self, host, *words):
        """What it says."""
        process = self.begin_alone(host, *words)
        status, out, err = self.ends(process, harness.TIME_LIMIT_S)
        self.assertEqual((status, err), (0, ""), out)
        return out.strip()

    def mark_variables(self):
        own = self.variables()
        return [(name, value) for name, value in own.items() if os.environ.get(name) != value and
                name not in ("LD_LIBRARY_PATH", "PATH")]


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

    def test_collectives_of_two_jobs_on_each_of_two_hosts(self):
        """Every kind of collective gives the right data, with ranks of both jobs at each board."""
        self.on("lh1:4,lh2:4", 1, 300, 3, options=["-n", "3", "--map-by", "node"],
                program="random_spawned_1_program")

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
            said = self.done_alone("lh1", "./travel", "spawn", "0", "4", *key)
            self.assertEqual(said, "children on " + wanted)

    def test_names_on_several_machines(self):
        """D9, D11: each of two mpiexecs is on a machine of its own, and a file keeps the names; a process
        that nobody looks after reads and writes it too."""
        names = hosts_test.program("names")
        serving = ["./mpiexec", "--name-server", names, "-n", "2", "./travel"]
        alone = ["env", "LAMINA_DYNAMIC_NAMES_FILE=" + names, "./travel"]
        for server, client in ((serving, serving), (serving, alone), (alone, serving)):
            with self.subTest(server=server, client=client):
                job = self.begin_alone("lh1", *server, "serve", "far")
                self.assertEqual(job.stdout.readline(), "open\n")
                self.assertEqual(os.stat(names).st_mode & 0o777, 0o600)
                self.assertEqual(self.done_alone("lh3", "./mpiexec", "-n", "1", "./travel", "find", "far"),
                                 "unknown")
                self.assertEqual(self.done_alone("lh2", *client, "call", "far"), "")
                self.assertEqual(self.ends(job, harness.TIME_LIMIT_S)[0], 0)
                self.assertFalse(os.path.exists(names))

    def test_a_name_ends_with_its_rank_on_another_machine(self):
        """D11: the rank is killed, so that it cannot take its name back."""
        names = hosts_test.program("names")
        job = self.begin_alone("lh1", "./mpiexec", "--name-server", names, "-n", "1", "./travel", "serve",
                               "far")
        self.assertEqual(job.stdout.readline(), "open\n")
        find = ["./mpiexec", "--name-server", names, "-n", "1", "./travel", "find", "far"]
        self.assertEqual(self.done_alone("lh2", *find), "found")
        for process in harness.processes_with(self.mark):
            with contextlib.suppress(OSError), open("/proc/%d/comm" % process, encoding="ascii") as file:
                if file.read() == "travel\n":
                    os.kill(process, signal.SIGKILL)
        self.assertEqual(self.ends(job, 10)[0], 137)
        self.assertEqual(self.done_alone("lh2", *find), "unknown")
        self.assertFalse(os.path.exists(names))

    def test_two_processes_join(self):
        """They have nothing in common but a socket: two that are alone, two mpiexecs, one of each."""
        alone, started = ["./travel"], ["./mpiexec", "-n", "1", "./travel"]
        for listens, connects in ((alone, alone), (started, started), (alone, started)):
            for host in ("lh1", "lh2"):
                with self.subTest(listens=listens, connects=connects, host=host):
                    job = self.begin_alone("lh1", *listens, "join")
                    port = job.stdout.readline().strip()
                    self.assertEqual(self.done_alone(host, *connects, "join", "lh1", port), "")
                    status, _, err = self.ends(job, harness.TIME_LIMIT_S)
                    self.assertEqual((status, err), (0, ""))


class AgentTest(SpawnCase):
    """The same by `ip netns exec`, which the hosts themselves need not have."""

    reach = hosts_test.AGENT

    def test_children_on_added_hosts(self):
        here = os.uname().nodename
        said = self.on("lh1:1,lh2:1", "spawn", -1, 2, "host", "lh3:1,lh1:1")
        self.assertEqual(said, "children on %s %s" % (here, here))


if __name__ == "__main__":
    unittest.main(verbosity=2)
