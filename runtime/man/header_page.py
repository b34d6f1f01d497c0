# SPDX-License-Identifier: BSD-3-Clause
"""Writes the man page of a header of Lamina's own, which says itself what its functions do."""
import os
import re

import page

ATTRIBUTE = r"\s*__attribute__\(\(\w+(?:, \w+)*\)\);"
LINES = {"checkpoint": "have the state of a program saved and brought back",
         "region": "name the parts of a program for its profile",
         "sr": "send and receive for run-time systems of languages"}
OTHERS = {"checkpoint": ["lamina\\-checkpoint", "lamina\\-restart"], "region": ["lamina\\-profile"], "sr": []}


def uncommented(text):
    """The lines of a comment, without its marks and its margin."""
    lines = text.strip().removeprefix("/*").removesuffix("*/").rstrip().split("\n")
    return [line[3:] if line.startswith("   ") else line.strip() for line in lines]


def running(lines):
    """Paragraphs of a comment; lines that are indented are shown as they are."""
    pieces = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        inside = paragraph.split("\n")
        if all(line.startswith("  ") for line in inside):
            pieces.append(page.literal(inside))
        else:
            pieces.append(page.prose(" ".join(line.strip() for line in inside)) + "\n")
    return ".PP\n".join(pieces)


class HeaderPage:
    """The page of lamina/STEM.h: what it says at its top, its functions, and its types."""

    def __init__(self, path):
        self.stem = os.path.basename(path)[:-2]
        self.name = "lamina_" + self.stem
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.top = uncommented(re.search(r"^/\* SPDX[^\n]*\n(/\*.*?\*/)", text, re.S).group(1))
        inside = text.split('extern "C" {\n#endif\n')[1].split("#ifdef __cplusplus\n}")[0]
        self.functions, self.types = [], []  # (names, prototypes, lines of the comment); text
        for block in inside.strip().split("\n\n"):
            comment = re.match(r"(/\*.*?\*/)\n|", block, re.S).group(0)
            declared = block[len(comment):]
            names = re.findall(r"\b(\w+)\([^()]*\)" + ATTRIBUTE, declared)
            if names:
                shown = re.sub(ATTRIBUTE, ";", declared).split("\n")
                self.functions.append((names, shown, uncommented(comment)))
            else:
                self.types.append(block)

    def names(self):
        return [name for names, _, _ in self.functions for name in names]

    def text(self):
        pieces = ['.\\" Written by runtime/man/generate.py from lamina/%s.h.\n' % self.stem,
                  '.TH %s 3 "" Lamina ""\n.nh\n.ad l\n' % self.name,
                  ".SH NAME\n%s \\- %s\n" % (", ".join(self.names()), LINES[self.stem]),
                  ".SH SYNOPSIS\n", page.literal(["#include <lamina/%s.h>" % self.stem, "",
                                                  *(line for _, shown, _ in self.functions
                                                    for line in shown)]),
                  ".SH DESCRIPTION\n", running(self.top)]
        for names, _, comment in self.functions:
            pieces += [".SS %s\n" % ", ".join(names), running(comment)]
        if self.types:
            pieces += [".SH TYPES\n", page.literal("\n\n".join(self.types).split("\n"))]
        others = ["mpiexec", "lamina", *OTHERS[self.stem]]
        return "".join(pieces) + ".SH SEE ALSO\n" + ",\n".join("\\fB%s\\fR(1)" % other for other in others) + "\n"


def pages(path):
    """(file, text) of the page, and of those that name it."""
    its = HeaderPage(path)
    yield its.name, its.text()
    for name in its.names():
        if name != its.name:
            yield name, ".so man3/%s.3\n" % its.name
