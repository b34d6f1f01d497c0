#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the table tells the truth: ratios point the right way, what hung is no number. Tables that are
#         kept are as they were printed, and the README leads to the newest one.
# Method: invented samples with known answers; a command that hangs and one that fails; a report of
#         invented samples that is saved, and every table in results/.
import os
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import measuring  # noqa: E402
import report  # noqa: E402
from distance import by_distance  # noqa: E402
from measuring import Sample  # noqa: E402
from peers import Mpi  # noqa: E402
from places import RESULTS  # noqa: E402
from rows import Row, all_rows  # noqa: E402
from table import table, verdict_on  # noqa: E402

MPIS = [Mpi(name, [], [], [], []) for name in ("lamina", "openmpi", "mpich")]


def cells(row, samples, problems=None, floors={}, mpis=MPIS):
    _, lines = table([row], mpis, samples, problems or {m.name: {} for m in mpis}, floors)
    return lines[0]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def tables():
    """The kept tables, oldest first; results/ also has files of other programs."""
    paths = [os.path.join(RESULTS, name) for name in sorted(os.listdir(RESULTS))]
    return [path for path in paths if read(path).startswith("# Table of ")]


class TableTest(unittest.TestCase):
    def test_small_cost_is_good(self):
        row = Row("r", 2, "latency:8", "us", budget=0.7)
        line = cells(row, {"lamina": {"r": [1.0]}, "openmpi": {"r": [2.0]}, "mpich": {"r": [4.0]}})
        self.assertEqual(line[-3:], ["0.50", "0.70", "ok"])

    def test_small_rate_is_bad(self):
        row = Row("r", 2, "rate:8", "M/s", budget=0.7)
        line = cells(row, {"lamina": {"r": [1.0]}, "openmpi": {"r": [2.0]}, "mpich": {"r": [0.1]}})
        self.assertEqual(line[-3:], ["2.00", "0.70", "over"])

    def test_over_is_told_from_what_the_bare_machine_does_not_meet(self):
        row = Row("r", 8, "bcast:8", "us", budget=0.5, floor="tell:8")
        samples = {"lamina": {"r": [2.5]}, "openmpi": {"r": [4.0]}, "mpich": {"r": [9.0]}}
        for bare, verdict in ((2.1, "floor"), (1.9, "over")):
            self.assertEqual(cells(row, samples, floors={"tell:8": bare})[-1], verdict)
        self.assertEqual(cells(row, samples)[-1], "over")
        samples["lamina"]["r"] = [2.0]
        self.assertEqual(cells(row, samples, floors={"tell:8": 2.1})[-1], "ok")

    def test_a_peer_that_hung_is_no_peer(self):
        row = Row("r", 2, "latency:8", "us")
        problems = {"lamina": {}, "openmpi": {"r": "hung"}, "mpich": {}}
        line = cells(row, {"lamina": {"r": [3.0]}, "openmpi": {}, "mpich": {"r": [2.0]}}, problems)
        self.assertIn("hung", line)
        self.assertIn("1.50", line)

    def test_without_peers_there_is_no_ratio(self):
        line = cells(Row("r", 2, "barrier", "us", budget=0.5),
                        {"lamina": {"r": [3.0]}, "openmpi": {}, "mpich": {}})
        self.assertEqual(line[-3], "")
        self.assertEqual(line[-1], "")

    def test_a_limit_holds_without_regard_to_peers(self):
        row = Row("r", 2, "idle", "%", limit=1.0)
        for value, verdict in ((0.9, "ok"), (1.1, "over")):
            line = cells(row, {"lamina": {"r": [value]}, "openmpi": {"r": [0.1]}, "mpich": {}})
            self.assertEqual(line[-2:], ["1 %", verdict])

    def test_a_limit_may_follow_another_row_or_the_floor(self):
        row = Row("r", 2, "stencil:9", "us", limit=2.0, of="other")
        for other, verdict in ((1.0, "ok"), (0.9, "over")):
            line = cells(row, {"lamina": {"r": [2.0], "other": [other]}, "openmpi": {}, "mpich": {}})
            self.assertEqual(line[-2:], ["2 x other", verdict])
        faster = Row("r", 2, "threads:2", "M/s", limit=1.0, of="other")
        line = cells(faster, {"lamina": {"r": [2.0], "other": [3.0]}, "openmpi": {}, "mpich": {}})
        self.assertEqual(line[-1], "over")
        bare = Row("r", 2, "latency:8", "us", 0.7, "line", limit=1.5, of="floor")
        medians = {"lamina": {"r": 0.3}}
        self.assertEqual(verdict_on(bare, medians, 0.5, {"line": 0.2}),
                         ("0.60", "0.70, 1.5 x floor", "ok"))
        self.assertEqual(verdict_on(bare, medians, 0.5, {"line": 0.1})[2], "over")

    def test_a_row_is_shown_for_each_distance_where_that_changes(self):
        rows = [Row("r", 2, "latency:8", "us", 0.7, "line", limit=1.5, of="floor"),
                Row("s", 2, "rate:8", "M/s", limit=1.0, of="r"), Row("t", 4, "barrier", "us")]
        near, far = [(0.1, 0.1), (0.12, 0.1), (0.1, 0.1)], [(0.3, 0.3), (0.25, 0.3), (0.3, 0.31)]
        samples = {mpi: {row: [Sample(value + 10 * (lines in far), *lines)
                               for lines in near + far + [(0.1, 0.3)]]
                         for row, value in its.items()}
                   for mpi, its in {"lamina": {"r": 1, "s": 2}, "mpich": {"r": 2}}.items()}
        samples["lamina"]["t"] = [Sample(7.0)]
        samples["mpich"]["r"].pop(0)
        floors = {"line": 0.2}
        shown, kept, told, distances, left_out = by_distance(
            rows, samples, {"lamina": {}, "mpich": {"s": "hung"}}, floors)
        self.assertEqual([row.name for row in shown],
                         ["r, line 0.1", "r, line 0.3", "s, line 0.1", "s, line 0.3", "t"])
        self.assertEqual(kept, {"lamina": {"r, line 0.1": [1, 1, 1], "r, line 0.3": [11, 11, 11],
                                           "s, line 0.1": [2, 2, 2], "s, line 0.3": [12, 12, 12], "t": [7.0]},
                                "mpich": {"r, line 0.3": [12, 12, 12]}})
        self.assertEqual(told["mpich"], {"s": "hung", "r, line 0.1": "only 2", "s, line 0.1": "hung",
                                         "s, line 0.3": "hung", "t": "only 0"})
        self.assertEqual((distances, left_out), ([0.1, 0.3], 3))
        self.assertEqual(floors, {"line": 0.2, "line 0.1": 0.1, "line 0.3": 0.3})
        medians = {"lamina": {"r, line 0.1": 0.14, "r, line 0.3": 0.5}}
        self.assertEqual(verdict_on(shown[0], medians, None, floors), ("", "0.70, 1.5 x floor", "ok"))
        self.assertEqual(verdict_on(shown[1], medians, None, floors)[2], "over")
        self.assertEqual((shown[2].of, shown[3].of), ("r, line 0.1", "r, line 0.3"))

    def test_a_row_is_one_where_the_distance_does_not_change(self):
        rows = [Row("r", 2, "latency:8", "us", floor="line")]
        steady = [Sample(1.0, 0.1, 0.1 + 0.01 * (i % 7)) for i in range(20)]
        rare = [Sample(3.0, 0.3, 0.3)] * 2
        for usual, other, value in ((steady, rare, 1.0), (rare * 10, steady[:2], 3.0), (steady, [], 1.0)):
            shown, kept, _, distances, left_out = by_distance(
                rows, {"lamina": {"r": usual + other}}, {"lamina": {}}, {})
            self.assertEqual(shown, rows)
            self.assertEqual(kept, {"lamina": {"r": [value] * 20}})
            self.assertEqual((len(distances), left_out), (1, len(other)))
        unknown = {"lamina": {"r": [Sample(1.0), Sample(2.0)]}}
        self.assertEqual(by_distance(rows, unknown, {"lamina": {}}, {})[1], {"lamina": {"r": [1.0, 2.0]}})

    def test_the_median_counts_and_the_spread_shows(self):
        line = cells(Row("r", 2, "barrier", "us"),
                        {"lamina": {"r": [1.0, 2.0, 9.0]}, "openmpi": {}, "mpich": {}})
        self.assertIn("2 (200)", line)

    def test_a_row_is_slower_than_before_only_beyond_its_noise(self):
        mpis = [Mpi(name, [], [], [], []) for name in ("lamina", "before", "mpich")]
        cost, rate = Row("r", 2, "latency:8", "us", budget=0.7), Row("r", 2, "rate:8", "M/s", budget=0.7)
        quiet, noisy = [1.0, 1.0, 1.0, 1.0, 1.0, 9.0], [1.0, 1.5, 0.8, 0.6, 1.4, 1.0]
        for row, before, factor, told in (
                (cost, quiet, 1.1, "1.10 (0) slower"), (cost, quiet, 1.04, "1.04 (0)"),
                (cost, quiet, 0.9, "0.90 (0) faster"), (rate, quiet, 0.9, "1.11 (0) slower"),
                (cost, noisy, 1.1, "1.10 (53)"), (cost, quiet[:4], 1.1, "1.10"), (cost, [], 1.1, "")):
            line = cells(row, {"lamina": {"r": [factor * value for value in before or quiet]},
                               "before": {"r": before}, "mpich": {"r": [factor * 2.0]}}, mpis=mpis)
            self.assertEqual(line[-4], told)
            self.assertEqual(line[-3:], ["2.00", "0.70", "over"] if row.rate else ["0.50", "0.70", "ok"])

    def test_every_row_has_its_own_name(self):
        names = [row.name for row in all_rows()]
        self.assertEqual(len(names), len(set(names)))

    def test_rows_of_one_start_agree_in_what_they_need(self):
        alone = [row for row in all_rows() if row.way and row.ranks != 2]
        self.assertEqual(alone, [])
        ways = {row.way for row in all_rows()}
        self.assertEqual(ways, {"", "multiple", "tcp", "copied", "free", "beside", "queue", "hosts",
                                "shaped"})
        command = Mpi("m", [], ["run"], ["bound"], ["free"], {"tcp": ["by", "tcp"]}).command
        self.assertEqual(command(2, ["p"], "tcp"), ["run", "bound", "by", "tcp", "-n", "2", "p"])
        self.assertEqual(command(4, ["p"]), ["run", "free", "-n", "4", "p"])
        self.assertEqual({row.way for row in all_rows() if row.bound},
                         {"", "multiple", "tcp", "copied", "queue"})
        self.assertEqual([row.name for row in all_rows() if row.bound and row.ranks != 2], [])

    def test_a_command_that_hangs_is_ended(self):
        why, out = measuring.call(["sh", "-c", "echo begun; exec cat /dev/zero > /dev/null"], "/nowhere", 0.3)
        self.assertEqual((why, out), ("hung", "begun\n"))

    def test_a_row_that_hangs_or_fails_takes_no_other_with_it(self):
        program = """shift  # the seconds
            for word in "$@"; do
              case $word in hang:*) exec cat /dev/zero > /dev/null;; fail:*) echo bad >&2; exit 3;; esac
              echo "$word 7 0 0"
            done"""
        usual, measuring.MEASURE_SECONDS_MAX = measuring.MEASURE_SECONDS_MAX, 0.5
        self.addCleanup(setattr, measuring, "MEASURE_SECONDS_MAX", usual)
        mpi = Mpi("m", [], [], [], [])
        mpi.command = lambda ranks, words, way: ["sh", "-c", program] + words
        for asked, has, told in (
                ("hang:1 a fail:1 b hang:2", "a b", {"hang:1": "hung", "fail:1": "bad", "hang:2": "hung"}),
                ("memory fail:1 a", "memory a", {"fail:1": "bad"}),
                ("fail:1 fail:2 a", "", dict.fromkeys(("fail:1", "fail:2", "a"), "bad"))):
            values, problems = {}, {}
            rows = [Row(what, 4, what, "us") for what in asked.split()]
            measuring.measure_together(mpi, rows, 0.1, values, problems)
            self.assertEqual((" ".join(values), problems), (has, told))

    def test_a_command_that_fails_says_why(self):
        why, _ = measuring.call(["sh", "-c", "echo first >&2; echo last >&2; exit 3"], "/nowhere", 5)
        self.assertEqual(why, "last")


