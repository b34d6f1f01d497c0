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


def cells(row, samples, problems=None):
    _, lines, over = bench.table([row], MPIS, samples, problems or {m.name: {} for m in MPIS}, {})
    return lines[0], over


class TableTest(unittest.TestCase):
    def test_small_cost_is_good(self):
        row = bench.Row("r", 2, "latency:8", "us", budget=0.7)
        line, over = cells(row, {"lamina": {"r": [1.0]}, "openmpi": {"r": [2.0]}, "mpich": {"r": [4.0]}})
        self.assertEqual(line[-3:], ["0.50", "0.70", "ok"])
        self.assertEqual(over, 0)

    def test_small_rate_is_bad(self):
        row = bench.Row("r", 2, "rate:8", "M/s", budget=0.7)
        line, over = cells(row, {"lamina": {"r": [1.0]}, "openmpi": {"r": [2.0]}, "mpich": {"r": [0.1]}})
        self.assertEqual(line[-3:], ["2.00", "0.70", "over"])
        self.assertEqual(over, 1)

    def test_a_peer_that_hung_is_no_peer(self):
        row = bench.Row("r", 2, "latency:8", "us")
        problems = {"lamina": {}, "openmpi": {"r": "hung"}, "mpich": {}}
        line, _ = cells(row, {"lamina": {"r": [3.0]}, "openmpi": {}, "mpich": {"r": [2.0]}}, problems)
        self.assertIn("hung", line)
        self.assertIn("1.50", line)

    def test_without_peers_there_is_no_ratio(self):
        line, _ = cells(bench.Row("r", 2, "barrier", "us", budget=0.5),
                        {"lamina": {"r": [3.0]}, "openmpi": {}, "mpich": {}})
        self.assertEqual(line[-3], "")
        self.assertEqual(line[-1], "")

    def test_a_limit_holds_without_regard_to_peers(self):
        row = bench.Row("r", 2, "idle", "%", limit=1.0)
        for value, verdict in ((0.9, "ok"), (1.1, "over")):
            line, over = cells(row, {"lamina": {"r": [value]}, "openmpi": {"r": [0.1]}, "mpich": {}})
            self.assertEqual(line[-2:], ["1 %", verdict])
            self.assertEqual(over, verdict == "over")

    def test_a_limit_may_follow_another_row_or_the_floor(self):
        row = bench.Row("r", 2, "stencil:9", "us", limit=2.0, of="other")
        for other, verdict in ((1.0, "ok"), (0.9, "over")):
            line, _ = cells(row, {"lamina": {"r": [2.0], "other": [other]}, "openmpi": {}, "mpich": {}})
            self.assertEqual(line[-2:], ["2 x other", verdict])
        faster = bench.Row("r", 2, "threads:2", "M/s", limit=1.0, of="other")
        line, _ = cells(faster, {"lamina": {"r": [2.0], "other": [3.0]}, "openmpi": {}, "mpich": {}})
        self.assertEqual(line[-1], "over")
        bare = bench.Row("r", 2, "latency:8", "us", 0.7, "line", limit=1.5, of="floor")
        medians = {"lamina": {"r": 0.3}}
        self.assertEqual(bench.verdict_on(bare, medians, 0.5, {"line": 0.2}),
                         ("0.60", "0.70, 1.5 x floor", "ok"))
        self.assertEqual(bench.verdict_on(bare, medians, 0.5, {"line": 0.1})[2], "over")

    def test_values_of_another_distance_are_left_out(self):
        samples = {"lamina": {"r": [(1.0, 0.1), (3.0, 0.3)], "s": [(5.0, 0.3)], "t": [(7.0, None)]},
                   "mpich": {"r": [(2.0, 0.11), (9.0, float("inf")), (2.5, 0.09)]}}
        kept, left_out = bench.alike(samples)
        self.assertEqual(kept, {"lamina": {"r": [1.0], "s": [5.0], "t": [7.0]}, "mpich": {"r": [2.0, 2.5]}})
        self.assertEqual(left_out, 2)

    def test_the_median_counts_and_the_spread_shows(self):
        line, _ = cells(bench.Row("r", 2, "barrier", "us"),
                        {"lamina": {"r": [1.0, 2.0, 9.0]}, "openmpi": {}, "mpich": {}})
        self.assertIn("2 (200)", line)

    def test_every_row_has_its_own_name(self):
        names = [row.name for row in bench.all_rows()]
        self.assertEqual(len(names), len(set(names)))

    def test_rows_of_one_start_agree_in_what_they_need(self):
        alone = [row for row in bench.all_rows() if row.way and row.ranks != 2]
        self.assertEqual(alone, [])
        ways = {row.way for row in bench.all_rows()}
        self.assertEqual(ways, {"", "tcp", "copied", "free", "beside", "queue", "hosts", "shaped"})
        command = bench.Mpi("m", [], ["run"], ["bound"], ["free"], {"tcp": ["by", "tcp"]}).command
        self.assertEqual(command(2, ["p"], "tcp"), ["run", "bound", "by", "tcp", "-n", "2", "p"])
        self.assertEqual(command(4, ["p"]), ["run", "free", "-n", "4", "p"])

    def test_a_command_that_hangs_is_ended(self):
        why, out = bench.call(["sh", "-c", "echo begun; exec cat /dev/zero > /dev/null"], "/nowhere", 0.3)
        self.assertEqual((why, out), ("hung", "begun\n"))

    def test_a_command_that_fails_says_why(self):
        why, _ = bench.call(["sh", "-c", "echo first >&2; echo last >&2; exit 3"], "/nowhere", 5)
        self.assertEqual(why, "last")


if __name__ == "__main__":
    unittest.main()
