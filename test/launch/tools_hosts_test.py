#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `lamina check`, `ps --ping` and `clean` tell the truth about hosts over ssh: all well, one cut off,
        one frozen, one with leftovers; clean leaves a running job alone. A debugger finds the ranks.
Method: the virtual hosts of hosts_test; leftovers are made by hand on one of them.
"""

import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import hosts_test as hosts  # noqa: E402
from hosts_test import setUpModule, tearDownModule  # noqa: E402, F401


class ToolsTest(hosts.HostsCase):

    def setUp(self):
        super().setUp()
        self.prefix = os.path.join(hosts.PLACE, "installation")
        if not os.path.exists(self.prefix):
            os.makedirs(self.prefix + "/bin")
            os.makedirs(self.prefix + "/lib")
            shutil.copy(hosts.program("mpiexec"), self.prefix + "/bin/mpiexec")
            shutil.copy(hosts.program("libmpi_abi.so.1"), self.prefix + "/lib/")
            os.symlink("mpiexec", self.prefix + "/bin/lamina")

    def lamina(self, tool, *words):
        return subprocess.run(
            [self.prefix + "/bin/lamina", tool, *words], check=False, cwd=hosts.PLACE, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=harness.TIME_LIMIT_S, env=self.variables())

    def on_hosts(self, tool, *words):
        return self.lamina(tool, *self.reach, "-H", ",".join(hosts.HOSTS), *words)

    def test_all_is_well(self):
        done = self.on_hosts("check")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for host in hosts.HOSTS:
            self.assertRegex(done.stdout, r"(?m)^%s +ok +\d+\.\d+\.\d+ +%s " % (host, self.prefix))
        self.assertIn("\n3 of 3 hosts are well (spawner ssh)\n", done.stdout)

    def test_a_host_that_is_cut_off(self):
        hosts.vcluster("cut", hosts.HOSTS[1])
        try:
            done = self.on_hosts("check", "--param", "spawner.ssh.connect_s=2")
        finally:
            hosts.vcluster("heal", hosts.HOSTS[1])
        # Its neighbours have to find it again.
        reach = ["ssh", *hosts.SSH[1].split("=", 1)[1].split(), hosts.HOSTS[1], "true"]
        self.assertTrue(harness.wait_until(
            lambda: subprocess.run(reach, check=False, capture_output=True).returncode == 0))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^lh2 +failed +cannot start on lh2: ")
        self.assertIn("\n2 of 3 hosts are well", done.stdout)

    def test_a_host_that_is_frozen(self):
        process = self.start_and_wait("wait")
        well = self.lamina("ps", "--ping", str(process.pid))
        self.assertEqual((well.returncode, well.stderr), (0, ""))
        self.assertEqual(well.stdout.count(" answered in "), 3, well.stdout)
        hosts.vcluster("freeze", hosts.HOSTS[2])
        try:
            done = self.lamina("ps", "--ping", str(process.pid))
        finally:
            hosts.vcluster("thaw", hosts.HOSTS[2])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^ +lh3 +2 of 2 ranks running +no answer within 2 s$")
        self.assertEqual(done.stdout.count(" answered in "), 2)
        process.send_signal(signal.SIGTERM)
        self.ends(process, 10)

    def test_a_debugger_finds_the_ranks(self):
        if shutil.which("gdb") is None:
            self.skipTest("gdb is missing: third_party/install test")
        process = self.start_and_wait("wait")
        look = ('set $i = 0\nwhile $i < *(int*)&MPIR_proctable_size\n'
                'set $entry = *(char**)&MPIR_proctable + $i * 24\n'
                'printf "rank %d host %s pid %d\\n", $i, *(char**)$entry, *(int*)($entry + 16)\n'
                'set $i = $i + 1\nend\n')
        script = os.path.join(hosts.PLACE, "table.gdb")
        with open(script, "w", encoding="ascii") as file:
            file.write(look)
        seen = subprocess.run(["gdb", "-nx", "-batch", "-x", script, "-p", str(process.pid)], check=False,
                              capture_output=True, text=True, timeout=harness.TIME_LIMIT_S,
                              stdin=subprocess.DEVNULL, env=self.variables())
        rows = re.findall(r"(?m)^rank (\d+) host (\S+) pid (\d+)$", seen.stdout)
        self.assertEqual([(int(rank), host) for rank, host, _ in rows],
                         [(i, hosts.HOSTS[i // 2]) for i in range(6)], seen.stdout + seen.stderr)
        for _, host, pid in rows:
            self.assertIn("actor", hosts.vcluster("exec", host, "cat", "/proc/%s/cmdline" % pid))
        process.send_signal(signal.SIGTERM)
        self.ends(process, 10)

    def test_leftovers_are_removed_and_nothing_else(self):
        process = self.start_and_wait("wait")
        self.assertEqual(self.on_hosts("clean").stdout, "nothing was left on 3 hosts\n")
        orphan = subprocess.Popen(
            [hosts.VCLUSTER, "exec", hosts.HOSTS[1], "tail", "-f", "/dev/null"], cwd=hosts.PLACE,
            env=dict(os.environ, VC_NAME=hosts.NAME, VC_RUN=hosts.STATE, PMIX_NAMESPACE="0011",
                     LAMINA_EVENT_FD="9", PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
        self.started.append(orphan)
        # Those of another's PMIx may be in use although nobody has them open.
        others = ["/dev/shm/thesis", "/tmp/pmix.sys.lh2"]
        hosts.vcluster("exec", hosts.HOSTS[1], "sh", "-c",
                       'for file in /dev/shm/ucx_shm_posix_dead "$@"; do echo x > "$file"; done',
                       "-", *others)

        def found():
            done = self.on_hosts("clean", "--dry-run")
            return done if "process" in done.stdout else None

        dry = harness.wait_until(found)
        self.assertTrue(dry)
        self.assertEqual(dry.returncode, 1)
        wet = self.on_hosts("clean")
        self.assertEqual((wet.returncode, wet.stderr), (0, ""))
        self.assertRegex(wet.stdout, r"(?m)^lh2: process \d+ \(tail\), a rank without a launcher$")
        self.assertIn("lh2: file /dev/shm/ucx_shm_posix_dead, which nobody uses\n", wet.stdout)
        self.assertEqual(len(wet.stdout.splitlines()), 2)
        orphan.wait(timeout=10)
        self.assertEqual(self.on_hosts("clean").stdout, "nothing was left on 3 hosts\n")
        self.assertEqual(hosts.vcluster("exec", hosts.HOSTS[1], "cat", *others), "x\n" * 2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.ends(process, 10)


if __name__ == "__main__":
    harness.main()
