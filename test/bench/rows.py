# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the table: what each one measures, and what it is held against.

To add a row, add a `Row` to the function of its group. all_rows() is the table from top to bottom.
"""
import copy

# Ways of measuring in which ranks are not bound to a processor each.
UNBOUND = ("free", "beside", "hosts", "shaped")

# Units of rows that time what happens between two ranks.
MOVING = ("us", "M/s", "GB/s")

KIB, MIB = 1 << 10, 1 << 20


class Row:
    """One line of the table. A cost is better when it is smaller, a rate when it is larger.

    `way` says how the bytes must go: "" leaves that to each MPI, Mpi.ways has the others. Rows that
    share a program, a way and a number of ranks are measured by one start of that program."""

    def __init__(self, name, ranks, what, unit, budget=None, floor=None, way="", limit=None, of=None,
                 alone=False):
        self.name, self.ranks, self.what, self.unit, self.way = name, ranks, what, unit, way
        self.budget = budget  # the largest allowed cost, relative to the best peer
        self.floor = floor    # the line of floor.c that the value is compared with
        self.limit = limit    # the largest allowed value, whatever the peers do: in the unit,
        self.of = of          # or relative to "floor", or to our value in the row of this name
        self.alone = alone    # only Lamina is measured
        self.rate = unit.endswith("/s")
        self.program = ("threads" if what.startswith("threads") else
                        "windows" if what.startswith(("allocate-", "create-")) else
                        "files" if what.startswith("file-") else
                        "spawn" if what.startswith("spawn") else
                        "pack" if ranks == 1 else "measure")
        # Two ranks have a processor each, so the distance between these decides.
        self.bound = ranks == 2 and self.program == "measure" and way not in UNBOUND and unit in MOVING

    def at(self, line):
        """The same row for the values measured while a cache line took `line` microseconds."""
        row = copy.copy(self)
        row.name += ", " + line_name(line)
        if row.floor == "line":
            row.floor = line_name(line)
        if row.of not in (None, "floor"):
            row.of += ", " + line_name(line)
        return row


def line_name(us):
    return "line %.2g" % us


def size_name(size):
    for unit, factor in (("M", MIB), ("K", KIB)):
        if size >= factor and size % factor == 0:
            return "%d%s" % (size // factor, unit)
    return str(size)


def latency_rows():
    budgets = {64 * KIB: 0.9, 4 * MIB: 1.0}
    budgets.update({size: 0.7 for size in (0, 8, 64, KIB, 4 * KIB)})
    floors = {0: "line", 8: "line", KIB: "post:1024", 4 * KIB: "post:4096", 16 * KIB: "post:16384",
              64 * KIB: "copy:65536", MIB: "copy:1048576", 4 * MIB: "copy:4194304"}
    for size in (0, 8, 64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB):
        yield Row("latency " + size_name(size), 2, "latency:%d" % size, "us", budgets.get(size),
                  floors.get(size), limit=1.5 if size == 8 else None, of="floor")
    for name, what in (("any source 8", "any:8"), ("nonblocking 8", "started:8"),
                       ("vector 1K", "vector:1024"), ("unexpected 8", "early:8")):
        yield Row("latency " + name, 2, what, "us", 0.7)
    for size in (16 * KIB, MIB):
        yield Row("latency %s, into a page" % size_name(size), 2, "shifted:%d" % size, "us", 1.0)
    yield Row("latency 8, MULTIPLE", 2, "latency:8", "us", way="multiple", limit=1.1, of="latency 8",
              alone=True)


def rate_rows():
    yield Row("queue 10K", 2, "queue:10000", "us", 1.0, way="queue")
    yield Row("queue 100K", 2, "queue:100000", "us", way="queue", limit=3.0, of="queue 10K", alone=True)
    for size in (256 * KIB, 4 * MIB):
        yield Row("both ways " + size_name(size), 2, "both:%d" % size, "GB/s", 1 / 1.1)
    for size in (8, 64, KIB):
        yield Row("rate " + size_name(size), 2, "rate:%d" % size, "M/s", 1 / 1.5)
    for count in (1, 2, 4, 8):
        yield Row("rate 8, %d threads" % count, 2, "threads:%d" % count, "M/s",
                  0.5 if count == 4 else None, limit=1.0 if count > 1 else None, of="rate 8, 1 threads")


def network_rows():
    """Rows over TCP, between virtual hosts, and of ranks that may not read each other's memory."""
    for size in (8, 64 * KIB, MIB):
        yield Row("tcp latency " + size_name(size), 2, "latency:%d" % size, "us", 1.0,
                  "socket:%d" % size if size < MIB else None, way="tcp")
    for size in (8, 64 * KIB):
        yield Row("hosts latency " + size_name(size), 2, "latency:%d" % size, "us", 1.0,
                  "hosts:%d" % size, way="hosts", limit=1.3, of="floor")
    yield Row("hosts bandwidth 1M", 2, "rate:%d" % MIB, "GB/s", 1.0, way="hosts")
    yield Row("hosts latency 8, 1 Gbit/s", 2, "latency:8", "us", 1.05, way="shaped")
    yield Row("hosts bandwidth 1M, 1 Gbit/s", 2, "rate:%d" % MIB, "GB/s", 1.05, way="shaped")
    yield Row("hosts exchange 1M, 1 Gbit/s", 2, "exchange:%d" % MIB, "us", 1.05, way="shaped")
    yield Row("tcp bandwidth 1M", 2, "rate:%d" % MIB, "GB/s", 1.0, way="tcp")
    for size in (16 * KIB, 64 * KIB, MIB):
        yield Row("copied latency " + size_name(size), 2, "latency:%d" % size, "us", 1.0, way="copied")
    yield Row("copied bandwidth 1M", 2, "rate:%d" % MIB, "GB/s", 1.0, way="copied")


