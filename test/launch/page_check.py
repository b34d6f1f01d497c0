#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""page_check.py PROFILE RANKS: is what a browser shows of PROFILE.html what PROFILE.json and the files
counted.RANK of message_counter.c say? Prints what is not; ends with 3 where there is no browser that works."""

import collections
import json
import os
import sys
import tempfile

import page


def main():
    name, ranks = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        missing = page.why_not(folder)
        if missing:
            print(missing)
            return 3
        shown = page.Page(page.browse("file://" + os.path.abspath(name + ".html"), folder).stdout)
    with open(name + ".json", encoding="utf-8") as file:
        profile = json.load(file)
    faults = [] if json.loads(shown.data) == profile else ["the page has other numbers than the file"]

    def expect(what, found, wanted):
        if found != wanted:
            faults.append("%s: %s instead of %s" % (what, found, wanted))

    calls, sent = collections.Counter(), {}
    for rank in range(ranks):
        with open("counted.%d" % rank, encoding="ascii") as file:
            for kind, *numbers in map(str.split, file):
                if kind == "to":
                    if int(numbers[1]) > 0:
                        sent[rank, int(numbers[0])] = (int(numbers[1]), int(numbers[2]))
                else:
                    calls[kind] += int(numbers[0])
                    its = profile["ranks"][rank]["functions"].get(kind, {"calls": 0})
                    expect("rank %d, %s" % (rank, kind), its["calls"], int(numbers[0]))
    functions = {row["function"]: row for row in shown.rows("functions")}
    for function, number in calls.items():
        if number > 0:
            expect(function, functions[function]["calls"], str(number))
        else:
            expect(function, function in functions, False)
    expect("messages", {(cell[0], cell[1]): (cell[2], cell[3]) for cell in profile["matrix"]["cells"] if cell[2]},
           sent)
    for row in shown.rows("ranks"):
        rank = int(row["rank"])
        expect("bytes of rank %d" % rank, row["bytes sent"],
               str(sum(counts["sent_bytes"] for counts in profile["ranks"][rank]["functions"].values())))
    expect("functions that were counted", sum(1 for number in calls.values() if number) > 5, True)
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
