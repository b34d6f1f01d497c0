# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs and collects what they print: MPIs taking turns, the bare machine in between."""
import os
import signal
import statistics
import subprocess
import sys

from places import HERE, WORK
from peers import end_leftovers
from virtual_hosts import Hosts, Surroundings

# Some MPIs hang and some take 100 ms a call, so every command has a limit.
MEASURE_SECONDS_MAX = 90
START_SECONDS_MAX = 20

# Rows of two bound ranks get several turns a round, so that each distance of processors is met.
BOUND_TURNS = 3


class Sample:
    """A value, and what a cache line took before and after it; 0 where that is of no interest."""

    def __init__(self, value, before=0, after=0):
        self.value, self.lines = value, [line for line in (before, after) if line]


def call(words, folder, seconds_max):
    """Runs a command and returns (why, output): why it failed or "hung", or "" if it went well."""
    environment = dict(os.environ, OMPI_MCA_btl_base_warn_component_unused="0")
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env=environment)
    try:
        out, err = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        out, err = process.communicate()
        end_leftovers(folder)
        return "hung", out
    if process.returncode != 0:
        end_leftovers(folder)
        return (err.strip().splitlines() or ["status %d" % process.returncode])[-1], out
    return "", out


def refusal(mpi, row):
    """Why this MPI cannot measure the row, or None."""
    if row.program not in mpi.programs:
        return "cannot be built"
    if row.way in Hosts.WAYS and row.way not in mpi.ways:
        return "not across hosts"
    return None


def measure_together(mpi, rows, seconds, values, problems):
    """Measures rows that one start of one program can measure."""
    first = rows[0]
    why_not = refusal(mpi, first)
    if why_not:
        problems.update({row.name: why_not for row in rows})
        return
    asked = list(dict.fromkeys(row.what for row in rows))
    # Rows about memory come first, before others have used any.
    early = [word for word in ("memory", "spoken", "peer") if word in asked]
    asked = early + [word for word in asked if word not in early]
    program = (Hosts.PIN if first.way in Hosts.WAYS else []) + [mpi.program(first.program), str(seconds)]
    if first.way == "multiple":
        program.append("multiple")
    found, whys, in_vain = {}, {}, 0
    with Surroundings(first.way):
        while asked and in_vain < 2:
            why, out = call(mpi.user + mpi.command(first.ranks, program + asked, first.way), mpi.folder,
                            MEASURE_SECONDS_MAX)
            got = {said[0]: said[1:] for said in map(str.split, out.splitlines()) if len(said) in (2, 4)}
            found.update(got)
            left = [word for word in asked if word not in got]
            whys.update(dict.fromkeys(left, why or "no value"))
            in_vain = 0 if got else in_vain + 1
            # The program ended in the first row without a value. The rows after it get another start,
            # but for those about memory, which need the ones before them.
            asked = [word for word in left[1:] if word not in early] if why else []
    for row in rows:
        if row.what in found:
            values[row.name] = sample_of(row, found[row.what])
        else:
            problems[row.name] = whys[row.what]


def sample_of(row, words):
    value, *lines = map(float, words)
    if row.unit == "GB/s":
        value *= int(row.what.split(":")[1]) / 1e9
    elif row.unit == "M/s":
        value /= 1e6
    return Sample(value, *(lines if row.bound else ()))


def measure_command(mpi, row, repeats, values, problems):
    """Times a whole command, from its start to its end."""
    program = ["true"] if row.what == "command:true" else [mpi.program("init")]
    stopwatch = [mpi.program("stopwatch"), str(repeats), str(START_SECONDS_MAX)]
    why, out = call(mpi.user + stopwatch + mpi.command(row.ranks, program), mpi.folder,
                    (START_SECONDS_MAX + 5) * repeats)
    if why:
        problems[row.name] = why
    if out:
        values[row.name] = Sample(statistics.median(map(float, out.split())))


