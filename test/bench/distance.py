# SPDX-License-Identifier: BSD-3-Clause
"""How far apart two processors were while a row was measured.

The processors of a virtual machine may be near each other now and far apart a second later, and a
median over both says nothing. Two bound ranks therefore play with a cache line before and after each
row. Where these times lie in separate heaps, each heap gets a row of its own.
"""
import collections
import math
import statistics

from rows import line_name

# Times of a cache line are put on a scale whose steps grow by a tenth. This many empty steps part
# two distances.
STEP, GAP = 1.1, 3

# Times that are rarer than TIMES_MIN are disturbances, and a distance that fewer than SHARE_MIN of
# the values have is not shown. A median needs VALUES_MIN values.
TIMES_MIN, SHARE_MIN, VALUES_MIN = 0.01, 0.1, 3


def scale(line):
    return round(math.log(line, STEP))


def distances(samples):
    """{step on the scale: the typical time of a cache line at that distance}."""
    lines = [line for sample in samples for line in sample.lines]
    steps = collections.Counter(map(scale, lines))
    runs = []
    for step in sorted(step for step, count in steps.items() if count >= TIMES_MIN * len(lines)):
        if not runs or step > runs[-1][-1] + GAP:
            runs.append([])
        runs[-1].append(step)
    return {step: statistics.median(line for line in lines if scale(line) in run)
            for run in runs for step in run}


def by_distance(rows, samples, problems, floors):
    """(rows, {mpi: {row: values}}, problems, [what a cache line took], how many values are left out).

    If there is more than one distance, a row of two bound ranks becomes one for each, and keeps the
    values that had it before and after; else rows stay as they are. `floors` learns the cache lines."""
    everything = [sample for its in samples.values() for got in its.values() for sample in got]
    known = distances(everything)

    def at(sample):
        seen = {known.get(scale(line)) for line in sample.lines}
        return seen.pop() if len(seen) == 1 else None

    at_all = [at(sample) for sample in everything if sample.lines]
    usual = sorted(place for place in set(known.values()) if at_all.count(place) >= SHARE_MIN * len(at_all))
    shown, kept, told = [], {mpi: {} for mpi in samples}, {mpi: dict(its) for mpi, its in problems.items()}
    for row in rows:
        split = row.bound and len(usual) > 1
        for place in usual if split else usual[:1] or [None]:
            shown.append(row.at(place) if split else row)
            if split and (row.floor or "").startswith("post:") and known.get(scale(floors["line"])) != place:
                shown[-1].floor = None  # The floor was measured at another distance.
            for mpi, its in samples.items():
                got = [sample.value for sample in its.get(row.name, [])
                       if not sample.lines or at(sample) == place]
                if len(got) >= (VALUES_MIN if split else 1):
                    kept[mpi][shown[-1].name] = got
                else:
                    told[mpi][shown[-1].name] = problems[mpi].get(row.name, "only %d" % len(got))
    floors.update({line_name(place): place for place in usual})
    return shown, kept, told, usual, sum(place not in usual for place in at_all)
