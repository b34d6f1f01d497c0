#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the page of `mpiexec --profile` shows in a browser what was planted in the job, whatever the
        number of ranks and hosts and however the job ends, and nothing that the program says becomes
        part of the page.
Method: Chromium without a window opens the file and hands back what it has made of it; the tables in
        that are compared with what was planted and with the JSON file. 64 ranks with the argument
        `many`. Skipped where there is no Chromium that opens an empty page.
"""

import json
import os
import re
import sys
import tempfile
import unittest

from harness import ROOT
from page import Page, browse, why_not
from profiled_job import PROFILED, ProfiledCase

HEAT2D = os.path.join(ROOT, "test/apps/heat2d/heat2d")
MANY = "many" in sys.argv[1:]

class Pages(ProfiledCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory() as folder:
            missing = why_not(folder)
        if missing:
            raise unittest.SkipTest(missing)

    def open_page(self, *arguments, **more):
        """Runs a job; returns what the browser makes of its page, and the numbers of the file."""
        profile = self.profile(*arguments, **more)
        done = browse("file://" + os.path.join(self.folder, "a.html"), self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(done.stdout)
        self.assertEqual(json.loads(page.data), profile)
        self.assertEqual(page.tags & {"img", "link", "iframe", "object"}, set())
        self.assertEqual(len(page.rows("ranks")), len(profile["ranks"]))
        self.assertEqual(len(page.tables["sites"]) - 1, len(profile["sites"]))
        self.assertEqual(len(page.tables["collectives"]) - 1, len(profile["collectives"]))
        return page, profile

    def check(self, ranks, options=()):
        """Looks for the late sender, the imbalance and the ring, which one job has."""
        page, profile = self.open_page(PROFILED, "all", ranks=ranks, options=options)
        waiting = {row["waiting for a"]: row for row in page.rows("waiting")}
        functions = {row["function"]: row for row in page.rows("functions")}
        # A ring of a message a step to the next rank, and what rank 0 and rank 1 say to each other.
        planted = {(rank, (rank + 1) % ranks): (10, 10000) for rank in range(ranks)}
        if ranks > 1:
            late = waiting["late sender"]
            self.assertGreater(float(late["s"]), 0.2)
            if not MANY:  # many ranks take turns on the processors, and wait for each other in the ring
                self.assertTrue(late["most of it in"].startswith("MPI_Recv at "), late)
                self.assertEqual(late["rank that waits longest"], "1")
            receive = functions["MPI_Recv"]
            self.assertEqual((receive["calls"], receive["bytes received"]), ("3", "8"))
            self.assertGreater(float(receive["s"]), 0.2)
            waits = waiting["imbalance at collectives"]
            self.assertGreater(float(waits["s"]), 0.1)
            self.assertTrue(waits["most of it in"].startswith("MPI_Barrier at "), waits)
            for pair, (messages, size) in (((0, 1), (2, 8)), ((1, 0), (1, 0))):
                before = planted.get(pair, (0, 0))
                planted[pair] = (before[0] + messages, before[1] + size)
        self.assertEqual(self.sent(profile), planted)
        computed = [float(row["computing, s"]) for row in page.rows("ranks")]
        for rank, seconds in enumerate(computed):
            late_s = 0.4 if rank == 0 and ranks > 1 else 0
            self.assertGreater(seconds, late_s + (0.599 if rank == 1 else 0.299))
        self.assertAlmostEqual(profile["balance"]["load"], sum(computed) / len(computed) / max(computed), 2)
        barrier = next(row for row in page.rows("collectives") if row["function"] == "MPI_Barrier")
        self.assertEqual((barrier["communicator"], barrier["ranks"], barrier["calls"]),
                         ("MPI_COMM_WORLD", str(ranks), str(3 * ranks)))
        rows = page.tables["matrix"][1:]
        self.assertEqual([len(row) for row in rows], [ranks + 1] * ranks)
        for (sender, receiver), (_, size) in planted.items():
            if 2 < ranks <= 16 and size == 10000:
                self.assertRegex(rows[sender][receiver + 1], r"^9\.[789].* KiB$")
        size = next(row for row in page.rows("sizes") if row["size"] == "from 512 B")
        self.assertGreaterEqual(int(size["eager"]) + int(size["rendezvous"]), 10 * ranks)
        sites = [row for row in page.rows("sites") if row["function"] == "MPI_Sendrecv"]
        self.assertEqual(sum(int(row["calls"]) for row in sites), 10 * ranks)

    def heat2d(self, ranks, options=()):
        """heat2d tells its size and grid; what it calls and sends follows from these."""
        steps = 40
        page, profile = self.open_page(HEAT2D, "--steps", steps, "--output", os.path.join(self.folder, "heat2d"),
                                       ranks=ranks, options=options)
        calls = {row["function"]: int(row["calls"]) for row in page.rows("functions")}
        # Each step has two calls for each side, and asks for the largest change; the heat before and after and
        # the checksum are sums, too.
        for function, each in (("MPI_Isend", 4 * steps), ("MPI_Irecv", 4 * steps), ("MPI_Waitall", steps),
                               ("MPI_Allreduce", steps + 3), ("MPI_Bcast", 4), ("MPI_Scatterv", 1),
                               ("MPI_Gatherv", 1), ("MPI_Finalize", 1)):
            self.assertEqual(calls[function], each * ranks, function)
            for rank in range(ranks):
                self.assertEqual(self.counts(profile, rank, function)["calls"], each, function)
        width, height, columns, rows = map(int, re.search(
            r"^heat2d: (\d+) x (\d+) cells of .* as (\d+) x (\d+) blocks$", self.output, re.M).groups())

        def side(cells, blocks, index):
            return cells * (index + 1) // blocks - cells * index // blocks

        sent = {}
        for rank in range(ranks):
            row, column = divmod(rank, columns)
            for across, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= column + across < columns and 0 <= row + down < rows:
                    cells = side(height, rows, row) if across else side(width, columns, column)
                    sent[rank, rank + across + down * columns] = (steps, steps * cells * 8)
        self.assertEqual(self.sent(profile), sent)
        numbers = page.tables["matrix"][1:]
        self.assertEqual([len(row) for row in numbers], [ranks + 1] * ranks)
        change = next(row for row in page.rows("collectives") if row["function"] == "MPI_Allreduce")
        self.assertEqual((change["communicator"], change["ranks"], change["calls"]),
                         ("MPI_COMM_WORLD", str(ranks), str((steps + 3) * ranks)))

    @unittest.skipIf(MANY, "few ranks")
    def test_heat2d(self):
        for ranks in (1, 4):
            with self.subTest(ranks):
                self.heat2d(ranks)

    @unittest.skipIf(MANY, "few ranks")
    def test_heat2d_on_two_hosts(self):
        self.heat2d(4, [*self.two_hosts(), "-H", "one:2,two:2"])

    @unittest.skipUnless(MANY, "many ranks")
    def test_heat2d_on_many_ranks(self):
        self.heat2d(64)

    @unittest.skipIf(MANY, "few ranks")
    def test_one_rank(self):
        self.check(1)

    @unittest.skipIf(MANY, "few ranks")
    def test_four_ranks(self):
        self.check(4)

    @unittest.skipIf(MANY, "few ranks")
    def test_two_hosts(self):
        self.check(4, [*self.two_hosts(), "-H", "one:2,two:2"])

    @unittest.skipUnless(MANY, "many ranks")
    def test_many_ranks(self):
        self.check(64)

    @unittest.skipIf(MANY, "few ranks")
    def test_jobs_that_end_badly(self):
        for what, options, status in (("killed", [], 137), ("stuck", ["--timeout", "3"], 124)):
            with self.subTest(what):
                page, profile = self.open_page(PROFILED, what, ranks=2, options=options, status=status)
                summary = {row[0]: row[1] for row in page.tables["summary"][1:]}
                self.assertEqual(summary["end"], profile["end"])
                self.assertIn(str(status), profile["end"])
                if what == "stuck":
                    self.assertIn("ended in MPI_Recv", page.rows("ranks")[0][""])

    @unittest.skipIf(MANY, "few ranks")
    def test_what_the_program_says_is_text(self):
        program = os.path.join(self.folder, "<img src=x>&\"'")
        os.symlink(PROFILED, program)
        page, profile = self.open_page(program, "regions", "</script><img src=y>", ranks=2)
        self.assertEqual({row["region"] for row in page.rows("regions")}, {"<outer>", "inner", "not ended"})
        self.assertIn("</script><img src=y>", profile["command"])
        self.assertIn("<img src=x>", profile["command"])
        summary = {row[0]: row[1] for row in page.tables["summary"][1:]}
        self.assertEqual(summary["command"], profile["command"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
