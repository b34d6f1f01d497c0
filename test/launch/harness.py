# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the launcher share: the built programs, a way to run them, a way to see leftovers."""

import os
import signal
import subprocess
import threading
import time
import unittest

ROOT = os.getcwd()
MPIEXEC = os.path.join(ROOT, "launcher/mpiexec")
ACTOR = os.path.join(ROOT, "test/launch/actor")
PMIX_CLIENT = os.path.join(ROOT, "test/launch/pmix_client")
SUPPRESSIONS = {"LSAN_OPTIONS": os.path.join(ROOT, "test/launch/leaks.supp"),
                "TSAN_OPTIONS": os.path.join(ROOT, "test/launch/races.supp")}
TIME_LIMIT_S = 120


def command(*arguments, ranks=1, options=()):
    return [MPIEXEC, "--oversubscribe", *options, "-n", str(ranks), *map(str, arguments)]


def environment(mark, extra=None, folder=None):
    """The environment of a job under test: processes that carry `mark` belong to it. `folder`: where the
    files of SUPPRESSIONS have been copied to."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PMIX_")}
    variables["LAUNCH_TEST_MARK"] = mark
    # Heeded by sanitizer builds alone.
    for name, file in SUPPRESSIONS.items():
        if folder is not None:
            file = os.path.join(folder, os.path.basename(file))
        variables[name] = "%s:print_suppressions=0:suppressions=%s" % (variables.get(name, ""), file)
    variables.update(extra or {})
    return variables


def processes_with(mark):
    """Process ids, this one excepted, whose environment carries the mark."""
    needle = ("LAUNCH_TEST_MARK=" + mark).encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as file:
                if needle not in file.read().split(b"\0"):
                    continue
            with open("/proc/%s/stat" % name, encoding="ascii", errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    continue
        except OSError:
            continue
        found.append(int(name))
    return found


def ranks_of(mpiexec):
    """The ranks that run under the process `mpiexec`: {rank: pid}."""
    ranks = {}
    for task in os.listdir("/proc/%d/task" % mpiexec):
        with open("/proc/%d/task/%s/children" % (mpiexec, task), encoding="ascii") as file:
            for child in file.read().split():
                try:
                    if os.getpgid(int(child)) != int(child):
                        continue  # an orphan of a rank, which is the launcher's child now
                    with open("/proc/%s/environ" % child, "rb") as environ:
                        variables = environ.read().split(b"\0")
                except OSError:
                    continue
                for variable in variables:
                    if variable.startswith(b"PMIX_RANK="):
                        ranks[int(variable[10:])] = int(child)
    return ranks


def wait_until(truth, seconds=30.0):
    """Polls until truth() is true; returns its last value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = truth()
        if value:
            return value
        time.sleep(0.01)  # tidy: sleep: polls the process table, which announces nothing
    return truth()


class LaunchCase(unittest.TestCase):
    """A test case that knows its own processes and files and leaves none."""

    def setUp(self):
        self.mark = "%s.%d.%f" % (self.id(), os.getpid(), time.monotonic())
        self.started = []
        self.shared_before = set(os.listdir("/dev/shm"))

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            process.wait()
        left = wait_until(lambda: not processes_with(self.mark))
        leftovers = processes_with(self.mark)
        for pid in leftovers:
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(left, "processes left behind: %s" % leftovers)

    def run_job(self, *arguments, ranks=1, options=(), stdin=subprocess.DEVNULL, data=None,
                extra=None, text=True):
        """Runs a job to its end; the result has returncode, stdout and stderr."""
        return subprocess.run(
            command(*arguments, ranks=ranks, options=options), check=False,
            stdin=None if data is not None else stdin, input=data, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=TIME_LIMIT_S, text=text,
            env=environment(self.mark, extra))

    def start_job(self, *arguments, ranks=1, options=(), stdin=subprocess.DEVNULL,
                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, extra=None, **more):
        process = subprocess.Popen(
            command(*arguments, ranks=ranks, options=options), stdin=stdin, stdout=stdout,
            stderr=stderr, env=environment(self.mark, extra), **more)
        self.started.append(process)
        self.watch(process)
        return process

    def watch(self, process):
        """So that no read from the job waits for ever: it finds the end of file."""
        watchdog = threading.Timer(TIME_LIMIT_S, process.kill)
        watchdog.daemon = True
        watchdog.start()
        self.addCleanup(watchdog.cancel)

    def wait_for_ranks(self, process, count):
        """Until `count` ranks have executed their program; {rank: pid}."""
        ranks = wait_until(lambda: len(ranks_of(process.pid)) == count and ranks_of(process.pid))
        self.assertTrue(ranks, "the ranks did not start")
        return ranks

    def read_lines(self, process, count):
        return sorted(process.stdout.readline().decode().strip() for _ in range(count))

    def no_files_of(self, names_before):
        """Names of Lamina's that are in /tmp or /dev/shm, were not before, and stay there."""
        wait_until(lambda: not lamina_files() - names_before)
        return sorted(lamina_files() - names_before)


def lamina_files():
    """What the launcher could have left in the file system: everything in /dev/shm and /tmp that
    belongs to us and bears a name of Lamina's or of PMIx's."""
    found = set()
    for folder in ("/tmp", "/dev/shm"):
        for name in os.listdir(folder):
            if any(word in name.lower() for word in ("lamina.", "pmix", "gds", "dstore")):
                found.add(os.path.join(folder, name))
    return found


def main():
    unittest.main(verbosity=2)
