#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the man pages of MPI's functions, and of those in Lamina's own headers.

usage: generate.py FOLDER FUNCTIONS.tsv mpi.h TABLE.txt... EXAMPLE.c... HEADER.h...

A page goes to FOLDER/NAME.3. The names that share it, NAME_c and those with P in front, are pages
that name it, as man(1) has it.
"""
import csv
import os
import re
import sys

import header_page
import page
import table


def functions(table_path, header_path):
    """{name: row} of the functions of the standard ABI, with their parameters as mpi.h has them."""
    with open(header_path, encoding="utf-8") as file:
        prototypes = dict(re.findall(r"^\w+ (P?MPI_\w+)\((.*)\);$", file.read(), re.M))
    with open(table_path, encoding="utf-8") as file:
        return {row["name"]: {**row, "shown": prototypes[row["name"]]}
                for row in csv.DictReader(file, delimiter="\t")}


def main_name(name, rows):
    """The function on whose page `name` is."""
    return name[:-2] if name.endswith("_c") and name[:-2] in rows else name


def example(path):
    """(function, text): a program without the lines that its page need not show."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return os.path.basename(path)[:-2], re.sub(r"^// SPDX.*\n", "", text)


def pages(rows, files):
    """(file, text) of all pages."""
    words, blocks = table.read([path for path in files if path.endswith(".txt")])
    examples = dict(example(path) for path in files if path.endswith(".c"))
    for name in rows:
        shown = main_name(name, rows)
        if shown == name:
            yield name, page.Page(blocks[name], rows, words, examples.get(name)).text()
        else:
            yield name, ".so man3/%s.3\n" % shown
        yield "P" + name, ".so man3/%s.3\n" % shown
    for path in files:
        if path.endswith(".h"):
            yield from header_page.pages(path)


def main():
    folder, functions_tsv, header, *files = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, text in pages(functions(functions_tsv, header), files):
        with open(os.path.join(folder, name + ".3"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
