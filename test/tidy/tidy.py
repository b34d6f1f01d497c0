#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The repository reads itself: rules that a compiler cannot hold.

usage: tidy.py [ROOT]       (default: the tree this file is in)

Prints `path:line: rule: what is wrong` for each finding and exits 1 if there is one. Also prints the
ten longest files and functions, which fails nobody. README.md explains the rules; each is a function
below, from a tree (a dict of path to text) to findings, and has samples in tidy_test.py.
"""
import collections
import fnmatch
import os
import re
import sys

Finding = collections.namedtuple("Finding", "path line message")

CODE = (".cc", ".h", ".c")
SOURCE = CODE + (".py", ".sh", ".bzl")
CPP = (".cc", ".h")


# --- reading ------------------------------------------------------------------------------------

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


# --- rules on lines -----------------------------------------------------------------------------

def environment(tree):
    """Only runtime/base reads the process environment; everybody else is handed a snapshot."""
    word = re.compile(r"\b(?:secure_)?getenv\s*\(|\benviron\b")
    for path, number, line in lines_of(tree, CODE, without=["runtime/base/", "test/"]):
        if word.search(line):
            yield Finding(path, number, "reads the environment; use lamina::Environment")


def output(tree):
    """Libraries do not print: they log. Command-line tools (what has a main) and tests may."""
    word = re.compile(r"\b(?:v?printf|puts|putchar|perror)\s*\(|\bv?fprintf\s*\(|"
                      r"\bfputs\s*\(|\bstd::(?:cout|cerr|clog)\b")
    for path, number, line in lines_of(tree, CODE, without=["launcher/", "test/"]):
        if word.search(line) and not is_test(path) and "int main(" not in tree[path]:
            yield Finding(path, number, "prints; use runtime/base/log.h")


def sleeping(tree):
    """Nothing sleeps for a time: it waits for what it needs. Tests may, if they say why."""
    words = {
        "code": re.compile(r"\b(?:u?sleep|nanosleep|clock_nanosleep|sleep_for|sleep_until)\s*\("),
        "python": re.compile(r"^[^#]*\btime\.sleep\s*\("),
        "shell": re.compile(r"^(?:[^#]*(?:;|&&|\|\||\bdo\b|\bthen\b))?\s*sleep\s+[0-9.$]"),
    }
    for path, number, line in lines_of(tree, ""):
        word = words.get(language(path, tree[path]))
        if word and word.search(line) and not allowed(tree, path, number, "sleep"):
            yield Finding(path, number, "sleeps; wait for the event, or in a test say why with "
                          "`tidy: sleep: reason`")


def volatility(tree):
    """The qualifier is no tool for threads; atomics are. Inline assembly may be so qualified."""
    word = re.compile(r"(?<!asm )(?<!asm__ )\b(?:__)?vola" + r"tile(?:__)?\b")
    for path, number, line in lines_of(tree, CODE, without=["runtime/include/"]):
        if word.search(line) and not allowed(tree, path, number, "vola" + "tile"):
            yield Finding(path, number, "use std::atomic")


def promises(tree):
    """What is left to do has an issue."""
    word = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!\(#[0-9]+\): \S)")
    for path, text in tree.items():
        if path.endswith(SOURCE) or os.path.basename(path) == "BUILD":
            for number, line in enumerate(text.split("\n"), 1):
                if word.search(line):
                    yield Finding(path, number, "write TO" + "DO(#issue): what is missing")


def licence(tree):
    """One line at the top says under which licence a source file is."""
    for path, text in tree.items():
        if path.endswith(SOURCE) or text.startswith("#!"):
            if "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(text.split("\n")[:3]):
                yield Finding(path, 1, "no SPDX-License-Identifier: BSD-3-Clause in the first lines")


def blanks(tree):
    """No tabs, no blanks at the end of a line, no carriage returns, a newline at the end."""
    for path, text in tree.items():
        if not path.endswith(SOURCE + (".md", ".lds")) and os.path.basename(path) != "BUILD":
            continue
        if text and not text.endswith("\n"):
            yield Finding(path, text.count("\n") + 1, "no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            if "\t" in line:
                yield Finding(path, number, "a tab")
            if line != line.rstrip():
                yield Finding(path, number, "blanks at the end of the line")


def columns(tree):
    """100 columns in code; between `clang-format off` and `on` a table may be wider."""
    for path, text in tree.items():
        if not path.endswith(CODE) or path == "runtime/include/mpi.h":
            continue
        table = False
        for number, line in enumerate(text.split("\n"), 1):
            table = (table or "clang-format off" in line) and "clang-format on" not in line
            if len(line) > 100 and not table:
                yield Finding(path, number, "%d columns, at most 100" % len(line))


def using(tree):
    """Names come with their namespace."""
    for path, number, line in lines_of(tree, CPP):
        if re.search(r"\busing\s+namespace\b", line):
            yield Finding(path, number, "no using-directives")


def guards(tree):
    """Headers are read once. One that C reads too may have the old kind of guard."""
    for path, text in tree.items():
        if not path.endswith(".h") or re.search(r"^#pragma once$", text, re.M):
            continue
        shared = 'extern "C"' in text or path.startswith("test/")
        if shared and re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M):
            continue
        yield Finding(path, 1, "no #pragma once")


def machine(tree):
    """The tree knows nothing of the machine it was written on."""
    word = re.compile(r"(?<![\w.])/(?:wo" + r"rk|ro" + r"ot)/|/tmp/b" + r"z\b")
    for path, text in tree.items():
        for number, line in enumerate(text.split("\n"), 1):
            if word.search(line):
                yield Finding(path, number, "names a path of somebody's machine")


# --- rules on the architecture ------------------------------------------------------------------

CONCRETE_TRANSPORT = r"transports/(?!conformance/)\w+/"
CONCRETE_COLLECTIVE = r"collectives/(?!call/|pieces/|exec/|select/|conformance/)\w+/"
CONCRETE_SPAWNER = r"launcher/spawn/\w+/"

# (who, must not include, except who, why). Tests may name any component: they are assemblies.
ARROWS = [
    (r"runtime/base/", r"(?!runtime/base/)", None, "base knows nobody"),
    (r"runtime/component/", r"(?!runtime/(base|component)/)", None, "component knows base only"),
    (r"runtime/memory/", r"(?!runtime/(base|memory)/)", None, "memory knows base only"),
    (r"transports/", r"(?!runtime/(base|component|memory)/|transports/)", None,
     "a transport knows base, component, memory and transport.h"),
    (r"transports/", r"runtime/(p2p|core)/", None, "a transport sees the road, not the house"),
    (r"collectives/", r"transports/", None, "a collective never names a transport"),
    (r"runtime/p2p/", CONCRETE_TRANSPORT, None, "p2p knows transport.h only"),
    (r"runtime/", CONCRETE_TRANSPORT, r"runtime/assembly/", "only assembly names components"),
    (r"runtime/", CONCRETE_COLLECTIVE, r"runtime/assembly/", "only assembly names components"),
    (r"(runtime|transports|collectives|checkpoint)/", r"launcher/", None,
     "the library knows no launcher"),
    (r"launcher/", r"runtime/(?!base/|component/|bootstrap/|include/)", None,
     "the launcher shares base, component and the card with the library"),
    (r"launcher/", r"(transports|collectives)/", None, "the launcher moves no messages"),
    (r"launcher/", CONCRETE_SPAWNER, r"launcher/main\.cc", "only main.cc names components"),
    (r"(runtime|transports|collectives|checkpoint|launcher)/", r"test/", None,
     "nothing shipped needs test/"),
]


def arrows(tree):
    """Dependencies point one way (STYLE S1)."""
    include = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
    for path, text in tree.items():
        if not path.endswith(CPP) or path.startswith("test/"):
            continue
        own = os.path.dirname(path) + "/"
        for number, line in enumerate(text.split("\n"), 1):
            match = include.match(line)
            if not match or match.group(1).startswith(own):
                continue
            for who, whom, but, why in ARROWS:
                concrete = whom in (CONCRETE_TRANSPORT, CONCRETE_COLLECTIVE, CONCRETE_SPAWNER)
                if not re.match(who, path) or not re.match(whom, match.group(1)):
                    continue
                if (but and re.match(but, path)) or (concrete and is_test(path)):
                    continue
                yield Finding(path, number, "includes %s: %s" % (match.group(1), why))
                break


def siblings(tree):
    """One transport, spawner or checkpoint engine never includes another."""
    include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
    folder = re.compile(r"(transports|launcher/spawn|checkpoint)/(\w+)/")
    for path, text in tree.items():
        mine = folder.match(path)
        if not mine or not path.endswith(CPP) or mine.group(2) == "conformance":
            continue
        for match in include.finditer(text):
            other = folder.match(match.group(1))
            shared = other and other.group(2) in ("conformance", "store")
            if other and other.group(1) == mine.group(1) and other.group(2) != mine.group(2) \
                    and not shared and not is_test(path):
                yield Finding(path, text.count("\n", 0, match.start()) + 1,
                              "includes another component, %s" % match.group(1))


TOP = {
    "README.md", "CONTRIBUTING.md", "LICENSE", "WORKSPACE", "BUILD", ".bazelrc", ".bazelignore",
    ".gitignore", ".clang-format", ".clang-tidy", ".ci", "launcher", "runtime", "transports",
    "collectives", "checkpoint", "test", "third_party",
}


def top(tree):
    """The top of the tree is the map of the house (DESIGN section 3)."""
    for name in sorted({path.split("/")[0] for path in tree} - TOP):
        yield Finding(name, 1, "no such room in the house")


def readmes(tree):
    """Every folder with code says what it is for, or its parent's README does, naming it `folder/`."""
    folders = {os.path.dirname(path) for path in tree if path.endswith(CODE)}
    for folder in sorted(folders - {""}):
        parent = tree.get(os.path.dirname(folder) + "/README.md", "")
        if "`" + os.path.basename(folder) + "/`" in parent:
            continue
        if folder + "/README.md" not in tree:
            yield Finding(folder, 1, "no README.md")


