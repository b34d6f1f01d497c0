#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   ranks that may not open each other's memory work together all the same: in user namespaces, with
        programs that cannot be read, with other capabilities, after a change of user; and where
        memfd_create is forbidden, and where a program has closed its standard descriptors.
Method: a program that checks every element of messages and collectives, behind what hides it. mpiexec runs
        as an ordinary user, because root may open everything."""

import os
import shutil
import subprocess
import tempfile
import unittest

import forbid
import harness
from harness import LaunchCase

HIDDEN = os.path.join(harness.ROOT, "test/launch/hidden")
NOBODY = 65534
USER_NAMESPACE = ["unshare", "--user", "--map-current-user"]
PID_NAMESPACE = [*USER_NAMESPACE, "--pid", "--mount-proc", "--mount", "--fork"]


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


@unittest.skipIf(os.getuid() != 0, "needs root to change users")
class Hidden(LaunchCase):
    def setUp(self):
        """The sandbox is root's alone, so the programs are copied where everybody can run them."""
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="lamina-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o777)
        for name in ("launcher/mpiexec", "test/launch/hidden", "runtime/libmpi_abi.so.1"):
            shutil.copy(os.path.join(harness.ROOT, name), self.folder)
        self.program = os.path.join(self.folder, "hidden")

    def run_as_nobody(self, *words, options=()):
        return subprocess.run(
            [os.path.join(self.folder, "mpiexec"), "--oversubscribe", *options, *words],
            check=False, timeout=harness.TIME_LIMIT_S, capture_output=True, text=True, cwd=self.folder,
            stdin=subprocess.DEVNULL, preexec_fn=as_nobody,
            env=harness.environment(self.mark, {"HOME": self.folder, "LD_LIBRARY_PATH": self.folder}))

    def good(self, *words, options=()):
        job = self.run_as_nobody(*words, options=options)
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "all was right\n", ""))

    def test_each_in_a_user_namespace(self):
        for ranks in (2, 4, 8):
            self.good("-n", str(ranks), *USER_NAMESPACE, self.program, "shared")

    def test_one_inside_and_one_outside(self):
        self.good("-n", "1", *USER_NAMESPACE, self.program, ":", "-n", "1", self.program)
        self.good("-n", "1", self.program, ":", "-n", "1", *USER_NAMESPACE, self.program)

    def test_pid_namespaces_too(self):
        self.good("-n", "2", *PID_NAMESPACE, self.program)
        self.good("-n", "1", *PID_NAMESPACE, self.program, ":", "-n", "2", self.program)

    def test_the_whole_job_inside(self):
        job = subprocess.run(
            [*USER_NAMESPACE, os.path.join(self.folder, "mpiexec"), "--oversubscribe", "-n", "2", self.program],
            check=False, timeout=harness.TIME_LIMIT_S, capture_output=True, text=True, cwd=self.folder,
            stdin=subprocess.DEVNULL, preexec_fn=as_nobody,
            env=harness.environment(self.mark, {"HOME": self.folder, "LD_LIBRARY_PATH": self.folder}))
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "all was right\n", ""))

    def test_programs_that_cannot_be_read_or_opened(self):
        os.chmod(self.program, 0o711)
        self.good("-n", "2", self.program)
        os.chmod(self.program, 0o755)
        self.good("-n", "2", self.program, "undumpable")
        self.good("-n", "1", self.program, "undumpable", ":", "-n", "1", self.program)

    def test_a_change_of_user_and_other_capabilities(self):
        for words in (["-n", "2", self.program, "user"],
                      ["-n", "1", "setpriv", "--bounding-set=-sys_ptrace,-dac_override", self.program,
                       ":", "-n", "1", self.program]):
            job = subprocess.run(
                harness.command(ranks=1)[:2] + words, check=False, timeout=harness.TIME_LIMIT_S,
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
                env=harness.environment(self.mark, {"LD_LIBRARY_PATH": self.folder}))
            self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "all was right\n", ""))

    def test_the_line_that_says_which_transport_and_why(self):
        job = self.run_as_nobody("-n", "2", *USER_NAMESPACE, self.program,
                                 options=["--param", "base.log.level=info"])
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertRegex(job.stderr, r"a process of this node is hidden from this one \(the kernel does not let us "
                         r"open /proc/\d+/fd.*go through the memory that mpiexec shares with its ranks")

    def test_standard_descriptors_that_the_program_has_closed(self):
        self.good("-n", "2", self.program, "closed")

    def test_where_memfd_is_forbidden(self):
        job = subprocess.run(
            harness.command(HIDDEN, ranks=2), check=False, timeout=harness.TIME_LIMIT_S, capture_output=True,
            text=True, stdin=subprocess.DEVNULL, preexec_fn=lambda: forbid.forbid("memfd_create"),
            env=harness.environment(self.mark, {}))
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "all was right\n", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
