# SPDX-License-Identifier: BSD-3-Clause
"""Reads the tree, and code apart from its comments and literals, for tidy.py and prose.py."""
import os
import re

CODE = (".cc", ".h", ".c")
SOURCE = CODE + (".py", ".sh", ".bzl")
CPP = (".cc", ".h")


def ignored_names(root):
    """Top-level names that version control leaves out."""
    names = {".git"}
    for name in (".gitignore", ".bazelignore"):
        path = os.path.join(root, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                names.update(line.strip().strip("/") for line in f if not line.startswith("#"))
    return names - {""}


def read_tree(root):
    """path -> text of every text file. Files that are no UTF-8 are left out, as are links."""
    skip = ignored_names(root)
    tree = {}
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        at_top = relative == "."
        folders[:] = sorted(d for d in folders if d != "__pycache__"
                            and not (at_top and (d in skip or d.startswith("bazel-"))))
        for name in sorted(files):
            path = name if at_top else os.path.join(relative, name)
            if (at_top and name in skip) or os.path.islink(os.path.join(root, path)):
                continue
            try:
                with open(os.path.join(root, path), encoding="utf-8", newline="") as f:
                    tree[path] = f.read()
            except (UnicodeDecodeError, OSError):
                continue
    return tree


TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])'
    r"'(?:\\.|[^'\\\n])+'", re.S)


def code_only(text):
    """C or C++ with comments and the insides of literals blanked out; every line keeps its number."""
    def blank(match):
        token = match.group(0)
        kept = token[0] if token[0] in "\"'" else " "
        return kept + re.sub(r"[^\n]", " ", token[1:-1]) + (kept if len(token) > 1 else "")
    return TOKEN.sub(blank, text)


def lines_of(tree, wanted, without=()):
    """(path, line number, line) of files whose name ends so; in code without comments and literals."""
    for path, text in tree.items():
        if not path.endswith(wanted) or path.startswith(tuple(without)):
            continue
        text = code_only(text) if path.endswith(CODE) else text
        for number, line in enumerate(text.split("\n"), 1):
            yield path, number, line


def language(path, text):
    """"code", "python", "shell" or None"""
    first = text.split("\n", 1)[0] if text.startswith("#!") else ""
    if path.endswith(CODE):
        return "code"
    if path.endswith(".py") or "python" in first:
        return "python"
    return "shell" if path.endswith(".sh") or re.search(r"sh\b", first) else None


def is_test(path):
    return path.startswith("test/") or re.search(r"_test\.\w+$", path) is not None


def allowed(tree, path, number, rule):
    """In tests, a line may break `rule` if it or the line above says `tidy: <rule>: <reason>`."""
    lines = tree[path].split("\n")
    near = "\n".join(lines[max(0, number - 2):number])
    return is_test(path) and re.search(r"tidy: %s: \S+" % rule, near) is not None