def package_of(tree, path):
    """(folder of the nearest BUILD file upwards, name of `path` within it)"""
    folder = os.path.dirname(path)
    while True:
        prefix = folder + "/" if folder else ""
        if prefix + "BUILD" in tree:
            return prefix, path[len(prefix):]
        if not folder:
            return None, path
        folder = os.path.dirname(folder)


def orphans(tree):
    """Every source file is named in the BUILD file of its package."""
    for path in tree:
        if not path.endswith(CODE):
            continue
        package, name = package_of(tree, path)
        build = re.sub(r"#[^\n]*", "", tree[package + "BUILD"]) if package is not None else ""
        patterns = [p for group in re.findall(r"glob\(\s*\[(.*?)\]", build, re.S)
                    for p in re.findall(r'"([^"]+)"', group)]
        named = re.search(r'"(?::)?%s"' % re.escape(name), build) is not None
        if not named and not any(fnmatch.fnmatch(name, p.replace("**/", "*")) for p in patterns):
            yield Finding(path, 1, "named in no BUILD file")


def names(tree):
    """Files are nouns; there is no drawer for the rest."""
    drawer = re.compile(r"(?:^|/)(?:utils?|common|misc|helpers?)(?:\.\w+|_test\.\w+|/)")
    for path in tree:
        if path.endswith(CODE) and drawer.search(path):
            yield Finding(path, 1, "say what it is")


