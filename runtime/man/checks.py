# SPDX-License-Identifier: BSD-3-Clause
"""Reads off the sources of runtime/api which error classes an MPI function can name.

Each function and macro of the sources is a node with the error classes that its body names and the
other nodes that it mentions; names that are defined several times are one node. What is reachable
from PMPI_X is an upper bound: a branch that X never takes counts as well.
"""
import re

TOKEN = re.compile(r"[A-Za-z_]\w*|[(){};,]|##|::|[^\s\w]")
CLASS = re.compile(r"MPI_(T_)?ERR_[A-Z_]+$")
# These words come before a parenthesis and a brace without being the name of a function.
COLLECTIVE = re.compile(
    r"^COLLECTIVE(?:_WITH)?\((?:int, int, )?(\w+),\s*(\w+),\s*(\w+),(.*?)\)\n(?=PROFILED)",
    re.M | re.S)
WORDS = {"if", "for", "while", "switch", "catch", "sizeof", "decltype", "alignas", "static_assert"}


def stripped(text):
    """Without comments and the contents of strings."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def macros(text):
    """(name, parameters, body) of each macro, and the text without them."""
    joined = text.replace("\\\n", " ")
    found = re.findall(r"^\s*#define (\w+)(?:\(([^)]*)\))?(.*)$", joined, re.M)
    return found, re.sub(r"^\s*#.*$", "", joined, flags=re.M)


def closing(tokens, at, opener, closer):
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == opener) - (tokens[i] == closer)
        if depth == 0:
            return i
    return len(tokens) - 1


def body_after(tokens, at):
    """Where the body of a function begins whose parameters end at `at`, or None."""
    for i in range(at + 1, len(tokens)):
        if tokens[i] == "{":
            return i
        if tokens[i] in ";,)=" and not (tokens[i] in ",)" and ":" in tokens[at + 1:i]):
            return None
    return None


def functions(tokens):
    """(name, is it the file's own, tokens from parameters to end of body) of each function."""
    i, open_braces = 0, []
    while i + 1 < len(tokens):
        if tokens[i] == "{":
            open_braces.append(tokens[i - 1] == "namespace")
        elif tokens[i] == "}" and open_braces:
            open_braces.pop()
        elif re.match(r"[A-Za-z_]", tokens[i]) and tokens[i + 1] == "(" and tokens[i] not in WORDS:
            begin = body_after(tokens, closing(tokens, i + 1, "(", ")"))
            if begin is not None:
                last = closing(tokens, begin, "{", "}")
                yield tokens[i], any(open_braces), tokens[i + 1:last + 1]
                i = last
        i += 1


def mentioned(tokens):
    """The words of `tokens`, without what other rooms define: core::Raise, activity->Start."""
    return {word for i, word in enumerate(tokens) if i < 2 or not (
        tokens[i - 2:i] == ["-", ">"] or
        tokens[i - 1] == "::" and tokens[i - 2] not in ("api", "lamina"))}


class Graph:
    """What each function names, over {name of a file: its text}."""

    def __init__(self, files):
        self.mentions = {}  # (file, or None for what every file sees; name) -> words
        for file, text in files.items():
            self.read(file, stripped(text))

    def read(self, file, text):
        found, rest = macros(text)
        for name, _, body in found:
            self.add(None, name, file, TOKEN.findall(body))
        for name, own, tokens in functions(TOKEN.findall(rest)):
            self.add(file if own else None, name, file, tokens)
        for blocking, nonblocking, persistent, body in COLLECTIVE.findall(rest):
            for name, form in ((blocking, "Run"), (nonblocking, "Start"), (persistent, "Init")):
                for suffix in ("", "_c"):
                    self.add(None, "P" + name + suffix, file, TOKEN.findall(body) +
                             ["CollectiveArguments", "COLLECTIVE_BEGIN", form])

    def add(self, scope, name, file, tokens):
        words = self.mentions.setdefault((scope, name), set())
        words.update((file, word) for word in mentioned(tokens))

    def node(self, file, word):
        """The function that `word` means in `file`."""
        for node in ((file, word), (None, word)):
            if node in self.mentions:
                return node
        return None

    def classes(self, name, beyond=()):
        """The classes that are reachable from `name` without going through one of `beyond`."""
        seen, todo, found = set(), [(None, name)], set()
        while todo:
            node = todo.pop()
            if node in seen or node[1] in beyond:
                continue
            seen.add(node)
            for file, word in self.mentions.get(node, ()):
                if CLASS.match(word):
                    found.add(word)
                elif (next_node := self.node(file, word)) is not None:
                    todo.append(next_node)
        return found
