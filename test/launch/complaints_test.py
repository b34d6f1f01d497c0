#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   what users of other launchers complain of cannot be said of this one: waiting ranks that burn
        the CPUs of others, name look-ups for a job on one machine, paths that are too long, ports,
        singletons that hang. (The table of all complaints and their tests is in README.md.)
Method: the built programs in surroundings made for each complaint: one CPU, /etc/hosts that blocks
        whoever opens it, a host name that means nothing, a network with no interface, a bad TMPDIR.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

LAZY = os.path.join(harness.ROOT, "test/launch/lazy")
TOUR = os.path.join(harness.ROOT, "test/cluster/tour")

# Whoever looks up a name opens these, and hangs; the host's own name means nothing to anybody.
BLOCKED = """
set -e
mount --make-rprivate /
mkfifo "$TEST_TMPDIR/pipe.$$"
for file in /etc/hosts /etc/resolv.conf; do mount --bind "$TEST_TMPDIR/pipe.$$" $file; done
hostname nowhere.invalid
ip link set lo up
exec timeout 30 "$@"
"""


def children_cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class ComplaintsTest(harness.LaunchCase):

    def test_1_ranks_that_wait_leave_the_cpus_to_others(self):
        """8 ranks on one CPU; 7 wait 3 s for the 8th. Spinning would use all of these 3 s."""
        before = children_cpu_s()
        done = subprocess.run(
            ["taskset", "-c", str(min(os.sched_getaffinity(0))), harness.MPIEXEC, "-n", "8", LAZY, "3"],
            check=False, capture_output=True, text=True, timeout=harness.TIME_LIMIT_S,
            env=harness.environment(self.mark))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(children_cpu_s() - before, 2.0)

    @unittest.skipUnless(os.geteuid() == 0, "needs another user")
    def test_15_a_user_without_name_and_home(self):
        """As in containers that run under any number: libpmix looks for a home directory."""
        place = tempfile.mkdtemp(prefix="lamina.", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, place)
        os.chmod(place, 0o755)
        mpiexec, tour, _ = (shutil.copy2(os.path.realpath(file), place) for file in (
            harness.MPIEXEC, TOUR, "runtime/libmpi_abi.so.1"))
        variables = harness.environment(self.mark, {"LD_LIBRARY_PATH": place})
        variables.pop("HOME", None)
        done = subprocess.run(
            [mpiexec, "--oversubscribe", "-n", "4", tour], check=False, capture_output=True, text=True,
            cwd=place, user=61999, timeout=harness.TIME_LIMIT_S, env=variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("tour of 4 ranks", done.stdout)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs namespaces")
    def test_17_no_name_is_looked_up(self):
        done = subprocess.run(
            ["unshare", "-m", "-u", "-n", "bash", "-c", BLOCKED, "-", harness.MPIEXEC,
             "--oversubscribe", "-n", "4", TOUR],
            check=False, capture_output=True, text=True, timeout=harness.TIME_LIMIT_S,
            env=harness.environment(self.mark, {
                "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("tour of 4 ranks", done.stdout)

    def test_18_a_tmpdir_that_is_long_or_not_there(self):
        long = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        for _ in range(4):
            long = os.path.join(long, "x" * 60)
        os.makedirs(long)
        for directory in (long, "/no/such/directory"):
            with self.subTest(directory):
                done = self.run_job(TOUR, ranks=4, extra={"TMPDIR": directory})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(os.listdir(long), [])

    def test_20_a_program_without_launcher(self):
        done = subprocess.run([TOUR], check=False, capture_output=True, text=True, timeout=20,
                              env=harness.environment(self.mark))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("tour of 1 ranks", done.stdout)

    def test_14_no_port_is_open_to_the_network(self):
        """What listens, listens on the loopback interface."""
        process = self.start_job(harness.PMIX_CLIENT, "late", ranks=2)
        opened = set()

        def look():
            opened.update(listeners(process.pid))
            return process.poll() is not None
        harness.wait_until(look, 30)
        self.assertEqual(process.wait(), 0)
        self.assertTrue(opened, "the PMIx server was not seen")
        self.assertEqual({address for address in opened if address != "0100007F"}, set())


def listeners(pid):
    """Addresses, as the kernel writes them, on which the process listens."""
    try:
        links = [os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)]
    except OSError:
        return set()
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    found = set()
    for table in ("tcp", "tcp6"):
        with open("/proc/net/" + table, encoding="ascii") as file:
            for words in map(str.split, file.readlines()[1:]):
                if words[3] == "0A" and words[9] in inodes:
                    found.add(words[1].split(":")[0])
    return found


if __name__ == "__main__":
    harness.main()