def twice(tree):
    """An MPI function is defined once. A weak twin in another file would not stop the linker."""
    body = re.compile(r"\b(P?MPI_[A-Z]\w*)\s*\((?:[^;{}()]|\([^;{}()]*\))*\)\s*(?:noexcept\s*)?\{")
    macro = re.compile(r"^([A-Z][A-Z0-9_]*)\((MPI_[A-Z][a-z]\w*)", re.M)
    seen = {}
    for path, text in sorted(tree.items()):
        if not path.startswith("runtime/") or not path.endswith((".cc", ".c")) or is_test(path):
            continue
        code = code_only(text)
        found = [(m.group(1), m.start()) for m in body.finditer(code)]
        for m in macro.finditer(code):
            found.append((m.group(2) if m.group(1) == "PROFILED" else "P" + m.group(2), m.start()))
        for name, offset in sorted(found, key=lambda f: f[1]):
            number = code.count("\n", 0, offset) + 1
            if name in seen:
                yield Finding(path, number, "%s is defined already at %s" % (name, seen[name]))
            seen.setdefault(name, "%s:%d" % (path, number))


FUNCTIONS = "test/mpi/abi/functions.tsv"
INFALLIBLE = "test/mpi/abi/infallible.tsv"
# Chapters whose functions are made by the dozen from one description, or are still to come.
NOT_SINGLE = {"collective", "neighbor-collective", "rma", "io", "dynamic"}