def bandwidth_rows():
    for size in (4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 64 * MIB):
        yield Row("bandwidth " + size_name(size), 2, "rate:%d" % size, "GB/s", 1 / 1.1)


def collective_floor(operation, ranks, size):
    """The line of floor.c for a collective, or None where the bare machine has no such line.

    Short blocks go through memory that all processes share. A bcast waits for its root alone, an
    allreduce is a meeting of all, and the root of a reduce is the only one that waits. Long blocks
    are one copy by the kernel each, which is not the fastest way for an allgather among many."""
    blocks = "%s:%d:%d" % (operation, ranks, size)
    if size <= KIB:
        if ranks not in (8, 16) or operation == "reduce":
            return None
        return {"bcast": "tell:%d:%d" % (ranks, size), "allreduce": "meet:%d" % ranks}.get(operation, blocks)
    if operation == "alltoall" and ranks != 4 or operation == "allgather" and ranks == 2:
        return blocks
    return None


def collective_rows(ranks):
    short_budget = {2: 0.8, 4: None, 8: 0.5, 16: 0.5}[ranks]
    long_budget = {2: 0.8, 4: None, 8: 0.7, 16: 0.7}[ranks]
    yield Row("barrier x%d" % ranks, ranks, "barrier", "us", short_budget,
              "meet:%d" % ranks if ranks in (8, 16) else None)
    for operation in ("bcast", "reduce", "allreduce", "allgather", "alltoall"):
        for size in (8, KIB, 64 * KIB, MIB):
            yield Row("%s %s x%d" % (operation, size_name(size), ranks), ranks,
                      "%s:%d" % (operation, size), "us", short_budget if size <= KIB else long_budget,
                      collective_floor(operation, ranks, size))
    for operation, what in (("bcast", "tell"), ("reduce", "collect")):
        for size in (8, KIB):
            yield Row("%s %s x%d, root 0" % (operation, size_name(size), ranks), ranks,
                      "%s:%d" % (what, size), "us", short_budget)


