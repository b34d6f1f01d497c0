#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   what goes in and out of ranks arrives byte for byte, whole line by whole line, in bounded
        memory, however slow anybody is.
Method: send known bytes through, compare; stop reading and see that ranks wait."""

import fcntl
import hashlib
import os
import pty
import re
import subprocess
import tempfile
import termios
import time

from harness import ACTOR, TIME_LIMIT_S, LaunchCase, command, environment, main, wait_until


def noise(count):
    """Bytes that no text filter would leave alone, the same every time."""
    block = b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(2048))
    return (block * (count // len(block) + 1))[:count]


class Input(LaunchCase):
    def test_ten_megabytes_by_pipe(self):
        data = noise(10_000_000)
        job = self.run_job(ACTOR, "at=0", "copy", ranks=3, data=data, text=False)
        self.assertEqual((job.returncode, job.stderr), (0, b""))
        self.assertTrue(job.stdout == data, "the bytes differ")

    def test_ten_megabytes_from_a_file(self):
        data = noise(10_000_000)
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            job = self.run_job(ACTOR, "at=0", "copy", ranks=2, stdin=file, text=False)
        self.assertTrue(job.stdout == data, "the bytes differ")

    def test_another_rank(self):
        job = self.run_job(ACTOR, "at=2", "copy", "at=any", "swallow", ranks=3, data="hello\n",
                           options=["--stdin", "2"])
        self.assertEqual(sorted(job.stdout.splitlines()), ["0 bytes", "0 bytes", "0 bytes", "hello"])

    def test_all_ranks(self):
        data = noise(3_000_000)
        for by_file in (False, True):
            with tempfile.TemporaryFile() as file:
                file.write(data)
                file.seek(0)
                job = self.run_job(ACTOR, "at=1", "slowly", "at=any", "swallow", ranks=4, text=False,
                                   options=["--stdin", "all"],
                                   **({"stdin": file} if by_file else {"data": data}))
            self.assertEqual(job.stdout.decode().count("3000000 bytes"), 4, job.stdout)

    def test_none(self):
        job = self.run_job(ACTOR, "swallow", ranks=2, data="unseen", options=["--stdin", "none"])
        self.assertEqual(job.stdout, "0 bytes\n0 bytes\n")

    def test_rank_that_does_not_read(self):
        job = self.run_job("true", ranks=2, data=noise(5_000_000), text=False)
        self.assertEqual((job.returncode, job.stderr), (0, b""))

    def test_all_ranks_of_which_one_leaves_early(self):
        job = self.run_job(ACTOR, "at=1", "exit=0", "at=any", "swallow", ranks=3,
                           data=noise(2_000_000), text=False, options=["--stdin", "all"])
        self.assertEqual(job.stdout, b"2000000 bytes\n2000000 bytes\n")

    def test_terminal(self):
        main_end, terminal = pty.openpty()
        self.addCleanup(os.close, main_end)
        process = self.start_job(ACTOR, "at=0", "copy", ranks=2, stdin=terminal,
                                 start_new_session=True,
                                 preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(terminal)
        os.write(main_end, b"typed\n\x04")
        self.assertEqual(process.stdout.readline(), b"typed\n")
        self.assertEqual(process.wait(10), 0)

    def test_terminal_of_another_session(self):
        for ranks in (1, 2):
            main_end, terminal = pty.openpty()
            self.addCleanup(os.close, main_end)
            process = self.start_job(ACTOR, "at=0", "copy", ranks=ranks, stdin=terminal,
                                     start_new_session=True)
            os.close(terminal)
            os.write(main_end, b"typed\n\x04")
            self.assertEqual(process.stdout.readline(), b"typed\n")
            self.assertEqual(process.wait(10), 0)


class Output(LaunchCase):
    def test_lines_stay_whole(self):
        job = self.run_job(ACTOR, "lines=2000", ranks=8)
        lines = job.stdout.splitlines()
        self.assertEqual(len(lines), 16000)
        for line in lines:
            self.assertRegex(line, r"\Aline \d+ of rank \d\Z")
        for rank in range(8):
            mine = [line for line in lines if line.endswith("rank %d" % rank)]
            self.assertEqual(mine, ["line %d of rank %d" % (i, rank) for i in range(2000)])

    def test_tags(self):
        job = self.run_job(ACTOR, "lines=500", "text=no end", ranks=4, options=["--tag-output"])
        for line in job.stdout.splitlines():
            found = re.match(r"\A\[rank (\d)\] (?:line \d+ of rank (\d)|no end)\Z", line)
            self.assertTrue(found, line)
            self.assertIn(found.group(2), (None, found.group(1)))
        self.assertEqual(job.stdout.count("no end"), 4)

    def test_lines_of_both_streams_stay_whole_in_one_pipe(self):
        rows = ("import sys, os\nfor i in range(8000):\n"
                "  for out in (sys.stdout, sys.stderr): out.write('row %d of ' % i + 'x' * 40 + '\\n')\n")
        for options in ([], ["--tag-output"]):
            job = subprocess.run(
                ["bash", "-c", '"$@" 2>&1 | cat; exit "${PIPESTATUS[0]}"', "bash",
                 *command("python3", "-u", "-c", rows, ranks=2, options=options)],
                check=False, timeout=TIME_LIMIT_S, stdout=subprocess.PIPE, text=True,
                env=environment(self.mark))
            lines = job.stdout.splitlines()
            self.assertEqual((job.returncode, len(lines)), (0, 32000))
            for line in lines:
                self.assertRegex(line, r"\A(\[rank [01]\] )?row \d+ of x{40}\Z")

    def test_timestamps(self):
        job = self.run_job(ACTOR, "say=x", "say=y", ranks=2,
                           options=["--timestamp-output", "--tag-output"])
        for line in job.stdout.splitlines():
            self.assertRegex(line, r"\A\d\d:\d\d:\d\d\.\d{3} \[rank [01]\] [xy]\Z")

    def test_standard_error_too(self):
        job = self.run_job("sh", "-c", "echo problem >&2", ranks=2, options=["--tag-output"])
        self.assertEqual(sorted(job.stderr.splitlines()),
                         ["[rank 0] problem", "[rank 1] problem"])

    def test_very_long_lines(self):
        job = self.run_job(ACTOR, "long=3000000", "lines=10", ranks=4)
        lines = job.stdout.splitlines()
        self.assertEqual(sorted(len(line) for line in lines if len(line) > 100), [3000000] * 4)
        for line in lines:
            if len(line) > 100:
                self.assertEqual(line, line[0] * 3000000)
        self.assertEqual(len(lines), 4 + 40)

    def test_a_prompt_is_seen_before_its_line_ends(self):
        process = self.start_job(ACTOR, "at=1", "text=name? ", "wait", "at=0", "wait", ranks=2)
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"name? ")
        process.terminate()

    def test_bytes_are_not_changed(self):
        data = noise(1_000_000)
        for ranks in (1, 2):
            job = self.run_job(ACTOR, "at=0", "copy", ranks=ranks, data=data, text=False)
            self.assertTrue(job.stdout == data, "the bytes differ")

    def test_slow_reader_holds_the_ranks_back(self):
        def memory_kb(of):
            with open("/proc/%d/status" % of.pid, encoding="ascii") as file:
                return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
        quiet = self.start_job(ACTOR, "wait", ranks=4)
        self.wait_for_ranks(quiet, 4)
        quiet_kb = memory_kb(quiet)
        quiet.kill()
        process = self.start_job(ACTOR, "flood", ranks=4)
        self.wait_for_ranks(process, 4)

        # Nobody reads: ranks must come to rest, and the launcher must not gather what they write.
        def cpu_ticks():
            with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

        def at_rest():
            before = cpu_ticks()
            time.sleep(0.2)  # tidy: sleep: that nothing happens can only be seen over a time
            return cpu_ticks() == before
        self.assertTrue(wait_until(at_rest))
        self.assertLess(memory_kb(process), quiet_kb + 16 * 1024)
        process.stdout.read(5_000_000)
        process.kill()

    def test_reader_that_leaves(self):
        for ranks in (1, 3):
            job = subprocess.run(
                ["bash", "-c", '"$@" | head -1; exit "${PIPESTATUS[0]}"', "bash",
                 *command(ACTOR, "flood", ranks=ranks)],
                check=False, timeout=TIME_LIMIT_S, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment(self.mark), restore_signals=True)
            self.assertRegex(job.stdout, rb"\Aline \d+ of rank \d\n\Z")
            self.assertEqual((job.returncode, job.stderr), (128 + 13, b""))

    def test_full_disk(self):
        for lines in (1, 100_000):
            for stream in ("stdout", "stderr"):
                with open("/dev/full", "wb") as full:
                    job = subprocess.run(
                        command("sh", "-c", "seq %d >&%d" % (lines, 1 if stream == "stdout" else 2),
                                ranks=2),
                        check=False, timeout=TIME_LIMIT_S, env=environment(self.mark), text=True,
                        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full})
                self.assertEqual(job.returncode, 1)
                if stream == "stdout":
                    self.assertRegex(job.stderr, r"\Ampiexec: cannot write standard output: No space "
                                                 r"left on device(; the job was ended)?\n\Z")
                else:
                    self.assertEqual(job.stdout, "")

    def test_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "logs")
            for options, pattern in (([], "line 0 of rank {0}\n"),
                                     (["--tag-output"], "[rank {0}] line 0 of rank {0}\n")):
                job = self.run_job(ACTOR, "lines=1", ranks=3,
                                   options=["--output", target, *options])
                self.assertEqual((job.returncode, job.stdout), (0, ""))
                for rank in range(3):
                    with open("%s/rank.%d.out" % (target, rank), encoding="ascii") as file:
                        self.assertEqual(file.read(), pattern.format(rank))
                    self.assertEqual(os.path.getsize("%s/rank.%d.err" % (target, rank)), 0)

    def test_directory_on_a_full_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink("/dev/full", os.path.join(folder, "rank.1.out"))
            for options in ([], ["--tag-output"]):
                job = self.run_job(ACTOR, "lines=1", ranks=2, options=["--output", folder, *options])
                self.assertEqual((job.returncode, job.stdout), (1, ""))
                self.assertRegex(job.stderr, r"\Ampiexec: cannot write %s/rank\.1\.out: No space left "
                                             r"on device(; the job was ended)?\n\Z" % folder)

    def test_output_directory_that_cannot_be_made(self):
        job = self.run_job("true", ranks=2, options=["--output", "/proc/nosuch/logs"])
        self.assertEqual(job.returncode, 1)
        self.assertIn("/proc/nosuch/logs", job.stderr)


if __name__ == "__main__":
    main()