def expected_to_fail(text):
    """The MPI functions that a C program calls for an error: named in a statement, or in a table
    that such a statement uses, that looks at an error class, itself or through a macro."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S).replace("\\\n", " ")
    words = ["_ERR_", r"\bClassOf\("]
    words += [r"\b%s\(" % macro for macro in
              re.findall(r"^# *define +(\w+)\([^\n]*(?:_ERR_|ClassOf\()", text, re.M)]
    wrong = re.compile("|".join(words))
    statements = "\n".join(s for s in re.split(r";|\n(?=#)", text) if wrong.search(s))
    for table, names_there in re.findall(r"(\w+)\[\] = \{([^{}]*)\}", text):
        if re.search(r"\b%s\[" % table, statements):
            statements += "\n" + names_there
    return set(re.findall(r"\bP?(MPI_[A-Z][a-z]\w*|MPI_T_\w*[a-z]\w*)", statements))


def mistakes(tree):
    """Each MPI function that is written is made to fail by a test, or it is said why it cannot."""
    written = set()
    tested = {}
    for path, text in sorted(tree.items()):
        if path.startswith("runtime/api/") and path.endswith(".cc"):
            written.update(re.findall(r"^PROFILED\((MPI_\w+)\);", text, re.M))
        if path.startswith("test/mpi/") and path.endswith((".c", ".h")):
            for name in expected_to_fail(text):
                tested.setdefault(name, path)
    infallible = {}
    for number, line in enumerate(tree.get(INFALLIBLE, "").splitlines()[1:], 2):
        name, _, why = line.partition("\t")
        infallible[name] = number
        if name not in written or not why:
            yield Finding(INFALLIBLE, number, "%s is not written, or has no reason" % name)
        if name in tested:
            yield Finding(INFALLIBLE, number, "%s is made to fail in %s" % (name, tested[name]))
    for number, line in enumerate(tree.get(FUNCTIONS, "").splitlines()[1:], 2):
        columns = line.split("\t")
        if columns[0] in written and columns[3] not in NOT_SINGLE and \
                columns[0] not in tested and columns[0] not in infallible:
            yield Finding(FUNCTIONS, number, "no test makes %s fail" % columns[0])


RULES = [environment, output, sleeping, volatility, promises, licence, blanks, columns, using,
         guards, machine, arrows, siblings, top, readmes, orphans, names, twice, mistakes]


# --- sizes, for information ---------------------------------------------------------------------

ACCESS = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)*")


def functions(text):
    """(name, first line, lines) of the function bodies in C or C++; a sketch of a parser."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  code_only(text), flags=re.M)
    stack, header = [], 0  # an entry: None for namespaces and classes, else (name, offset)
    for match in re.finditer(r"[{};]", code):
        character, offset = match.group(0), match.start()
        inside = any(stack)
        if character == "{":
            header += ACCESS.match(code[header:offset]).end()
            head = code[header:offset].strip()
            scope = re.search(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()]*$", head)
            call = re.search(r"([~\w:]+|operator\S+)\s*\(", head)
            body = call and not inside and not scope and not head.endswith("=")
            stack.append((call.group(1), header) if body else None)
        elif character == "}" and stack:
            opened = stack.pop()
            if opened:
                first = code.count("\n", 0, opened[1]) + 1
                yield opened[0], first, code.count("\n", 0, offset) + 2 - first
        header = offset + 1


def longest(tree):
    files = sorted(((text.count("\n"), path) for path, text in tree.items()
                    if path.endswith(CODE) and path != "runtime/include/mpi.h"), reverse=True)
    bodies = sorted(((count, "%s:%d" % (path, first), name) for path, text in tree.items()
                     if path.endswith(CODE) and path != "runtime/include/mpi.h"
                     for name, first, count in functions(text)), reverse=True)
    return files[:10], bodies[:10]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else \
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    if not os.path.exists(os.path.join(root, "WORKSPACE")):
        print("tidy: %s is no tree of lamina: it has no WORKSPACE" % root)
        return 2
    tree = read_tree(root)
    code = [text for path, text in tree.items() if path.endswith(CODE)]
    print("tidy: %d files, %d of them code with %d lines" %
          (len(tree), len(code), sum(text.count("\n") for text in code)))
    files, bodies = longest(tree)
    print("\nlongest files:")
    for count, path in files:
        print("  %5d  %s" % (count, path))
    print("\nlongest functions:")
    for count, place, name in bodies:
        print("  %5d  %s  %s" % (count, name, place))
    print()
    count = 0
    for rule in RULES:
        for path, line, message in sorted(rule(tree)):
            print("%s:%d: %s: %s" % (path, line, rule.__name__, message))
            count += 1
    print("tidy: %d findings" % count)
    return 1 if count or not code else 0


if __name__ == "__main__":
    sys.exit(main())
