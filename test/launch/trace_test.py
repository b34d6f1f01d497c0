#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal:   `mpiexec --trace` leaves a timeline that viewers of Perfetto traces can read, however the job ends: each call
        is a slice, slices of a thread do not cross, clocks of hosts are made one, and memory is bounded.
Method: programs whose calls are known by construction. The file is decoded here, by the field numbers that Perfetto
        publishes. Two hosts are made of this machine by an agent, one of them with another clock.
"""

import collections
import json
import os
import re
import resource
import subprocess
import tempfile
import unittest

from harness import LaunchCase, MPIEXEC, ROOT, environment

PROFILED = os.path.join(ROOT, "test/launch/profiled")
SHIFT_S = 5000

Slice = collections.namedtuple("Slice", "rank thread name begin end notes depth")


def fields(data):
    """Yields the fields of a message as (number, value): an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, int.from_bytes(data[at:at + 8], "little")
            at += 8
        elif key & 7 == 2:
            length = varint()
            yield key >> 3, data[at:at + length]
            at += length
        else:
            raise ValueError("wire type %d" % (key & 7))
    if at != len(data):
        raise ValueError("cut short")


def one(message, number, default=None):
    found = [value for field, value in fields(message) if field == number]
    return found[-1] if found else default


class Timeline:
    """What a file says: the names of processes and the slices of each thread."""

    def __init__(self, data):
        self.processes = {}   # track: name
        self.parents = {}     # track of a thread: track of its process
        self.slices = []
        self.counters = {}    # track: its name and that of its process
        self.values = []      # (name of the process, name of the counter, time, value)
        self.begun_flows = {}  # flow: the slice in which it begins
        self.ended_flows = {}  # flow: the slice in which it ends
        names = {}            # (sequence, id): name
        open_slices = {}      # track: what has begun, one within the other
        times = {}            # track: the last time
        for field, packet in fields(data):
            assert field == 1
            sequence = one(packet, 10)
            flags = one(packet, 13, 0)
            if flags & 1:
                names = {key: name for key, name in names.items() if key[0] != sequence}
            interned = one(packet, 12)
            if interned is not None:
                for number, name in fields(interned):
                    assert number == 2
                    names[sequence, one(name, 1)] = one(name, 2).decode()
            descriptor = one(packet, 60)
            if descriptor is not None:
                self.describe(descriptor)
            event = one(packet, 11)
            if event is None:
                continue
            time, track = one(packet, 8), one(event, 11)
            if one(event, 9) == 4:
                self.values.append((*self.counters[track], time, one(event, 30)))
                continue
            assert flags & 2
            assert time >= times.get(track, 0), "time runs backwards"
            times[track] = time
            if one(event, 9) == 1:
                open_slices.setdefault(track, []).append(
                    (names[sequence, one(event, 10)], time, self.notes(event), self.numbers(event, 47)))
            else:
                name, begin, notes, flows = open_slices[track].pop()
                rank = int(re.match(r"rank (\d+) ", self.processes[self.parents[track]]).group(1))
                self.slices.append(Slice(rank, track & 0xffffffff, name, begin, time, notes,
                                         len(open_slices[track])))
                for here, begun in ((self.begun_flows, flows), (self.ended_flows, self.numbers(event, 48))):
                    for flow in begun:
                        assert flow not in here
                        here[flow] = self.slices[-1]
        assert not any(open_slices.values())

    def describe(self, descriptor):
        track, process = one(descriptor, 1), one(descriptor, 3)
        if process is not None:
            self.processes[track] = one(process, 6).decode()
        elif one(descriptor, 8) is not None:
            self.counters[track] = (self.processes[one(descriptor, 5)], one(descriptor, 2).decode())
        else:
            assert one(one(descriptor, 4), 5) is not None
            self.parents[track] = one(descriptor, 5)

    @staticmethod
    def notes(event):
        return {one(note, 10).decode(): one(note, 3) for number, note in fields(event) if number == 4}

    @staticmethod
    def numbers(event, field):
        return [number for key, number in fields(event) if key == field]

    def flows(self):
        """The slices at both ends of each flow. It ends after it has begun."""
        assert self.begun_flows.keys() == self.ended_flows.keys()
        return [(begun, self.ended_flows[flow]) for flow, begun in self.begun_flows.items()]

    def of(self, rank, name):
        return [each for each in self.slices if (each.rank, each.name) == (rank, name)]