class ResultsTest(unittest.TestCase):
    def check(self, text):
        """A head that says whence, lines above the table, rows of one length, and a true count below."""
        head, raw, above, rows, below = [part.split("\n") for part in text.rstrip("\n").split("\n\n")]
        self.assertRegex(head[0], r"^# Table of 20\d\d-\d\d-\d\d, .+, \d+ processors, Linux \S+$")
        self.assertRegex(raw[0], r"^Raw output of `test/bench/run.*` at commit [0-9a-f]{7,}\S*\. It is never edited\.$")
        day, machine = head[0][len("# Table of "):].split(", ", 1)
        self.assertTrue(above[0].startswith("- %s; %s; load " % (day, machine)), above[0])
        self.assertRegex(above[1], r"^- floor, median \(least to most\): ")
        table_of = [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]
        self.assertEqual(table_of[0][:4], ["row", "unit", "floor", "lamina (+-%)"])
        self.assertEqual(table_of[0][-3:], ["cost / best peer", "budget", ""])
        self.assertEqual({len(line) for line in table_of}, {len(table_of[0])})
        names = [line[0] for line in table_of[2:]]
        self.assertEqual(len(names), len(set(names)))
        verdicts = [line[-1] for line in table_of[2:]]
        self.assertLessEqual(set(verdicts), {"", "ok", "over", "floor"})
        self.assertEqual(below[-1], "- %d rows, %d over budget, %d over one that the bare machine does not meet" %
                         (len(names), verdicts.count("over"), verdicts.count("floor")))

    def test_every_table_is_as_it_was_printed(self):
        self.assertGreater(len(tables()), 0)
        for path in tables():
            with self.subTest(os.path.basename(path)):
                self.check(read(path))
                day = re.match(r"# Table of (\S+),", read(path)).group(1)
                self.assertTrue(os.path.basename(path).startswith(day + "-"))

    def test_the_readme_leads_to_the_newest_tables(self):
        names = [os.path.basename(path) for path in tables()]
        day = names[-1][:len("2026-11-25")]
        linked = re.findall(r"\(results/([^)]*)\)", read(os.path.join(HERE, "README.md")))
        self.assertEqual([name for name in names if name.startswith(day) and name not in linked], [])
        self.assertEqual([name for name in linked if not os.path.exists(os.path.join(RESULTS, name))], [])

    def test_a_run_can_be_kept(self):
        found = measuring.Measured(MPIS)
        found.floors = [{"line": 0.1}, {"line": 0.3}]
        found.samples["lamina"]["r"] = [Sample(1.0)]
        found.samples["mpich"]["r"] = [Sample(2.0)]
        found.problems["openmpi"]["r"] = "hung"
        rows = [Row("r", 4, "barrier", "us", budget=0.4)]
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(setattr, report, "RESULTS", report.RESULTS)
            self.addCleanup(setattr, report, "commit", report.commit)
            report.RESULTS, report.commit = folder, lambda: "0123abc"
            made = report.Report(MPIS, rows, found, 0.5, 1)
            first, second = made.save(["--save", "'bar*'"]), made.save([])
            self.assertNotEqual(first, second)
            self.check(read(first))
            self.assertIn("`test/bench/run --save 'bar*'` at commit 0123abc", read(first))
            self.assertIn("| r | us |  | 1 (0) | hung | 2 (0) | 0.50 | 0.40 | over |", read(first))


if __name__ == "__main__":
    unittest.main()