def rma_rows():
    """Accesses to a window of the other rank, between two bound ranks and between hosts."""
    def rows(kind, names, way=""):
        for name, what, unit, budget, floor in names:
            label = "rma %s%s%s" % ("hosts " if way else "", name, ", created" if kind == "create" else "")
            yield Row(label, 2, "%s-%s" % (kind, what), unit, budget, floor, way=way)

    yield from rows("allocate", [
        ("put 8", "put:8", "us", 0.5, "order"), ("get 8", "get:8", "us", 0.5, "order"),
        ("put 64K", "put:%d" % (64 * KIB), "us", 1.0, "copy:65536"),
        ("put 1M", "put:%d" % MIB, "us", 1.0, None), ("get 1M", "get:%d" % MIB, "us", 1.0, None),
        ("put 1024 pieces of 64", "vector:64", "us", 0.5, None),
        ("get 4M", "get:%d" % (4 * MIB), "us", 1.0, "copy:4194304"),
        ("accumulate 1 double", "accumulate:8", "us", 0.7, "add"),
        ("accumulate 1K doubles", "accumulate:8192", "us", 0.7, None),
        ("accumulate 128K doubles", "accumulate:%d" % MIB, "us", 0.7, None),
        ("fetch_and_op", "fetch:8", "us", 0.5, "add"), ("compare_and_swap", "swap:8", "us", 0.5, "add"),
        ("fetch_and_op by two", "counter:8", "us", 0.5, None),
        ("accumulate 8K doubles by two", "stripes:%d" % (64 * KIB), "us", 0.7, None),
        ("lock, put 8, unlock by two", "contended:8", "us", 0.7, None),
        ("put rate 8", "rate:8", "M/s", 1 / 1.5, None),
        ("lock shared", "shared:0", "us", 0.8, "add"), ("lock, put 8, unlock", "locked:8", "us", 0.8, "add"),
        ("lock_all", "all:0", "us", 0.8, "add"), ("fence", "fence:0", "us", 0.8, "line"),
        ("post, start, put 8, complete, wait", "post:8", "us", 0.7, "line"),
        ("allocate and free 4K", "make:4096", "us", 0.5, None)])
    yield Row("rma lock, put 8, unlock, busy target", 2, "allocate-busy:8", "us", limit=1.2,
              of="rma lock, put 8, unlock", alone=True)
    yield from rows("create", [
        ("put 8", "put:8", "us", 0.8, None), ("get 8", "get:8", "us", 0.8, None),
        ("put 4K", "put:%d" % (4 * KIB), "us", 0.8, None),
        ("put 64K", "put:%d" % (64 * KIB), "us", 0.8, None), ("put 1M", "put:%d" % MIB, "us", 0.8, None),
        ("get 64K", "get:%d" % (64 * KIB), "us", 0.8, "copy:65536"),
        ("get 4M", "get:%d" % (4 * MIB), "us", 0.8, "copy:4194304"),
        ("fetch_and_op", "fetch:8", "us", 1.0, None)])
    yield from rows("allocate", [
        ("put 8", "put:8", "us", 0.9, "hosts:8"), ("get 8", "get:8", "us", 0.9, "hosts:8"),
        ("fetch_and_op", "fetch:8", "us", 0.9, "hosts:8"),
        ("lock, put 8, unlock", "locked:8", "us", 0.9, "hosts:8"), ("fence", "fence:0", "us", 0.9, "hosts:8"),
        ("get 1M", "get:%d" % MIB, "us", 1 / 0.95, None), ("put 1M", "put:%d" % MIB, "us", 1 / 0.95, None)],
        way="hosts")


