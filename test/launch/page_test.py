#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   the page of `mpiexec --profile` shows in a browser what was planted in the job, whatever the
        number of ranks and hosts and however the job ends, and nothing that the program says becomes
        part of the page.
Method: Chromium without a window opens the file and hands back what it has made of it; the tables in
        that are compared with what was planted and with the JSON file. 64 ranks with the argument
        `many`. Skipped where there is no Chromium that opens an empty page.
"""

import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from profiled_job import PROFILED, ProfiledCase

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
MANY = "many" in sys.argv[1:]
BROWSER_LIMIT_S = 120


class Page(html.parser.HTMLParser):
    """The tables of a page by their ids, as lists of rows of texts, and its data."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.data, self.tags = {}, "", set()
        self._rows = self._cell = None
        self._in_data = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.add(tag)
        if tag == "table":
            self._rows = self.tables[attributes.get("id")] = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
            self._cell = self._rows[-1]
        elif tag == "script":
            self._in_data = attributes.get("id") == "data"

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None
        self._in_data = False

    def handle_data(self, data):
        if self._in_data:
            self.data += data
        elif self._cell is not None:
            self._cell[-1] += data

    def rows(self, table):
        """The rows of a table, each a dictionary by the titles of the columns."""
        head, *rows = self.tables[table]
        return [dict(zip(head, row)) for row in rows]


def browse(address, folder):
    """What the browser makes of a page. It is started again if it ends badly, which is not ours."""
    for attempt in range(3):
        # Root needs --no-sandbox, and a container may have a small /dev/shm.
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking",
             "--user-data-dir=%s/browser%d" % (folder, attempt), "--dump-dom", address],
            check=False, capture_output=True, text=True, timeout=BROWSER_LIMIT_S, stdin=subprocess.DEVNULL)
        if done.returncode == 0 and done.stdout:
            break
    return done


@unittest.skipUnless(BROWSER, "there is no chromium (third_party/install test)")
class Pages(ProfiledCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory() as folder:
            blank = browse("about:blank", folder)
        if blank.returncode != 0:
            raise unittest.SkipTest("chromium does not work here: " + blank.stderr[-500:])

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
        for what, options, status in (("killed", [], 137), ("stuck", ["--timeout", "1"], 124)):
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
