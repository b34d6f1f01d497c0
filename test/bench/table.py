# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of the table: medians, ratios and verdicts."""
import collections
import math
import statistics

from peers import BEFORE

# A row counts as slower or faster than before if it is so by this share, beyond its noise. Fewer values
# of each do not tell the noise.
CHANGE_MIN, CHANGE_VALUES_MIN = 0.05, 5


def number(value):
    if value is None:
        return "-"
    return "%.3g" % value if abs(value) < 999.5 else "%.0f" % value


def spread(values):
    """Half the distance between the extremes, in per cent of the median."""
    middle = statistics.median(values)
    return 50 * (max(values) - min(values)) / middle if middle else 0


def cost_ratio(row, mine, theirs):
    """What ours costs relative to theirs: below 1 is better, for rates too."""
    return theirs / mine if row.rate else mine / theirs


def verdict_on(row, medians, best, floors):
    """(cost relative to the best peer, what is allowed, verdict), as text.

    The verdict is "ok", "over", "floor" for a budget that the machine without MPI does not meet
    either, or "" where there is nothing to compare with."""
    cost, allowed, held = "", [], []
    mine = medians.get("lamina", {}).get(row.name)
    if row.budget:
        allowed.append("%.2f" % row.budget)
    if mine and best:
        ratio = cost_ratio(row, mine, best)
        cost = "%.2f" % ratio
        if row.budget:
            held.append(ratio <= row.budget)
    if row.limit:
        allowed.append("%g x %s" % (row.limit, row.of) if row.of else "%g %s" % (row.limit, row.unit))
        against = 1 if row.of is None else floors.get(row.floor) if row.of == "floor" else \
            medians.get("lamina", {}).get(row.of)
        if mine is not None and against:
            held.append(against <= row.limit * mine if row.rate else mine <= row.limit * against)
    out_of_reach = row.budget and best and not row.rate and floors.get(row.floor, 0) > row.budget * best
    return cost, ", ".join(allowed), "" if not held else "ok" if all(held) else \
        "floor" if out_of_reach else "over"


def median_error(values):
    """The standard error of the median, relative to it; None for too few values.

    The quartiles stand for the spread, so that one disturbed round does not count as noise."""
    if len(values) < CHANGE_VALUES_MIN:
        return None
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    sigma = (third - first) / 1.349
    return 1.2533 * sigma / math.sqrt(len(values)) / middle if middle else 0


Change = collections.namedtuple("Change", "cost noise verdict")


def change(row, mine, before):
    """How a row compares with the Lamina before: the ratio of costs, and two standard errors of it."""
    if not mine or not before or not statistics.median(mine) or not statistics.median(before):
        return None
    cost = cost_ratio(row, statistics.median(mine), statistics.median(before))
    errors = median_error(mine), median_error(before)
    if None in errors:
        return Change(cost, None, "")
    noise = 2 * cost * math.hypot(*errors)
    return Change(cost, noise, "slower" if cost - noise > 1 + CHANGE_MIN else
                  "faster" if cost + noise < 1 - CHANGE_MIN else "")


def changes(rows, samples):
    """{row: Change} for the rows that both this Lamina and the one before have measured."""
    found = {row.name: change(row, samples.get("lamina", {}).get(row.name),
                              samples.get(BEFORE, {}).get(row.name)) for row in rows}
    return {name: its for name, its in found.items() if its}


def change_cell(its):
    if its is None:
        return ""
    noise = "" if its.noise is None else " (%.0f)" % (100 * its.noise)
    return ("%.2f%s %s" % (its.cost, noise, its.verdict)).rstrip()


def table(rows, mpis, samples, problems, floors):
    """(heading, lines of cells); the verdict is a line's last cell."""
    peers = [mpi.name for mpi in mpis if not mpi.ours]
    compares = any(mpi.name == BEFORE for mpi in mpis)
    heading = ["row", "unit", "floor"] + ["%s (+-%%)" % mpi.name for mpi in mpis] + \
        ["cost / before (+-%)"] * compares + ["cost / best peer", "budget", ""]
    lines = []
    medians = {mpi.name: {name: statistics.median(got) for name, got in samples[mpi.name].items() if got}
               for mpi in mpis}
    since = changes(rows, samples)
    for row in rows:
        cells = [row.name, row.unit, number(floors.get(row.floor)) if row.floor else ""]
        for mpi in mpis:
            value = medians[mpi.name].get(row.name)
            cells.append(problems[mpi.name].get(row.name, "-")[:30] if value is None else
                         "%s (%.0f)" % (number(value), spread(samples[mpi.name][row.name])))
        cells += [change_cell(since.get(row.name))] * compares
        best = [medians[p][row.name] for p in peers if row.name in medians[p]]
        cost, allowed, verdict = verdict_on(
            row, medians, (max(best) if row.rate else min(best)) if best else None, floors)
        lines.append(cells + [cost, allowed, verdict])
    return heading, lines
