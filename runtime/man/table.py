# SPDX-License-Identifier: BSD-3-Clause
"""Reads the table of the man pages, table/*.txt. README.md has the format."""
import collections
import os
import re

SPECIAL = ("section", "kind", "errors", "like", "see")
NAME = re.compile(r"(MPI_\w+) - (.+)$")
KEY = re.compile(r"  ([A-Za-z_]\w*): (.*)$")

# `described` maps an argument to what is said about it, and `raised` an error class, where ""
# refers to the vocabulary.
Block = collections.namedtuple(
    "Block", "name line section kind like see described raised text where")
Vocabulary = collections.namedtuple("Vocabulary", "kinds arguments errors")


class Mistake(Exception):
    """The table cannot be read, with the place."""


def error_class(word):
    return word if word.startswith("MPI_") else "MPI_ERR_" + word


def joined(lines):
    """Pairs (line number, line); a line indented by four blanks goes on with the one above."""
    whole = []
    for number, line in lines:
        if line.startswith("    ") and whole and whole[-1][1]:
            whole[-1] = (whole[-1][0], whole[-1][1] + " " + line.strip())
        else:
            whole.append((number, line.rstrip()))
    return whole


def paragraphs(lines):
    text = "\n".join(line.strip() for line in lines).strip("\n")
    return [" ".join(part.split("\n")) for part in re.split(r"\n\n+", text) if part]


def block(path, name, line, lines, number):
    """One function's block: keys, then an empty line, then paragraphs."""
    keys, at = {}, 0
    lines = joined(lines)
    while at < len(lines) and (match := KEY.match(lines[at][1])):
        if match.group(1) in keys:
            raise Mistake("%s:%d: %s is said twice" % (path, lines[at][0], match.group(1)))
        keys[match.group(1)] = match.group(2)
        at += 1
    if at < len(lines) and lines[at][1]:
        raise Mistake("%s:%d: neither 'key: value' nor an empty line" % (path, lines[at][0]))
    special = {word: keys.pop(word, "") for word in SPECIAL}
    raised = {error_class(word): "" for word in special["errors"].split()}
    raised.update((key, keys.pop(key)) for key in list(keys) if key.startswith("MPI_"))
    return Block(name, line, special["section"], special["kind"].split(), special["like"],
                 special["see"].split(), keys, raised, paragraphs(text for _, text in lines[at:]),
                 "%s:%d" % (path, number))


def blocks(path, text):
    """The blocks of one chapter. What stands before the first one is for people."""
    opened = None
    for number, line in enumerate(text.split("\n"), 1):
        match = NAME.match(line)
        if match:
            if opened:
                yield block(path, *opened)
            opened = (match.group(1), match.group(2), [], number)
        elif opened and line and not line.startswith(" "):
            raise Mistake("%s:%d: a block begins with 'MPI_Name - line'" % (path, number))
        elif opened:
            opened[2].append((number, line))
    if opened:
        yield block(path, *opened)


def vocabulary(path, text):
    """What words mean on all pages: three headed lists of 'word: meaning'."""
    lists, current = {}, None
    for number, line in joined(list(enumerate(text.split("\n"), 1))):
        if line.startswith("# "):
            current = lists.setdefault(line[2:], {})
        elif match := KEY.match(line):
            current[match.group(1)] = match.group(2)
        elif line.startswith(" "):
            raise Mistake("%s:%d: not 'word: meaning'" % (path, number))
    return Vocabulary(*(lists[name] for name in ("kinds", "arguments", "errors")))


def inherited(whole, one):
    """The block, with what it has from the one that it is like."""
    if not one.like:
        return one
    if one.like not in whole:
        raise Mistake("%s: like: %s has no block" % (one.where, one.like))
    other = inherited(whole, whole[one.like])
    return one._replace(described={**other.described, **one.described},
                        raised={**other.raised, **one.raised} if one.raised else other.raised,
                        section=one.section or other.section)


def read(paths):
    """(vocabulary, {name: block}) of the files of the table."""
    words, whole = None, {}
    for path in sorted(paths):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if os.path.basename(path) == "vocabulary.txt":
            words = vocabulary(path, text)
            continue
        for one in blocks(path, text):
            if one.name in whole:
                raise Mistake("%s: %s has a block already" % (one.where, one.name))
            whole[one.name] = one
    return words, {name: inherited(whole, one) for name, one in whole.items()}
