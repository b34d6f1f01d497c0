#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `lamina top` shows what the ranks of a running job do and use, in a terminal of any size and to scripts,
        on one host and on two, obeys its keys, ends with the job and gives the terminal back.
Method: a job that does the same all the time. Numbers are asked for until they are what the job does. Terminals
        are pseudo terminals whose other end is read here. Two hosts are made of this machine by an agent.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from harness import LaunchCase, MPIEXEC, ROOT, environment, wait_until

BUSY = os.path.join(ROOT, "test/launch/busy")
LAMINA = os.path.join(os.environ["TEST_TMPDIR"], "lamina")
AGENT = os.path.join(os.environ["TEST_TMPDIR"], "agent")
HEAD = ["RANK", "HOST", "PID", "S", "CPU%", "MEMORY", "MSG/s", "SENT/s", "RECV/s", "UNEXP", "FOR", "DOES"]


def setUpModule():
    if not os.path.lexists(LAMINA):
        os.symlink(MPIEXEC, LAMINA)
    with open(AGENT, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nshift\nexec "$@"\n')
    os.chmod(AGENT, 0o755)


class Screen:
    """What a terminal shows: just enough of one for the sequences that the program uses."""

    def __init__(self):
        self.lines = [""]
        self.row = 0
        self.column = 0
        self.other_page = False

    def feed(self, text):
        for token in re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", text):
            if token == "\x1b[H":
                self.row = self.column = 0
            elif token == "\x1b[K":
                self.lines[self.row] = self.lines[self.row][:self.column]
            elif token == "\x1b[?1049h":
                self.other_page, self.lines, self.row, self.column = True, [""], 0, 0
            elif token == "\x1b[?1049l":
                self.other_page = False
            elif token == "\r":
                self.column = 0
            elif token == "\n":
                self.row += 1
                while self.row >= len(self.lines):
                    self.lines.append("")
            elif not token.startswith("\x1b"):
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[:self.column] + token + line[self.column + len(token):]
                self.column += len(token)


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, words, rows, columns, env):
        self.end, other_end = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(other_end)
        self.other_end = other_end
        # The program has the terminal as its controlling one, so keys become signals.
        self.process = subprocess.Popen(words, stdin=other_end, stdout=other_end, stderr=other_end, env=env,
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.screen = Screen()

    def resize(self, rows, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.end, keys.encode())

    def read(self):
        while select.select([self.end], [], [], 0.02)[0]:
            try:
                self.screen.feed(os.read(self.end, 65536).decode(errors="replace"))
            except OSError:
                return

    def until(self, truth, seconds=30):
        """Reads until truth(lines of the screen) is true; returns its last value."""
        end = time.monotonic() + seconds
        value = None
        while not value and time.monotonic() < end:
            self.read()
            value = truth(self.screen.lines)
        return value

    def end_status(self):
        """Reads until the program has ended; returns its exit status."""
        self.until(lambda _: self.process.poll() is not None)
        self.read()
        return self.process.wait(timeout=1)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.end)
        os.close(self.other_end)


