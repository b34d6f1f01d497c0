#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   mpiexec returns what users expect, and says once and clearly what went wrong.
Method: run ranks that end in every way there is; look at status and standard error."""

import os
import stat
import subprocess
import tempfile
import time

from harness import ACTOR, TIME_LIMIT_S, LaunchCase, command, environment, main


class ExitStatus(LaunchCase):
    def test_all_zero(self):
        job = self.run_job("true", ranks=4)
        self.assertEqual((job.returncode, job.stdout, job.stderr), (0, "", ""))

    def test_a_small_stack(self):
        for options in ((), ("--agent", "env NODE={host}", "-H", "n1:1,n2:1")):
            job = subprocess.run(
                ["sh", "-c", 'ulimit -s 64; exec "$@"', "sh",
                 *command(ACTOR, "long=100000", ranks=2, options=options)],
                check=False, capture_output=True, text=True, timeout=TIME_LIMIT_S,
                env=environment(self.mark))
            self.assertEqual((job.returncode, len(job.stdout), job.stderr), (0, 200_002, ""))

    def test_a_slow_reader_is_no_timeout(self):
        process = self.start_job(ACTOR, "long=400000", ranks=2, options=["--timeout", "3"])
        # Its ranks have ended, but nobody has read what they wrote.
        self.assertRaises(subprocess.TimeoutExpired, process.wait, 3.2)
        output, said = process.communicate(timeout=TIME_LIMIT_S)
        self.assertEqual((process.returncode, len(output), said), (0, 800_002, b""))

    def test_code_of_the_failing_rank(self):
        job = self.run_job(ACTOR, "at=2", "exit=7", "at=any", "wait", ranks=4)
        self.assertEqual(job.returncode, 7)
        self.assertRegex(job.stderr,
                         r"\Ampiexec: rank 2 on \S+ exited with code 7; the job was ended\n\Z")

    def test_first_failure_decides(self):
        job = self.run_job(ACTOR, "at=1", "exit=3", "at=0", "heed=15", "wait", ranks=2)
        self.assertEqual(job.returncode, 3)
        self.assertEqual(job.stderr.count("mpiexec:"), 1)

    def test_killed_by_signal(self):
        job = self.run_job(ACTOR, "at=3", "die=11", "at=any", "wait", ranks=4)
        self.assertEqual(job.returncode, 128 + 11)
        self.assertRegex(
            job.stderr, r"\Ampiexec: rank 3 on \S+ was killed by signal 11 "
            r"\(SIGSEGV, segmentation fault\); the job was ended\n\Z")

    def test_killed_within_a_call(self):
        job = self.run_job(ACTOR, "at=1", "phase=1", "in=MPI_Recv", "die=9",
                           "at=any", "wait", ranks=2)
        self.assertEqual(job.returncode, 128 + 9)
        self.assertRegex(job.stderr, r"rank 1 on \S+ was killed by signal 9 \(SIGKILL, killed\) "
                         r"in MPI_Recv; the job was ended")

    def test_left_without_finalize(self):
        job = self.run_job(ACTOR, "phase=1", "at=1", "exit=0", "at=any", "wait", ranks=2)
        self.assertEqual(job.returncode, 1)
        self.assertRegex(job.stderr, r"rank 1 on \S+ exited without calling MPI_Finalize; "
                         "the job was ended")

    def test_code_after_finalize_leaves_the_others_alone(self):
        job = self.run_job(ACTOR, "phase=2", "at=1", "exit=5", "at=0", "pause=300", "say=done",
                           ranks=2)
        self.assertEqual((job.returncode, job.stdout), (5, "done\n"))
        self.assertRegex(job.stderr, r"rank 1 on \S+ exited with code 5 after MPI_Finalize\n")

    def test_stubborn_rank_is_killed_after_the_grace_time(self):
        begin = time.monotonic()
        job = self.run_job(ACTOR, "deaf=15", "at=0", "pause=200", "exit=4", "at=any", "wait", ranks=2,
                           options=["--param", "launcher.supervise.grace_ms=300"])
        self.assertEqual(job.returncode, 4)
        self.assertTrue(0.5 <= time.monotonic() - begin < 4, "grace time not kept")

    def test_last_words_after_sigterm_are_heard(self):
        job = self.run_job(ACTOR, "heed=15", "at=0", "pause=200", "exit=4", "at=1", "wait", ranks=2)
        self.assertEqual((job.returncode, job.stdout), (4, "got 15\n"))


class Timeout(LaunchCase):
    def test_names_ranks_and_calls(self):
        # A busy machine may need longer until the ranks have come that far.
        for seconds in ("0.5", "5", "50"):
            job = self.run_job(ACTOR, "at=3", "exit=0", "at=1", "phase=1",
                               "in=MPI_Recv", "at=any", "wait", ranks=4,
                               options=["--timeout", seconds])
            self.assertEqual(job.returncode, 124)
            said = ("timeout after %s s, still running: ranks 0 and 2 outside MPI; rank 1 in "
                    "MPI_Recv; the job was ended" % seconds)
            if said in job.stderr:
                break
        self.assertIn(said, job.stderr)

    def test_in_time(self):
        job = self.run_job("true", ranks=2, options=["--timeout", "30"])
        self.assertEqual((job.returncode, job.stderr), (0, ""))


class CannotRun(LaunchCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(self.folder.cleanup)

    def script(self, name, text, mode=0o755):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def fails(self, status, words, *arguments, options=()):
        job = self.run_job(*arguments, ranks=3, options=options)
        self.assertEqual(job.returncode, status, job.stderr)
        self.assertIn(words, job.stderr)
        self.assertEqual(job.stderr.count("mpiexec:"), 1, job.stderr)

    def test_no_such_program(self):
        self.fails(127, "no such program: ./nosuch", "./nosuch")

    def test_not_in_path(self):
        self.fails(127, "no such program in PATH: lamina-nosuch-program",
                   "lamina-nosuch-program")

    def test_not_executable(self):
        path = self.script("plain", "#!/bin/sh\n", stat.S_IRUSR | stat.S_IWUSR)
        self.fails(126, "no permission to execute it", path)

    def test_directory(self):
        self.fails(126, "it is a directory", self.folder.name)

    def test_wrong_working_directory(self):
        self.fails(2, "/nosuch: No such file or directory", "true",
                   options=["--wdir", "/nosuch"])

    def test_interpreter_is_missing(self):
        path = self.script("lost", "#!/nosuch/interpreter -x\n")
        self.fails(127, "its interpreter /nosuch/interpreter: No such file", path)

    def test_interpreter_line_from_windows(self):
        path = self.script("lost", "#!/bin/sh\r\n")
        self.fails(127, "its interpreter /bin/sh\\r (lines end as on Windows): No such file", path)

    def test_script_without_interpreter_line_runs_in_the_shell(self):
        path = self.script("bare", "echo from $1\n")
        job = self.run_job(path, "shell", ranks=2)
        self.assertEqual((job.returncode, job.stdout), (0, "from shell\nfrom shell\n"))

    def test_relative_to_the_working_directory(self):
        self.script("here", "#!/bin/sh\npwd\n")
        job = self.run_job("./here", options=["--wdir", self.folder.name])
        self.assertEqual((job.returncode, job.stdout),
                         (0, os.path.realpath(self.folder.name) + "\n"))

    def test_nothing_of_the_first_ranks_is_left_when_a_later_app_fails(self):
        path = self.script("lost", "#!/nosuch/interpreter\n")
        job = self.run_job(ACTOR, "wait", ":", "-n", "1", path, ranks=2)
        self.assertEqual(job.returncode, 127)
        self.assertIn("cannot run %s on" % path, job.stderr)


class Surroundings(LaunchCase):
    def test_environment(self):
        job = self.run_job("sh", "-c", "echo $PMIX_RANK $COLOUR $LAMINA_P2P_WAIT_MODE",
                           ranks=1, options=["-x", "COLOUR=blue"])
        self.assertEqual(job.stdout, "0 blue exclusive\n")

    def test_another_launchers_names_are_not_passed_on(self):
        job = self.run_job("env", extra={"PMIX_SERVER_URI2": "elsewhere", "PMIX_STALE": "1",
                                         "LAMINA_EVENT_FD": "77777"})
        self.assertNotIn("elsewhere", job.stdout)
        self.assertNotIn("PMIX_STALE", job.stdout)
        self.assertNotIn("77777", job.stdout)

    def test_no_descriptor_leaks_but_those_of_shared_memory(self):
        job = self.run_job(ACTOR, "fd", ranks=3)
        names = [line.split("lamina-")[-1].split()[0] for line in job.stdout.splitlines()]
        self.assertEqual(sorted(names), ["events"] * 3 + ["node"] * 3 + ["roster"] * 3, job.stdout)

    def test_standard_descriptors_closed(self):
        for ranks in (1, 3):
            job = subprocess.run(
                ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command(ACTOR, "say=x", ranks=ranks)],
                check=False, timeout=TIME_LIMIT_S, env=environment(self.mark))
            self.assertEqual(job.returncode, 0)


class Many(LaunchCase):
    def test_200_ranks(self):
        job = self.run_job(ACTOR, "lines=20", ranks=200)
        self.assertEqual((job.returncode, job.stderr), (0, ""))
        self.assertEqual(len(job.stdout.splitlines()), 200 * 20)

    def test_200_ranks_end_at_once_when_one_fails(self):
        job = self.run_job(ACTOR, "at=117", "exit=9", "at=any", "wait", ranks=200)
        self.assertEqual(job.returncode, 9)


class ControlGroup(LaunchCase):
    """A job within limits of its own. It needs a control group of one of the two versions."""

    def make(self, controller, limits):
        """The name of a new group; `limits`: {file of version 1 or 2: value}."""
        own = {}
        with open("/proc/self/cgroup", encoding="ascii") as file:
            for line in file:
                _, controllers, path = line.rstrip("\n").split(":", 2)
                own.update((each, path) for each in controllers.split(","))
        root = "/sys/fs/cgroup/" + controller if controller in own else "/sys/fs/cgroup"
        name = "%s/lamina-test-%d" % (own.get(controller, own.get("", "/")).rstrip("/"), os.getpid())
        self.group = root + name
        try:
            os.mkdir(self.group)
            self.addCleanup(os.rmdir, self.group)
            for file, value in limits.items():
                if os.path.exists(os.path.join(self.group, file)):
                    self.write(file, value)
                    limits = None
        except OSError as error:
            self.skipTest("no control group can be made: %s" % error)
        if limits is not None:
            self.skipTest("control groups have no controller %s here" % controller)
        return name

    def write(self, file, value):
        with open(os.path.join(self.group, file), "w", encoding="ascii") as out:
            out.write(value)

    def run_within(self, *words):
        return subprocess.run(
            ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self.group, *words], check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT_S,
            env=environment(self.mark))

    def test_memory(self):
        name = self.make("memory", {"memory.limit_in_bytes": str(512 << 20), "memory.max": str(512 << 20)})
        hungry = ("-n", "1", "true", ":", "-n", "1", "python3", "-c", "b'x' * (1 << 30)")
        for where in (), ("--spawner", "ssh", "-H", "localhost:2"):
            job = self.run_within(command("x", options=where)[0], *where, *hungry)
            self.assertRegex(job.stderr, r"\Ampiexec: rank 1 on \S+ was killed by the memory limit of "
                             r"control group %s \(512 MiB\)\n\Z" % name)
            self.assertEqual(job.returncode, 128 + 9)

    def test_processes(self):
        name = self.make("pids", {"pids.max": "8"})
        job = self.run_within(*command("tail", "-f", "/dev/null", ranks=20))
        self.assertRegex(job.stderr, r"\Ampiexec: cannot start rank \d+ on \S+: the process limit of "
                         r"control group %s \(8\) is reached\n\Z" % name)
        self.assertEqual(job.returncode, 126)


class Pretended(LaunchCase):
    """Supervision of jobs that this machine could not run: the fake spawner plays the ranks."""

    def play(self, script, ranks, options=()):
        return self.run_job("app", ranks=ranks,
                            options=["--param", "launcher.spawner.use=fake",
                                     "--param", "spawner.fake.script=" + script, *options])

    def test_2000_ranks(self):
        job = self.play("*:at=20", 2000)
        self.assertEqual((job.returncode, job.stderr), (0, ""))

    def test_one_of_2000_dies(self):
        job = self.play("1711:kill=11,at=20,in=MPI_Allreduce;*:at=60000", 2000)
        self.assertEqual(job.returncode, 128 + 11)
        self.assertRegex(job.stderr, r"\Ampiexec: rank 1711 on \S+ was killed by signal 11 "
                         r"\(SIGSEGV, segmentation fault\) in MPI_Allreduce; the job was ended\n\Z")

    def test_deaf_ranks_are_killed_after_the_grace_time(self):
        job = self.play("0:exit=2,at=5;*:deaf,at=60000", 64,
                        options=["--param", "launcher.supervise.grace_ms=50"])
        self.assertEqual(job.returncode, 2)

    def test_rank_that_cannot_start(self):
        job = self.play("7:fail=Exec format error;*:at=60000", 16)
        self.assertEqual(job.returncode, 127)
        self.assertRegex(job.stderr, r"\Ampiexec: cannot run app on \S+: Exec format error\n\Z")

    def test_two_failures_at_once_are_one_message(self):
        job = self.play("1:exit=5;2:exit=6;*:at=60000", 4)
        self.assertIn(job.returncode, (5, 6))
        self.assertEqual(job.stderr.count("mpiexec:"), 1, job.stderr)


if __name__ == "__main__":
    main()