def file_rows():
    """Access to a file of 16 MiB: by one rank, and by four that have parts of it or take turns in it."""
    for name, what, budget in (("write 8", "write:8", 0.8), ("read 8", "read:8", 0.8),
                               ("write 1M", "write:%d" % MIB, 1.0), ("read 1M", "read:%d" % MIB, 1.0),
                               ("write every other 4", "holes:4", 0.9), ("read every other 4", "holes-read:4", 0.9),
                               ("open and close", "open:0", 0.5)):
        yield Row("file " + name, 1, "file-" + what, "us", budget)
    for name, what, budget in (("write own parts", "own:%d" % MIB, 1.0), ("read own parts", "own-read:%d" % MIB, 1.0),
                               ("write turns of 64", "strided:64", 0.7), ("read turns of 64", "strided-read:64", 0.7),
                               ("write turns of 16K", "strided:%d" % (16 * KIB), 0.7),
                               ("read turns of 16K", "strided-read:%d" % (16 * KIB), 0.7),
                               ("write turns of 64, later", "strided-later:64", 0.7),
                               ("write a million ints", "ints:1000000", 0.5),
                               ("read a million ints", "ints-read:1000000", 0.5),
                               ("open and close", "open:0", 0.5)):
        yield Row("file %s x4" % name, 4, "file-" + what, "us", budget)


def crowd_rows():
    """More ranks than processors."""
    for name, what in (("barrier x64", "barrier"), ("allreduce 8 x64", "allreduce:8")):
        yield Row(name, 64, what, "us", 0.5)
    for ranks in (4, 8, 16, 64):
        yield Row("pairs 8 x%d" % ranks, ranks, "pairs:8", "us", 0.5)
        yield Row("stencil 1K x%d" % ranks, ranks, "stencil:1024", "us", 0.5)
    for ranks in (2, 8):
        yield Row("idle x%d" % ranks, ranks, "idle", "%", limit=1.0)


def pack_rows():
    for layout in ("vector", "wide", "indexed", "indexed_block", "struct", "subarray"):
        for size in (KIB, 64 * KIB, MIB, 16 * MIB):
            for way in ("pack", "unpack"):
                yield Row("%s %s %s" % (way, layout, size_name(size)), 1,
                          "%s-%s:%d" % (way, layout, size), "us", 1.0)


def beside_rows():
    """Two ranks that are not bound, alone and beside a process that never waits."""
    yield Row("stencil 16K x2", 2, "stencil:16384", "us", way="free")
    yield Row("stencil 16K x2, beside", 2, "stencil:16384", "us", way="beside", limit=2.1,
              of="stencil 16K x2")


def memory_rows():
    for ranks in (2, 16, 64):
        yield Row("memory x%d" % ranks, ranks, "memory", "kB", 0.6)
        yield Row("memory, all spoken to, x%d" % ranks, ranks, "spoken", "kB", 0.6)
        if ranks > 2:
            yield Row("memory a peer x%d" % ranks, ranks, "peer", "kB", limit=16)


def start_rows():
    for ranks, budget in ((1, 0.6), (2, 0.6), (16, 1.0), (64, 1.0)):
        yield Row("true x%d" % ranks, ranks, "command:true", "ms", budget, "fork")
    for ranks, budget in ((1, None), (2, 0.4), (16, 0.2), (64, 0.15)):
        yield Row("init x%d" % ranks, ranks, "command:init", "ms", budget)


def spawn_rows():
    """One rank spawns a job and parts with it, as against a bare start of as many."""
    for ranks in (1, 4, 16):
        if ranks == 4:
            yield Row("init x4", 4, "command:init", "ms")
        yield Row("spawn %d" % ranks, 1, "spawn:%d" % ranks, "ms", 0.2 if ranks == 16 else None,
                  limit=1.2, of="init x%d" % ranks)


def all_rows():
    return [*latency_rows(), *rate_rows(), *network_rows(), *bandwidth_rows(),
            *(row for ranks in (2, 4, 8, 16) for row in collective_rows(ranks)),
            *rma_rows(), *file_rows(), *crowd_rows(), *pack_rows(), *beside_rows(), *memory_rows(), *start_rows(),
            *spawn_rows()]
