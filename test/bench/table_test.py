#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the table tells the truth: ratios point the right way, what hung is no number.
# Method: invented samples with known answers; a command that hangs and one that fails.
import importlib.machinery
import importlib.util
import os
import unittest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
LOADER = importlib.machinery.SourceFileLoader("bench", PATH)
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", LOADER))
LOADER.exec_module(bench)

MPIS = [bench.Mpi(name, [], [], [], []) for name in ("lamina", "openmpi", "mpich")]


def cells(row, samples, problems=None, floors={}):
    _, lines = bench.table([row], MPIS, samples, problems or {m.name: {} for m in MPIS}, floors)
    return lines[0]


class TableTest(unittest.TestCase):
    def test_small_cost_is_good(self):
        row = bench.Row("r", 2, "latency:8", "us", budget=0.7)
        line = cells(row, {"lamina": {"r": [1.0]}, "openmpi": {"r": [2.0]}, "mpich": {"r": [4.0]}})
        self.assertEqual(line[-3:], ["0.50", "0.70", "ok"])

    def test_small_rate_is_bad(self):
        row = bench.Row("r", 2, "rate:8", "M/s", budget=0.7)
        line = cells(row, {"lamina": {"r": [1.0]}, "openmpi": {"r": [2.0]}, "mpich": {"r": [0.1]}})
        self.assertEqual(line[-3:], ["2.00", "0.70", "over"])

    def test_over_is_told_from_what_the_bare_machine_does_not_meet(self):
        row = bench.Row("r", 8, "bcast:8", "us", budget=0.5, floor="tell:8")
        samples = {"lamina": {"r": [2.5]}, "openmpi": {"r": [4.0]}, "mpich": {"r": [9.0]}}
        for bare, verdict in ((2.1, "floor"), (1.9, "over")):
            self.assertEqual(cells(row, samples, floors={"tell:8": bare})[-1], verdict)
        self.assertEqual(cells(row, samples)[-1], "over")
        samples["lamina"]["r"] = [2.0]
        self.assertEqual(cells(row, samples, floors={"tell:8": 2.1})[-1], "ok")

    def test_a_peer_that_hung_is_no_peer(self):
        row = bench.Row("r", 2, "latency:8", "us")
        problems = {"lamina": {}, "openmpi": {"r": "hung"}, "mpich": {}}
        line = cells(row, {"lamina": {"r": [3.0]}, "openmpi": {}, "mpich": {"r": [2.0]}}, problems)
        self.assertIn("hung", line)
        self.assertIn("1.50", line)

    def test_without_peers_there_is_no_ratio(self):
        line = cells(bench.Row("r", 2, "barrier", "us", budget=0.5),
                        {"lamina": {"r": [3.0]}, "openmpi": {}, "mpich": {}})
        self.assertEqual(line[-3], "")
        self.assertEqual(line[-1], "")

    def test_a_limit_holds_without_regard_to_peers(self):
        row = bench.Row("r", 2, "idle", "%", limit=1.0)
        for value, verdict in ((0.9, "ok"), (1.1, "over")):
            line = cells(row, {"lamina": {"r": [value]}, "openmpi": {"r": [0.1]}, "mpich": {}})
            self.assertEqual(line[-2:], ["1 %", verdict])

    def test_a_limit_may_follow_another_row_or_the_floor(self):
        row = bench.Row("r", 2, "stencil:9", "us", limit=2.0, of="other")
        for other, verdict in ((1.0, "ok"), (0.9, "over")):
            line = cells(row, {"lamina": {"r": [2.0], "other": [other]}, "openmpi": {}, "mpich": {}})
            self.assertEqual(line[-2:], ["2 x other", verdict])
        faster = bench.Row("r", 2, "threads:2", "M/s", limit=1.0, of="other")
        line = cells(faster, {"lamina": {"r": [2.0], "other": [3.0]}, "openmpi": {}, "mpich": {}})
        self.assertEqual(line[-1], "over")
        bare = bench.Row("r", 2, "latency:8", "us", 0.7, "line", limit=1.5, of="floor")
        medians = {"lamina": {"r": 0.3}}
        self.assertEqual(bench.verdict_on(bare, medians, 0.5, {"line": 0.2}),
                         ("0.60", "0.70, 1.5 x floor", "ok"))
        self.assertEqual(bench.verdict_on(bare, medians, 0.5, {"line": 0.1})[2], "over")

    def test_a_row_is_shown_for_each_distance_where_that_changes(self):
        rows = [bench.Row("r", 2, "latency:8", "us", 0.7, "line", limit=1.5, of="floor"),
                bench.Row("s", 2, "rate:8", "M/s", limit=1.0, of="r"), bench.Row("t", 4, "barrier", "us")]
        near, far = [(0.1, 0.1), (0.12, 0.1), (0.1, 0.1)], [(0.3, 0.3), (0.25, 0.3), (0.3, 0.31)]
        samples = {mpi: {row: [bench.Sample(value + 10 * (lines in far), *lines)
                               for lines in near + far + [(0.1, 0.3)]]
                         for row, value in its.items()}
                   for mpi, its in {"lamina": {"r": 1, "s": 2}, "mpich": {"r": 2}}.items()}
        samples["lamina"]["t"] = [bench.Sample(7.0)]
        samples["mpich"]["r"].pop(0)
        floors = {"line": 0.2}
        shown, kept, told, distances, left_out = bench.by_distance(
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
        self.assertEqual(bench.verdict_on(shown[0], medians, None, floors), ("", "0.70, 1.5 x floor", "ok"))
        self.assertEqual(bench.verdict_on(shown[1], medians, None, floors)[2], "over")
        self.assertEqual((shown[2].of, shown[3].of), ("r, line 0.1", "r, line 0.3"))

    def test_a_row_is_one_where_the_distance_does_not_change(self):
        rows = [bench.Row("r", 2, "latency:8", "us", floor="line")]
        steady = [bench.Sample(1.0, 0.1, 0.1 + 0.01 * (i % 7)) for i in range(20)]
        rare = [bench.Sample(3.0, 0.3, 0.3)] * 2
        for usual, other, value in ((steady, rare, 1.0), (rare * 10, steady[:2], 3.0), (steady, [], 1.0)):
            shown, kept, _, distances, left_out = bench.by_distance(
                rows, {"lamina": {"r": usual + other}}, {"lamina": {}}, {})
            self.assertEqual(shown, rows)
            self.assertEqual(kept, {"lamina": {"r": [value] * 20}})
            self.assertEqual((len(distances), left_out), (1, len(other)))
        unknown = {"lamina": {"r": [bench.Sample(1.0), bench.Sample(2.0)]}}
        self.assertEqual(bench.by_distance(rows, unknown, {"lamina": {}}, {})[1], {"lamina": {"r": [1.0, 2.0]}})

    def test_the_median_counts_and_the_spread_shows(self):
        line = cells(bench.Row("r", 2, "barrier", "us"),
                        {"lamina": {"r": [1.0, 2.0, 9.0]}, "openmpi": {}, "mpich": {}})
        self.assertIn("2 (200)", line)

    def test_every_row_has_its_own_name(self):
        names = [row.name for row in bench.all_rows()]
        self.assertEqual(len(names), len(set(names)))

    def test_rows_of_one_start_agree_in_what_they_need(self):
        alone = [row for row in bench.all_rows() if row.way and row.ranks != 2]
        self.assertEqual(alone, [])
        ways = {row.way for row in bench.all_rows()}
        self.assertEqual(ways, {"", "multiple", "tcp", "copied", "free", "beside", "queue", "hosts",
                                "shaped"})
        command = bench.Mpi("m", [], ["run"], ["bound"], ["free"], {"tcp": ["by", "tcp"]}).command
        self.assertEqual(command(2, ["p"], "tcp"), ["run", "bound", "by", "tcp", "-n", "2", "p"])
        self.assertEqual(command(4, ["p"]), ["run", "free", "-n", "4", "p"])
        self.assertEqual({row.way for row in bench.all_rows() if row.bound},
                         {"", "multiple", "tcp", "copied", "queue"})
        self.assertEqual([row.name for row in bench.all_rows() if row.bound and row.ranks != 2], [])

    def test_a_command_that_hangs_is_ended(self):
        why, out = bench.call(["sh", "-c", "echo begun; exec cat /dev/zero > /dev/null"], "/nowhere", 0.3)
        self.assertEqual((why, out), ("hung", "begun\n"))

    def test_a_row_that_hangs_or_fails_takes_no_other_with_it(self):
        program = """shift  # the seconds
            for word in "$@"; do
              case $word in hang:*) exec cat /dev/zero > /dev/null;; fail:*) echo bad >&2; exit 3;; esac
              echo "$word 7 0 0"
            done"""
        usual, bench.MEASURE_SECONDS_MAX = bench.MEASURE_SECONDS_MAX, 0.5
        self.addCleanup(setattr, bench, "MEASURE_SECONDS_MAX", usual)
        mpi = bench.Mpi("m", [], [], [], [])
        mpi.command = lambda ranks, words, way: ["sh", "-c", program] + words
        for asked, has, told in (
                ("hang:1 a fail:1 b hang:2", "a b", {"hang:1": "hung", "fail:1": "bad", "hang:2": "hung"}),
                ("memory fail:1 a", "memory a", {"fail:1": "bad"}),
                ("fail:1 fail:2 a", "", dict.fromkeys(("fail:1", "fail:2", "a"), "bad"))):
            values, problems = {}, {}
            rows = [bench.Row(what, 4, what, "us") for what in asked.split()]
            bench.measure_together(mpi, rows, 0.1, values, problems)
            self.assertEqual((" ".join(values), problems), (has, told))

    def test_a_command_that_fails_says_why(self):
        why, _ = bench.call(["sh", "-c", "echo first >&2; echo last >&2; exit 3"], "/nowhere", 5)
        self.assertEqual(why, "last")


if __name__ == "__main__":
    unittest.main()
