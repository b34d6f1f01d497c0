#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The repository reads itself: rules that a compiler cannot hold.

usage: tidy.py [--only RULE[,RULE]] [--under PATH] [--includes] [ROOT]

Prints `path:line: rule: what is wrong` for each finding and exits 1 if there is one. Also prints the
ten longest files and functions, which fails nobody. README.md explains the rules; each is a function
below, from a tree (a dict of path to text) to findings, and has samples in tidy_test.py.

--only RULE[,RULE]   these rules alone
--under PATH         only findings in this folder or file
--includes           prints which folder includes which, and the circles among them; holds no rule
ROOT                 the tree to read (default: the one that this file is in)
"""
import argparse
import collections
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing of ours stays in the tree
import prose  # noqa: E402
from reading import (CODE, CPP, SOURCE, allowed, code_only, is_test,  # noqa: E402
                     language, lines_of, read_tree)

Finding = collections.namedtuple("Finding", "path line message")

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

SHIPPED = r"(?:launcher|runtime|transports|collectives|checkpoint)/"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)

CONCRETE_TRANSPORT = r"transports/(?!conformance/)\w+/"
CONCRETE_COLLECTIVE = r"collectives/(?!call/|pieces/|exec/|select/|conformance/)\w+/"
COLLECTIVE_COMPONENT = r"collectives/(board|hierarchical|plugin)/"  # as opposed to basic's operations
BASIC = r"collectives/basic/"
CONCRETE_SPAWNER = r"launcher/spawn/\w+/"
CONCRETE_ENGINE = r"checkpoint/(?!store/|conformance/)\w+/"
CONCRETE = (CONCRETE_TRANSPORT, CONCRETE_COLLECTIVE, COLLECTIVE_COMPONENT, BASIC, CONCRETE_SPAWNER,
            CONCRETE_ENGINE)

# (who, must not include, except who, why). Tests may name any component: they are assemblies.
ARROWS = [
    (r"runtime/base/", r"(?!runtime/base/)", None, "base knows nobody"),
    (r"runtime/component/", r"(?!runtime/(base|component)/)", None, "component knows base only"),
    (r"runtime/memory/", r"(?!runtime/(base|memory)/)", None, "memory knows base only"),
    (r"transports/", r"(?!runtime/(base|component|memory)/|transports/)", None,
     "a transport knows base, component, memory and transport.h"),
    (r"transports/", r"runtime/(p2p|core)/", None, "a transport sees the road, not the house"),
    (r"collectives/", r"transports/", None, "a collective never names a transport"),
    (r"collectives/", COLLECTIVE_COMPONENT, None, "only assembly names components"),
    (r"collectives/", BASIC, r"collectives/hierarchical/inner\.cc",
     "only assembly names components, and hierarchical's stages are algorithms of basic"),
    (r"runtime/p2p/", CONCRETE_TRANSPORT, None, "p2p knows transport.h only"),
    (r"runtime/", CONCRETE_TRANSPORT, r"runtime/assembly/", "only assembly names components"),
    (r"runtime/", CONCRETE_COLLECTIVE, r"runtime/assembly/", "only assembly names components"),
    (r"checkpoint/", r"(?!runtime/(base|component)/|checkpoint/)", None,
     "a checkpoint engine knows base and component"),
    (r"(runtime|transports|collectives)/", r"checkpoint/", None, "only the launcher saves processes"),
    (r"(runtime|transports|collectives|checkpoint)/", r"launcher/", None,
     "the library knows no launcher"),
    (r"launcher/", r"runtime/(?!base/|component/|bootstrap/|include/)", None,
     "the launcher shares base, component and the card with the library"),
    (r"launcher/", r"(transports|collectives)/", None, "the launcher moves no messages"),
    (r"launcher/", CONCRETE_SPAWNER, r"launcher/main\.cc", "only main.cc names components"),
    (r"launcher/", CONCRETE_ENGINE, r"launcher/main\.cc", "only main.cc names components"),
    (r"(runtime|transports|collectives|checkpoint|launcher)/", r"test/", None,
     "nothing shipped needs test/"),
]


def arrows(tree):
    """Dependencies point one way (STYLE S1)."""
    for path, text in tree.items():
        if not path.endswith(CPP) or path.startswith("test/"):
            continue
        own = os.path.dirname(path) + "/"
        for number, line in enumerate(text.split("\n"), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1).startswith(own):
                continue
            for who, whom, but, why in ARROWS:
                if not re.match(who, path) or not re.match(whom, match.group(1)):
                    continue
                test = is_test(path) or "/conformance/" in path
                if (but and re.match(but, path)) or (whom in CONCRETE and test):
                    continue
                yield Finding(path, number, "includes %s: %s" % (match.group(1), why))
                break


def folder_graph(tree):
    """{folder: {folder it includes from: [(path, line), ...]}} of what is shipped"""
    graph = collections.defaultdict(lambda: collections.defaultdict(list))
    for path, text in tree.items():
        if not path.endswith(CPP) or not re.match(SHIPPED, path) or is_test(path) \
                or re.search(r"/(?:conformance|testing)/", path):
            continue
        for match in INCLUDE.finditer(text):
            folder, other = os.path.dirname(path), os.path.dirname(match.group(1))
            if folder != other and re.match(SHIPPED, match.group(1)):
                place = (path, text.count("\n", 0, match.start(1)) + 1)
                graph[folder][other].append(place)
    return graph


def circles_of(graph):
    """The sets of folders each of which includes, perhaps through others, all others of its set."""
    reached = {}
    for folder in graph:
        reached[folder], todo = set(), list(graph[folder])
        while todo:
            other = todo.pop()
            if other not in reached[folder]:
                reached[folder].add(other)
                todo.extend(graph.get(other, ()))
    return {frozenset(other for other in reached[folder] if folder in reached.get(other, ()))
            for folder in graph if folder in reached[folder]}


def circles(tree):
    """No folder includes, perhaps through others, what includes it."""
    graph = folder_graph(tree)
    for circle in circles_of(graph):
        for folder in circle:
            for other in circle & set(graph[folder]):
                path, number = graph[folder][other][0]
                yield Finding(path, number, "%s includes %s, which leads back (%d such lines)" %
                              (folder, other, len(graph[folder][other])))


def siblings(tree):
    """One transport, spawner or checkpoint engine never includes another."""
    folder = re.compile(r"(transports|launcher/spawn|checkpoint)/(\w+)/")
    for path, text in tree.items():
        mine = folder.match(path)
        if not mine or not path.endswith(CPP) or mine.group(2) == "conformance":
            continue
        for match in INCLUDE.finditer(text):
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


# --- rules on language --------------------------------------------------------------------------

def pages(tree):
    """A README is read in one go: 120 lines. The one at the top is the manual and may be longer."""
    for path, text in tree.items():
        if path.endswith("/README.md") and text.count("\n") > 120:
            yield Finding(path, 121, "%d lines, at most 120" % text.count("\n"))


def numbers(tree):
    """A comment is no table of measurements: at most two bare numbers in a paragraph. A test may name
    the data that it makes."""
    for path, text in tree.items():
        if path.endswith(CODE) and not is_test(path):
            for number, paragraph in prose.paragraphs(text):
                bare = prose.bare_numbers(paragraph)
                if len(bare) > 2:
                    yield Finding(path, number, "%d numbers in a comment, at most two: %s" %
                                  (len(bare), ", ".join(bare)))


def fragments(tree):
    """Comments are sentences: none opens like a piece of another one."""
    for path, text in tree.items():
        if path.endswith(CODE):
            for number, paragraph in prose.paragraphs(text):
                for fragment in prose.fragments_of(paragraph):
                    yield Finding(path, number, "no sentence: " + fragment[:60])


def help_texts(tree):
    """What a parameter does, when to raise it and what that costs goes into 200 characters."""
    for path, text in tree.items():
        if path.endswith(CPP) and not is_test(path):
            for number, name, words in prose.helps(text):
                if len(words) > 200:
                    yield Finding(path, number, "the help of %s has %d characters, at most 200" %
                                  (name, len(words)))


def formatting(tree):
    """C++ is laid out by clang-format, with the .clang-format of the tree."""
    paths = [path for path in tree if path.endswith(CPP) and path != "runtime/include/mpi.h"]
    if not paths:
        return
    with tempfile.TemporaryDirectory() as copy:
        for path in paths + [".clang-format"]:
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            with open(os.path.join(copy, path), "w", encoding="utf-8", newline="") as f:
                f.write(tree.get(path, ""))
        command = ["xargs", "-P2", "-n40", "clang-format", "--style=file", "--dry-run"]
        try:
            subprocess.run(["clang-format", "--version"], check=True, stdout=subprocess.DEVNULL)
            told = subprocess.run(command, input="\n".join(paths), cwd=copy, text=True,
                                  stderr=subprocess.PIPE, check=True).stderr
        except (OSError, subprocess.CalledProcessError) as error:
            yield Finding(".clang-format", 1, "%s: third_party/install check" % error)
            return
    first = {}
    for path, number in re.findall(r"^(\S+?):(\d+):\d+: warning: ", told, re.M):
        first[path] = min(first.get(path, int(number)), int(number))
    for path, number in first.items():
        yield Finding(path, number, "is not as `clang-format -i` lays it out")


RULES = [environment, output, sleeping, volatility, promises, licence, blanks, columns, using,
         guards, machine, arrows, circles, siblings, top, readmes, orphans, names, twice, mistakes,
         pages, numbers, fragments, help_texts, formatting]


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


def print_sizes(tree):
    code = {path: text for path, text in tree.items() if path.endswith(CODE)}
    print("tidy: %d files, %d of them code with %d lines" %
          (len(tree), len(code), sum(text.count("\n") for text in code.values())))
    code.pop("runtime/include/mpi.h", None)
    print("\nlongest files:")
    for count, path in sorted(((t.count("\n"), p) for p, t in code.items()), reverse=True)[:10]:
        print("  %5d  %s" % (count, path))
    print("\nlongest functions:")
    for count, place, name in sorted(
            ((count, "%s:%d" % (path, first), name) for path, text in code.items()
             for name, first, count in functions(text)), reverse=True)[:10]:
        print("  %5d  %s  %s" % (count, name, place))
    print()


def print_includes(tree):
    graph = folder_graph(tree)
    for folder in sorted(graph):
        print("%s: %s" % (folder, " ".join(sorted(graph[folder]))))
    found = circles_of(graph)
    for circle in sorted(map(sorted, found)):
        print("circle: " + " ".join(circle))
    print("tidy: %d folders, %d circles" % (len(graph), len(found)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--only", default=",".join(rule.__name__ for rule in RULES))
    parser.add_argument("--under", default="")
    parser.add_argument("--includes", action="store_true")
    parser.add_argument("root", nargs="?", default=os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.realpath(__file__)))))
    options = parser.parse_args()
    only = options.only.split(",")
    unknown = set(only) - {rule.__name__ for rule in RULES}
    if unknown:
        parser.error("no rule " + ", ".join(unknown))
    if not os.path.exists(os.path.join(options.root, "WORKSPACE")):
        print("tidy: %s is no tree of lamina: it has no WORKSPACE" % options.root)
        return 2
    tree = read_tree(options.root)
    if options.includes:
        print_includes(tree)
        return 0
    if not options.under:
        print_sizes(tree)
    count = 0
    for rule in RULES:
        for path, line, message in sorted(rule(tree) if rule.__name__ in only else ()):
            if (path + "/").startswith(options.under.rstrip("/") + "/") or not options.under:
                print("%s:%d: %s: %s" % (path, line, rule.__name__, message))
                count += 1
    print("tidy: %d findings" % count)
    return 1 if count or not any(path.endswith(CODE) for path in tree) else 0


if __name__ == "__main__":
    sys.exit(main())
