# SPDX-License-Identifier: BSD-3-Clause
"""What a run prints, and the file in results/ that keeps it."""
import collections
import datetime
import os
import platform
import re
import subprocess

from distance import by_distance
from peers import BEFORE
from places import RESULTS, ROOT
from table import CHANGE_MIN, changes, number, table

# A floor that moved by more than this factor says that the machine was not quiet.
FLOOR_MOVES_MAX = 1.5


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"model name\s*: (.*)", f.read())
    return found.group(1) if found else platform.machine()


def machine():
    return "%s, %d processors, Linux %s" % (processor(), len(os.sched_getaffinity(0)), platform.release())


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--match", ""],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() or "unknown"


def aligned(heading, lines):
    widths = [max(len(line[i]) for line in [heading] + lines) for i in range(len(heading))]
    return ["  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()
            for cells in [heading] + lines]


def markdown(heading, lines):
    return ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)] + \
        ["| " + " | ".join(cells) + " |" for cells in lines]


class Report:
    """The table of a run, with what has to be known to read it: `above` it and `below` it."""

    def __init__(self, mpis, rows, found, load, rounds):
        floors, ends = found.floor_median(), found.floor_ends()
        rows, kept, told, distances, left_out = by_distance(rows, found.samples, found.problems, floors)
        self.heading, self.lines = table(rows, mpis, kept, told, floors)
        self.above = ["%s; %s; load %.1f at the start; %d rounds, medians, +- half the range" %
                      (datetime.date.today(), machine(), load, rounds)]
        self.tell_floor(found.floor_median(), ends, len(distances) > 1)
        self.tell_distances(distances, left_out)
        self.below = []
        self.tell_problems(mpis, found.problems)
        if any(mpi.name == BEFORE for mpi in mpis):
            self.tell_changes(changes(rows, kept))
        verdicts = collections.Counter(line[-1] for line in self.lines)
        self.below.append("%d rows, %d over budget, %d over one that the bare machine does not meet" %
                          (len(self.lines), verdicts["over"], verdicts["floor"]))

    def tell_floor(self, floors, ends, split):
        self.above.append("floor, median (least to most): " + ", ".join(
            "%s %s (%s to %s)" % (name, *map(number, (floors[name], *ends[name]))) for name in ends))
        shifting = ("meet", "tell", *(("line", "post") if split else ()))
        if any(most > FLOOR_MOVES_MAX * least for name, (least, most) in ends.items()
               if not name.startswith(shifting)):
            self.above.append("The machine was not quiet: the floor moved by more than half. Measure again.")

    def tell_distances(self, distances, left_out):
        if len(distances) > 1:
            self.above.append("A cache line took now %s us between two ranks' processors: their rows are shown "
                              "for each." % ", now ".join("%.2g" % line for line in distances))
        if left_out:
            self.above.append("%d values left out: the processors' distance changed meanwhile, or was a rare "
                              "one." % left_out)

    def tell_problems(self, mpis, problems):
        for mpi in mpis:
            for why in dict.fromkeys(problems[mpi.name].values()):
                names = [name for name, its in problems[mpi.name].items() if its == why]
                more = " and %d more" % (len(names) - 3) if len(names) > 3 else ""
                self.below.append("%s, %s%s: %s" % (mpi.name, ", ".join(names[:3]), more, why))

    def tell_changes(self, since):
        for verdict in ("slower", "faster"):
            names = [name for name, its in since.items() if its.verdict == verdict]
            self.below.append("%d of %d rows %s than before by more than %.0f %% beyond their noise%s" %
                              (len(names), len(since), verdict, 100 * CHANGE_MIN,
                               ": " + "; ".join(names) if names else ""))

    def text(self, as_markdown):
        rows = (markdown if as_markdown else aligned)(self.heading, self.lines)
        return "\n".join([*self.above, "", *rows, "", *self.below])

    def save(self, words):
        """Writes a new file in results/ and returns its path; `words` are the options of the run."""
        today = datetime.date.today()
        text = ["# Table of %s, %s" % (today, machine()), "",
                "Raw output of `test/bench/run%s` at commit %s. It is never edited." %
                ("".join(" " + word for word in words), commit()), "",
                *("- " + line for line in self.above), "",
                *markdown(self.heading, self.lines), "",
                *("- " + line for line in self.below), ""]
        os.makedirs(RESULTS, exist_ok=True)
        path = new_file(str(today))
        with open(path, "x", encoding="utf-8") as f:
            f.write("\n".join(text))
        return path


def new_file(day):
    """DAY-processor.md, or with a number behind where there is one of that day already."""
    plain = re.sub(r"\((R|TM)\)|\b(Processor|CPU)\b", "", processor())
    name = day + "-" + re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    for suffix in ["", *("-%d" % count for count in range(2, 100))]:
        path = os.path.join(RESULTS, name + suffix + ".md")
        if not os.path.exists(path):
            return path
    raise OSError("%s has a hundred tables of this day" % RESULTS)
