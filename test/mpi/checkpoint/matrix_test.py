#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the matrix: 17 functions x plain, continued and restarted x numbers of ranks x patterns.
Method: matrix.c uses each function until it is told to go to the next. Meanwhile the job is left alone, or saved by the
        engine that saves nothing and goes on, or saved by criu, ended and restarted.

usage: matrix_test.py [whole]       whole: every pattern with 1, 2, 3, 8 and 16 ranks
"""

import os
import shutil
import subprocess
import sys
import unittest

MPIEXEC = os.path.abspath("launcher/mpiexec")
PROGRAM = os.path.abspath("test/mpi/checkpoint/matrix")
CRIU = os.environ.get("TEST_CRIU", "criu")
SCRATCH = os.environ["TEST_TMPDIR"]
LAMINA = os.path.join(SCRATCH, "lamina")
TIME_LIMIT_S = 300
PATTERNS = ("ring", "pairwise", "all", "asleep")
FEW = ((1, "ring"), (2, "pairwise"), (3, "all"), (4, "asleep"))
WHOLE = tuple((ranks, pattern) for ranks in (1, 2, 3, 8, 16) for pattern in PATTERNS)


def setUpModule():
    os.symlink(MPIEXEC, LAMINA)


class Matrix(unittest.TestCase):
    def setUp(self):
        self.cells = WHOLE if sys.argv[1:2] == ["whole"] else FEW
        self.process = None

    def tearDown(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def start(self, *words):
        with open(os.path.join(SCRATCH, "out"), "a", encoding="ascii") as out, \
                open(os.path.join(SCRATCH, "err"), "a", encoding="ascii") as err:
            self.process = subprocess.Popen(words, cwd=SCRATCH, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    @staticmethod
    def read(name):
        with open(os.path.join(SCRATCH, name), encoding="ascii") as file:
            return file.read()

    def save(self, *words):
        return subprocess.run([LAMINA, "checkpoint", *words, str(self.process.pid)], check=False, capture_output=True,
                              text=True, timeout=TIME_LIMIT_S)

    def function(self, number):
        """Waits until the job is in its function of that number, and returns its name."""
        while True:
            lines = self.read("out").splitlines()
            if len(lines) > number:
                return lines[number]
            self.assertIsNone(self.process.poll(), self.read("err"))

    def run_cell(self, ranks, pattern, engine, disturb):
        for name in ("D", "F"):
            shutil.rmtree(os.path.join(SCRATCH, name), ignore_errors=True)
        for name in ("out", "err"):
            if os.path.exists(os.path.join(SCRATCH, name)):
                os.unlink(os.path.join(SCRATCH, name))
        os.mkdir(os.path.join(SCRATCH, "F"))
        self.start(MPIEXEC, "-n", str(ranks), "--oversubscribe", "--checkpoint", "--checkpoint-dir", "D", "--param",
                   "checkpoint.engine.use=" + engine, "--param", "checkpoint.criu.program=" + CRIU, PROGRAM,
                   os.path.join(SCRATCH, "F"), pattern)
        for number in range(17):
            name = self.function(number)
            disturb(number)
            with open(os.path.join(SCRATCH, "F", name), "w", encoding="ascii"):
                pass
        self.assertEqual(self.process.wait(timeout=TIME_LIMIT_S), 0, self.read("err"))
        self.assertEqual(self.read("out").splitlines()[17:], ["done"])

    def test_plain(self):
        for ranks, pattern in self.cells:
            with self.subTest(ranks=ranks, pattern=pattern):
                self.run_cell(ranks, pattern, "pretend", lambda number: None)

    def test_continued(self):
        def disturb(_):
            saved = self.save()
            self.assertEqual(saved.returncode, 0, saved.stderr)

        for ranks, pattern in self.cells:
            with self.subTest(ranks=ranks, pattern=pattern):
                self.run_cell(ranks, pattern, "pretend", disturb)

    @unittest.skipIf(shutil.which(CRIU) is None, "skipped: there is no program " + CRIU)
    def test_restarted(self):
        every = 1 if self.cells is WHOLE else 4  # a restart takes a second

        def disturb(number):
            if number % every != 0:
                return
            saved = self.save("--end")
            if saved.returncode != 0 and number == 0:
                raise unittest.SkipTest("skipped: " + saved.stderr + self.read("err"))
            self.assertEqual(saved.returncode, 0, saved.stderr)
            self.assertEqual(self.process.wait(timeout=TIME_LIMIT_S), 85, self.read("err"))
            self.start(LAMINA, "restart", "D")

        for ranks, pattern in self.cells:
            with self.subTest(ranks=ranks, pattern=pattern):
                self.run_cell(ranks, pattern, "criu", disturb)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