class Trace(LaunchCase):

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(dir=os.environ["TEST_TMPDIR"])
        self.line = ""

    def trace(self, *arguments, ranks=2, options=(), status=0, first=False):
        name = os.path.join(self.folder, "a.pftrace")
        result = self.run_job(*arguments, ranks=ranks, options=["--trace=" + "first," * first + name, *options])
        self.assertEqual(result.returncode, status, result.stderr)
        lines = [line for line in result.stderr.splitlines() if " timeline in " in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.line = lines[0]
        with open(name, "rb") as file:
            timeline = Timeline(file.read())
        self.assertEqual(len(timeline.processes), ranks, timeline.processes)
        return timeline

    def agent(self, shifted):
        """A host "two" has a clock of its own if it is shifted."""
        path = os.path.join(self.folder, "agent")
        with open(path, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nhost=$1\nshift\n')
            if shifted:
                file.write('[ $host = two ] && exec unshare --time --monotonic %d --fork "$@"\n' % SHIFT_S)
            file.write('exec "$@"\n')
        os.chmod(path, 0o755)
        return ["--agent", path + " {host}", "-H", "one:1,two:1"]

    def check_late_sender(self, timeline, error_s):
        """Rank 0 computes 400 ms after a barrier and then sends, while rank 1 receives."""
        send, = timeline.of(0, "MPI_Send")
        receive, = timeline.of(1, "MPI_Recv")
        self.assertGreater(receive.end - receive.begin, 0.2e9)
        self.assertGreater(receive.end, send.begin - error_s * 1e9)
        self.assertLess(receive.begin, send.begin + error_s * 1e9)
        left = [timeline.of(rank, "MPI_Barrier")[0].end for rank in (0, 1)]
        came = [timeline.of(rank, "MPI_Barrier")[0].begin for rank in (0, 1)]
        # Nobody leaves the barrier before both have come.
        self.assertGreater(min(left), max(came) - error_s * 1e9)
        flows = [(begun, ended) for begun, ended in timeline.flows() if begun.notes]
        self.assertEqual(flows, [(send, receive)])
        self.assertEqual(send.notes, {"bytes sent": 8})
        self.assertEqual(receive.notes, {"bytes received": 8})

    def test_late_sender(self):
        self.check_late_sender(self.trace(PROFILED, "late"), 0)

    def test_two_hosts(self):
        timeline = self.trace(PROFILED, "late", options=self.agent(shifted=False))
        self.assertEqual(sorted(timeline.processes.values()), ["rank 0 on one", "rank 1 on two"])
        self.check_late_sender(timeline, self.error_s())

    def error_s(self):
        said = re.search(r"times of other hosts are right to within (\d+) us", self.line)
        self.assertTrue(said, self.line)
        return (int(said.group(1)) + 50) * 1e-6

    def test_two_hosts_with_different_clocks(self):
        if subprocess.run(["unshare", "--time", "--monotonic", "1", "--fork", "true"], check=False,
                          capture_output=True).returncode != 0:
            self.skipTest("a clock of one's own needs root and time namespaces")
        timeline = self.trace(PROFILED, "late", options=self.agent(shifted=True))
        self.check_late_sender(timeline, self.error_s())

    def test_ring(self):
        timeline = self.trace(PROFILED, "ring", ranks=4)
        for rank in range(4):
            self.assertEqual(len(timeline.of(rank, "MPI_Sendrecv")), 10)
            self.assertEqual(len(timeline.of(rank, "MPI_Finalize")), 1)
        ends = collections.Counter((begun.rank, ended.rank, begun.name, ended.name) for begun, ended in timeline.flows())
        self.assertEqual(ends, {(rank, (rank + 1) % 4, "MPI_Sendrecv", "MPI_Sendrecv"): 10 for rank in range(4)})
        self.assertTrue(all(begun.begin <= ended.end for begun, ended in timeline.flows()))

    def test_a_message_to_oneself(self):
        timeline = self.trace(PROFILED, "ring", ranks=1)
        self.assertEqual([begun.name for begun, ended in timeline.flows() if begun is ended], ["MPI_Sendrecv"] * 10)

    def test_every_way_of_sending(self):
        for options in ([], self.agent(shifted=False)):
            with self.subTest(options):
                timeline = self.trace(PROFILED, "ways", options=options)
                *ends, last = sorted(timeline.flows(), key=lambda flow: flow[0].begin)
                self.assertEqual([(begun.rank, begun.name, ended.rank, ended.name) for begun, ended in ends],
                                 [(0, "MPI_Send", 1, "MPI_Recv"), (0, "MPI_Ssend", 1, "MPI_Recv"),
                                  (0, "MPI_Send", 1, "MPI_Recv"), (0, "MPI_Isend", 1, "MPI_Mrecv")])
                # This one may have come before its receive.
                self.assertEqual((last[0].name, last[1].rank), ("MPI_Send", 1))
                self.assertIn(last[1].name, ("MPI_Irecv", "MPI_Waitall"))

    def test_messages_that_are_unexpected(self):
        timeline = self.trace(PROFILED, "unexpected")
        *sends, last = timeline.of(0, "MPI_Send")
        # The last one meets a receive that waits, in whatever call rank 1 is then.
        flows = sorted(((begun, ended) for begun, ended in timeline.flows() if begun is not last),
                       key=lambda flow: flow[1].begin)
        self.assertEqual([ended.name for _, ended in flows], ["MPI_Recv"] * 4)
        # The message that came last is received first.
        self.assertEqual([begun for begun, _ in flows], sends[::-1])

    def test_regions(self):
        timeline = self.trace(PROFILED, "regions")
        for rank in range(2):
            names = {name: timeline.of(rank, name) for name in ("<outer>", "inner", "not ended")}
            self.assertEqual({name: len(slices) for name, slices in names.items()},
                             {"<outer>": 1, "inner": 2, "not ended": 1})
            outer, = names["<outer>"]
            within, inner = sorted(names["inner"], key=lambda each: each.end - each.begin)
            self.assertEqual([each.depth for each in (outer, inner, within)], [0, 1, 2])
            self.assertTrue(outer.begin <= inner.begin <= within.begin <= within.end <= inner.end <= outer.end)
            barriers = timeline.of(rank, "MPI_Barrier")
            self.assertEqual([each.depth for each in barriers], [2, 2])
            end, = timeline.of(rank, "MPI_Finalize")
            self.assertEqual((end.depth, names["not ended"][0].end), (1, end.end))

    def test_bytes_in_flight_and_memory(self):
        timeline = self.trace(PROFILED, "late-receiver")
        in_flight = [value for process, name, _, value in timeline.values
                     if process.startswith("rank 0 ") and name == "bytes in flight"]
        self.assertEqual((max(in_flight), in_flight[-1]), (10 << 20, 0))
        for rank in range(2):
            memory = [value for process, name, _, value in timeline.values
                      if process.startswith("rank %d " % rank) and name == "memory"]
            self.assertGreater(memory[-1], 1 << 20)

    def test_counters(self):
        timeline = self.trace(PROFILED, "unexpected")
        of_rank_1 = [(name, value) for process, name, _, value in timeline.values if process.startswith("rank 1 ")]
        self.assertIn(("unexpected messages", 3), of_rank_1)
        self.assertIn(("posted receives", 1), of_rank_1)
        # All have been received in the end.
        self.assertEqual([value for name, value in of_rank_1 if name == "unexpected messages"][-1], 0)
        self.assertEqual([value for name, value in of_rank_1 if name == "bytes of unexpected messages"][-1], 0)

    def lamina_trace(self, *words):
        lamina = os.path.join(self.folder, "lamina")
        if not os.path.lexists(lamina):
            os.symlink(MPIEXEC, lamina)
        return subprocess.run([lamina, "trace", *words], check=False, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=environment(self.mark))

    def test_summary(self):
        timeline = self.trace(PROFILED, "ring", ranks=4)
        result = self.lamina_trace("--summary", self.folder + "/a.pftrace")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^4 ranks, [\d.]+ s from the first call to the last\n")
        row, = [line.split() for line in result.stdout.splitlines() if line.startswith("MPI_Sendrecv ")]
        self.assertIn("\n40 messages\n", result.stdout)
        slices = [each for each in timeline.slices if each.name == "MPI_Sendrecv"]
        self.assertEqual((int(row[1]), int(row[5]), int(row[6])), (40, 40000, 40000))
        self.assertAlmostEqual(float(row[2]), sum(each.end - each.begin for each in slices) * 1e-9, places=5)
        self.assertAlmostEqual(float(row[4]), max(each.end - each.begin for each in slices) * 1e-3, places=2)

    def test_chrome(self):
        timeline = self.trace(PROFILED, "ring", ranks=4)
        out = self.folder + "/b.json"
        result = self.lamina_trace("--to", "chrome", "-o", out, self.folder + "/a.pftrace")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        with open(out, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertEqual(sorted(names.values()), sorted(timeline.processes.values()))
        begun, slices = {}, []
        for event in events:
            if event["ph"] == "B":
                self.assertNotIn(event["tid"], begun)
                begun[event["tid"]] = event
            elif event["ph"] == "E":
                begin = begun.pop(event["tid"])
                self.assertEqual(begin["name"], event["name"])
                slices.append((names[event["pid"]], event["name"], round(begin["ts"] * 1000), round(event["ts"] * 1000)))
        self.assertEqual(begun, {})
        for phase in "sf":
            self.assertEqual({int(event["id"], 16) for event in events if event["ph"] == phase},
                             timeline.begun_flows.keys())
        self.assertEqual(sorted(slices), sorted(
            ("rank %d on %s" % (each.rank, os.uname().nodename), each.name, each.begin, each.end)
            for each in timeline.slices))

    def test_what_cannot_be_converted_leaves_nothing(self):
        self.trace(PROFILED, "ring")
        with open(self.folder + "/a.pftrace", "rb") as file:
            whole = file.read()
        for name, data in (("cut", whole[:-3]), ("text", b"hello\n" * 9), ("empty", b"")):
            with open(self.folder + "/" + name, "wb") as file:
                file.write(data)
        before = sorted(os.listdir(self.folder) + ["lamina"])
        for words, why in (
                (["--to", "chrome", self.folder + "/cut"], "cut: the trace is cut short"),
                (["--to", "chrome", self.folder + "/text"], "text: it is no trace of mpiexec --trace"),
                ([self.folder + "/empty"], "/empty: it is empty"),
                ([self.folder + "/none"], "none: No such file or directory"),
                (["--to", "chrome", "-o", self.folder + "/no/b", self.folder + "/a.pftrace"],
                 "no/b: No such file or directory")):
            with self.subTest(words=words):
                result = self.lamina_trace(*words)
                self.assertEqual(result.returncode, 1)
                self.assertTrue(result.stderr.startswith("lamina trace: ") and why in result.stderr, result.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        for words in ([], ["--to", "xml", "a"], ["--loudly"], ["-o", "b", "a"]):
            self.assertEqual(self.lamina_trace(*words).returncode, 2, words)

    def test_a_job_that_is_killed_in_a_call(self):
        timeline = self.trace(PROFILED, "stuck", ranks=2, options=["--timeout", "3"], status=124)
        self.assertGreater(max(each.end - each.begin for each in timeline.slices), 1e9)

    def test_the_oldest_go(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        timeline = self.trace(PROFILED, "many", ranks=1, options=["--trace-buffer", "1"])
        kept = (1 << 20) // 56
        self.assertLessEqual(len(timeline.slices), kept)
        self.assertGreater(len(timeline.slices), kept - 100)  # a few records tell of the memory
        self.assertEqual(timeline.slices[-1].name, "MPI_Finalize")
        lost = int(re.search(r"; (\d+) earlier ones had no room \(--trace-buffer\)", self.line).group(1))
        self.assertGreaterEqual(lost, 10**7 - kept)
        self.assertIn("(%d earlier calls had no room)" % lost, list(timeline.processes.values())[0])
        self.assertLess(max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss), 256 << 10)

    def test_the_first_stay(self):
        """With a file of its own name, and on a host that is reached by an agent."""
        for options in ([], self.agent(shifted=False)):
            with self.subTest(options):
                timeline = self.trace(PROFILED, "many", ranks=1, options=["--trace-buffer", "1", *options], first=True)
                kept = (1 << 20) // 56
                self.assertLessEqual(len(timeline.slices), kept)
                self.assertEqual(len(timeline.of(0, "MPI_Comm_size")), 1)
                self.assertEqual(timeline.of(0, "MPI_Finalize"), [])
                lost = int(re.search(r"; (\d+) later ones had no room \(--trace-buffer\)", self.line).group(1))
                self.assertGreaterEqual(lost, 10**7 - kept)
                self.assertIn("(%d later calls had no room)" % lost, list(timeline.processes.values())[0])

    def test_the_name_of_the_file(self):
        result = subprocess.run([os.path.join(ROOT, "launcher/mpiexec"), "--trace", "-n", "1", PROFILED, "ring"],
                                check=False, cwd=self.folder, capture_output=True, text=True, timeout=60,
                                stdin=subprocess.DEVNULL, env=environment(self.mark))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex("\n".join(os.listdir(self.folder)), r"^profiled\.\d+\.pftrace$")

    def test_mistakes(self):
        result = self.run_job("echo", "started", options=["--trace=" + self.folder + "/none/a"])
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertIn("cannot write the timeline", result.stderr)
        result = self.run_job("true", options=["--trace-buffer", "0"])
        self.assertIn("\"0\" is not a number of MiB from 1 to 60", result.stderr)
        result = self.run_job(PROFILED, "ring", ranks=2, options=["--trace=/dev/full"])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cannot write the timeline /dev/full: No space left on device", result.stderr)


if __name__ == "__main__":
    unittest.main()