def measure(mpi, rows, seconds, repeats):
    """One turn of one MPI: {row: sample}, and {row: why} of rows that gave no value."""
    values, problems, together = {}, {}, {}
    for row in rows:
        if not row.what.startswith("command:"):
            together.setdefault((row.ranks, row.program, row.way), []).append(row)
    for key in sorted(together):
        measure_together(mpi, together[key], seconds, values, problems)
    for row in rows:
        if row.what.startswith("command:"):
            measure_command(mpi, row, repeats, values, problems)
    return values, problems


def build_floor():
    subprocess.run(["cc", "-O2", "-pthread", "-o", os.path.join(WORK, "floor"),
                    os.path.join(HERE, "floor.c")], check=True)


def floor(rows):
    """{line: value} of what the machine itself takes, for the lines that these rows are held against."""
    lines = {"line"} | {row.floor for row in rows if row.floor}
    across = {line for line in lines if line.startswith("hosts:")}
    asked = [sorted(lines - across)] + ([Hosts.between() + sorted(across)] if across and Hosts.up else [])
    out = "".join(subprocess.run([os.path.join(WORK, "floor")] + words, check=True, stdout=subprocess.PIPE,
                                 text=True).stdout for words in asked)
    values = {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}
    return {line: value for line, value in values.items() if value >= 0}


def start_hosts(rows):
    """Starts the virtual hosts if a row needs them. Returns why not, or ""."""
    if not any(row.way in Hosts.WAYS for row in rows):
        return ""
    try:
        Hosts.start()
    except (OSError, subprocess.SubprocessError) as why:
        return "no virtual hosts: %s" % why
    return ""


def known_problems(mpi, rows, no_hosts):
    """{row: why} for the rows that this MPI will not be asked."""
    why = mpi.start()
    problems = {row.name: why for row in rows} if why else {}
    problems.update({row.name: "not asked" for row in rows if row.alone and not mpi.ours})
    if no_hosts:
        problems.update({row.name: no_hosts for row in rows if row.way in Hosts.WAYS})
    return problems


class Measured:
    """All that a run has found: samples and problems by MPI and row, the floor once a round."""

    def __init__(self, mpis):
        self.samples = {mpi.name: {} for mpi in mpis}
        self.problems = {mpi.name: {} for mpi in mpis}
        self.floors = []

    def take_turn(self, mpi, rows, seconds, repeats):
        # An MPI that hung in a row is not asked again: it would hang in every round.
        left = [row for row in rows if row.name not in self.problems[mpi.name]]
        values, failed = measure(mpi, left, seconds, repeats)
        self.problems[mpi.name].update(failed)
        for name, value in values.items():
            self.samples[mpi.name].setdefault(name, []).append(value)

    def floor_median(self):
        return {name: statistics.median(got[name] for got in self.floors) for name in self.floors[0]}

    def floor_ends(self):
        return {name: (min(got[name] for got in self.floors), max(got[name] for got in self.floors))
                for name in self.floors[0]}


def take_turns(mpis, rows, options):
    """Lets the MPIs take turns within every round, so that a change of the machine hits all of them."""
    found = Measured(mpis)
    no_hosts = start_hosts(rows)
    found.floors.append(floor(rows))
    for mpi in mpis:
        found.problems[mpi.name].update(known_problems(mpi, rows, no_hosts))
    for turn in range(options.rounds * BOUND_TURNS):
        asked = [row for row in rows if row.bound or turn % BOUND_TURNS == 0]
        for mpi in mpis[turn % len(mpis):] + mpis[:turn % len(mpis)]:
            print("round %d of %d: %s" % (turn // BOUND_TURNS + 1, options.rounds, mpi.name), file=sys.stderr)
            found.take_turn(mpi, asked, options.seconds, options.repeats)
        if turn % BOUND_TURNS == BOUND_TURNS - 1:
            found.floors.append(floor(rows))
    for mpi in mpis:
        mpi.stop()
    Hosts.stop()
    return found