class Top(LaunchCase):

    def lamina(self, *words):
        return subprocess.run([LAMINA, *words], check=False, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=environment(self.mark))

    def start(self, ranks=4, options=()):
        job = self.start_job(BUSY, ranks=ranks, options=options, stdin=subprocess.PIPE)
        self.assertEqual(self.read_lines(job, ranks), ["here"] * ranks)
        return job

    def end(self, job):
        job.stdin.close()
        self.assertEqual(job.wait(timeout=30), 0)

    def terminal(self, job, rows, columns, *words):
        terminal = Terminal([LAMINA, "top", "--interval", "0.2", *words, str(job.pid)], rows, columns,
                            environment(self.mark, {"TERM": "xterm"}))
        self.addCleanup(terminal.close)
        return terminal

    def look_until(self, job, truth):
        """Looks at the job until truth(its ranks) is true."""
        seen = {}

        def is_true():
            answer = self.lamina("top", "--once", "--json", "--interval", "0.2", str(job.pid))
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            seen.update(json.loads(answer.stdout))
            return truth(seen["ranks"])

        self.assertTrue(wait_until(is_true, 30), json.dumps(seen, indent=1))
        return seen

    def is_what_the_job_does(self, ranks):
        if len(ranks) != 4 or any(rank["messages_per_s"] is None for rank in ranks):
            return False
        first, second, third, fourth = ranks
        # The rates of one look are those of the same time, so they agree with each other.
        return (all(rank["sent_bytes_per_s"] > 0 and rank["received_bytes_per_s"] > 0 for rank in (first, second)) and
                abs(first["sent_bytes_per_s"] * 2 / 4096 / first["messages_per_s"] - 1) < 0.2 and
                third["messages_per_s"] == 0 and fourth["messages_per_s"] == 0 and third["cpu_percent"] > 0 and
                fourth["cpu_percent"] < 50 and third["memory_bytes"] > 1 << 20 and
                fourth["does"] == "waits in MPI_Recv for a message from rank 0 with tag 6" and
                fourth["waits_ms"] > 0)

    def check_numbers(self, options):
        job = self.start(options=options)
        seen = self.look_until(job, self.is_what_the_job_does)
        self.assertEqual((seen["mpiexec"], seen["running"]), (job.pid, 4))
        self.assertIn("busy", seen["command"])
        self.end(job)
        return seen

    def test_numbers_on_one_host(self):
        job = self.start()
        seen = self.look_until(job, self.is_what_the_job_does)
        processes = self.wait_for_ranks(job, 4)
        self.assertEqual({rank["rank"]: rank["process"] for rank in seen["ranks"]}, processes)
        self.end(job)

    def test_numbers_on_two_hosts(self):
        seen = self.check_numbers(["--agent", AGENT + " {host}", "-H", "one:2,two:2"])
        self.assertEqual([rank["host"] for rank in seen["ranks"]], ["one", "one", "two", "two"])

    def test_numbers_in_a_tree_of_hosts(self):
        self.check_numbers(["--agent", AGENT + " {host}", "-H", "one:1,two:1,three:1,four:1", "--param",
                            "spawner.exec.onward=yes", "--param", "launcher.shepherd.width=2"])

    def test_the_program_may_be_a_grandchild(self):
        job = self.start_job("sh", "-c", BUSY + "; true", ranks=4, stdin=subprocess.PIPE)
        self.assertEqual(self.read_lines(job, 4), ["here"] * 4)
        self.look_until(job, self.is_what_the_job_does)
        self.end(job)

    def test_a_program_without_mpi(self):
        job = self.start_job("sh", "-c", "echo here; read line", stdin=subprocess.PIPE)
        self.assertEqual(self.read_lines(job, 1), ["here"])
        seen = self.look_until(job, lambda ranks: len(ranks) == 1 and ranks[0]["cpu_percent"] is not None)
        rank = seen["ranks"][0]
        self.assertIsNone(rank["messages_per_s"])
        self.assertGreater(rank["memory_bytes"], 0)
        job.stdin.close()
        job.wait(timeout=30)

    def test_scripts_get_tables_until_the_job_ends(self):
        job = self.start()
        top = subprocess.Popen([LAMINA, "top", "--interval", "0.1", str(job.pid)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(self.mark))
        self.started.append(top)
        lines = [top.stdout.readline() for _ in range(13)]  # two tables
        self.assertEqual([lines[1].split(), lines[8].split()], [HEAD, HEAD])
        self.assertRegex(lines[0], r"^mpiexec %d: 4 of 4 ranks running on 1 host, since [\d.]+ s: .*busy$" % job.pid)
        self.assertEqual([line.split()[0] for line in lines[2:6] + lines[9:13]], ["0", "1", "2", "3"] * 2)
        self.end(job)
        _, errors = top.communicate(timeout=30)
        self.assertEqual((top.returncode, errors), (0, ""))

    def test_once(self):
        job = self.start()
        result = self.lamina("top", "--once", "--interval", "0.1", str(job.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(result.stdout.splitlines()), 6)
        self.assertEqual(result.stdout.splitlines()[1].split(), HEAD)
        self.end(job)

    def test_keys(self):
        job = self.start()
        terminal = self.terminal(job, 10, 200)
        ranks = lambda lines: [line.split()[0] for line in lines[2:6] if line.strip()]
        self.assertTrue(terminal.until(lambda lines: ranks(lines) == ["0", "1", "2", "3"]), terminal.screen.lines)
        self.assertTrue(terminal.screen.other_page)
        self.assertEqual(terminal.screen.lines[1].split(), HEAD)
        self.assertRegex(terminal.screen.lines[9], r"^q quit  s sort: RANK .* 1-4 of 4$")
        terminal.press("r")
        self.assertTrue(terminal.until(lambda lines: ranks(lines) == ["3", "2", "1", "0"]), terminal.screen.lines)
        terminal.press("r\x1b[C")
        self.assertTrue(terminal.until(lambda lines: "sort: HOST" in lines[9]), terminal.screen.lines)
        terminal.press("\x1b[D\x1b[D")
        self.assertTrue(terminal.until(lambda lines: "sort: DOES" in lines[9]), terminal.screen.lines)
        terminal.press("s")
        self.assertTrue(terminal.until(lambda lines: "sort: RANK" in lines[9]), terminal.screen.lines)
        terminal.resize(6, 200)
        self.assertTrue(terminal.until(lambda lines: lines[5].endswith("1-3 of 4")), terminal.screen.lines)
        terminal.press("\x1b[B")
        self.assertTrue(terminal.until(lambda lines: lines[5].endswith("2-4 of 4")), terminal.screen.lines)
        terminal.press("\x1b[B\x1b[6~\x1b[5~\x1b[A")
        self.assertTrue(terminal.until(lambda lines: lines[5].endswith("1-3 of 4")), terminal.screen.lines)
        terminal.press("\x1b[F")
        self.assertTrue(terminal.until(lambda lines: lines[5].endswith("2-4 of 4")), terminal.screen.lines)
        terminal.press("q")
        self.assertEqual(terminal.end_status(), 0)
        self.assertFalse(terminal.screen.other_page)
        self.assertEqual(termios.tcgetattr(terminal.other_end), terminal.before)
        self.assertIsNone(job.poll())
        self.end(job)

    def test_windows_of_any_size(self):
        job = self.start()
        for rows, columns in ((1, 1), (2, 10), (3, 40), (4, 80), (60, 300), (0, 0)):
            with self.subTest(rows=rows, columns=columns):
                terminal = self.terminal(job, rows, columns)
                shown = (rows or 24, columns or 80)
                self.assertTrue(terminal.until(lambda lines: terminal.screen.other_page and len(lines) == shown[0]),
                                terminal.screen.lines)
                self.assertLessEqual(max(map(len, terminal.screen.lines)), shown[1])
                terminal.press("q")
                self.assertEqual(terminal.end_status(), 0)
        self.end(job)

    def test_ends_with_the_job(self):
        job = self.start()
        terminal = self.terminal(job, 10, 200)
        self.assertTrue(terminal.until(lambda lines: terminal.screen.other_page and len(lines) == 10))
        self.end(job)
        self.assertEqual(terminal.end_status(), 0)
        self.assertFalse(terminal.screen.other_page)
        self.assertIn("the job of mpiexec %d has ended" % job.pid, "".join(terminal.screen.lines))

    def test_ctrl_c_gives_the_terminal_back(self):
        job = self.start()
        terminal = self.terminal(job, 10, 200)
        self.assertTrue(terminal.until(lambda lines: terminal.screen.other_page and len(lines) == 10))
        terminal.press("\x03")
        self.assertEqual(terminal.end_status(), -signal.SIGINT)
        self.assertFalse(terminal.screen.other_page)
        self.assertEqual(termios.tcgetattr(terminal.other_end), terminal.before)
        self.end(job)

    def test_mistakes(self):
        none = self.lamina("top", "1")
        self.assertEqual((none.returncode, none.stderr), (2, "lamina top: no mpiexec runs here as process 1\n"))
        for words in (["--loudly"], ["--interval"], ["--interval", "0"], ["--interval", "nan"], ["1", "2"]):
            self.assertEqual(self.lamina("top", *words).returncode, 2, words)
        self.assertTrue(self.lamina("top", "--help").stdout.startswith("usage: lamina top "))


if __name__ == "__main__":
    unittest.main()
