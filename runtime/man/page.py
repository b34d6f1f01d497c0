# SPDX-License-Identifier: BSD-3-Clause
"""Writes one man page: what the table says about a function, with its prototypes."""
import re
import textwrap

import binding
import modules

WIDTH = 72
TIED = "\x01"  # a blank at which no line may end
HANDLER = ("An error goes to an error handler (see MPI_%s_set_errhandler(3)), which %s unless you "
           "have set another one. Lamina checks the call and raises these classes:")
LATER = "What goes wrong later is raised by the call that completes the request."
CODES = "An error handler is never called. The function returns MPI_SUCCESS or one of these codes:"
LARGE = ("%s does the same with counts of type MPI_Count or MPI_Aint, for more than 2147483647 "
         "elements.")
HARMLESS = "The function has no errors of its own."


class Mpi(modules.Mpi):
    """As mpif.h and module mpi have it, in the way books write it."""

    def declare(self, p):
        if p.kind in ("buffer", "detached"):
            return "<type> :: %s(*)" % p.name
        return super().declare(p)


def escaped(text):
    """As running text of man: no hyphens, and no line that looks like a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def prose(text):
    """Running text: functions of MPI in bold, `words` in italics."""
    text = escaped(text)
    text = re.sub(r"`([^`]+)`", r"\\fI\1\\fR", text)
    return re.sub(r"\b(P?MPI_(?:T_)?[A-Z]?[a-z]\w*|mpiexec)(\([13]\))?",
                  lambda m: "\\fB%s\\fR%s" % (m.group(1), m.group(2) or ""), text)


def literal(lines):
    return ".nf\n%s\n.fi\n" % "\n".join(escaped(line) for line in lines)


def folded(start, parts, end):
    """`start` and `parts` with commas between them, in lines of WIDTH with whole parts."""
    tied = [part.replace(" ", TIED) for part in [start, *parts]]
    lines = textwrap.wrap("%s %s%s" % (tied[0], ", ".join(tied[1:]), end), WIDTH,
                          subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("( ", "(", 1).replace(TIED, " ") for line in lines]


def c_prototype(row):
    return folded("%s %s(" % (row["returns"], row["name"]), row["shown"].split(", "), ");")


def fortran_prototype(name, interface):
    """The lines of a procedure: its name and arguments, then the declarations."""
    lines = [line.strip() for line in interface.text().split("\n")]
    names = [p.name for p in interface.visible]
    names += ["ierror"] * any(line.endswith(":: ierror") for line in lines)
    returns = re.match(r".* (?=function)|", lines[0]).group(0)
    shown = folded(returns + name + "(", names, ")")
    for declared in together(lines[lines.index("import") + 1:]):
        shown += textwrap.wrap(declared, WIDTH, initial_indent="    ", subsequent_indent="        ",
                               break_long_words=False)
    return shown


def together(declarations):
    """Names that are declared alike share a line."""
    groups = {}
    for line in declarations:
        how, separator, name = line.partition(" :: ")
        if separator:
            groups.setdefault(how, []).append(name)
    return ["%s :: %s" % (how, ", ".join(names)) for how, names in groups.items()]


def intents(row):
    """{name: in, out or inout} of the parameters of C, where the table says nothing else."""
    found = {}
    for text in row["parameters"].split(", "):
        if text not in ("void", "..."):
            name = re.search(r"(\w+)(\[\d*\])*$", text).group(1)
            found[name] = binding.parameter(row["name"], text).intent
    return found


class Page:
    """Everything that is known of one function, by the sources that generate.py has read."""

    def __init__(self, block, rows, words, example):
        self.block, self.words, self.example = block, words, example
        self.row, self.large = rows[block.name], rows.get(block.name + "_c")
        self.intents = {}
        for row in filter(None, (self.row, self.large)):
            self.intents.update(intents(row))

    def text(self):
        # TH's date stays empty, so that a page is the same whenever it is built.
        return "".join([
            '.\\" Written by runtime/man/generate.py from %s.\n' % self.block.where.split(":")[0],
            '.TH %s 3 "" Lamina "MPI 5.0"\n.nh\n.ad l\n' % self.block.name,
            ".SH NAME\n%s \\- %s\n" % (self.block.name, escaped(self.block.line)),
            ".SH SYNOPSIS\n", self.synopsis(),
            ".SH DESCRIPTION\n", self.description(),
            self.arguments(), ".SH ERRORS\n", self.errors(), self.shown_example(),
            ".SH STANDARD\n", self.standard(), ".SH SEE ALSO\n", self.see(),
        ])

    def synopsis(self):
        pieces = ["C, with mpi.h:\n", literal(c_prototype(self.row))]
        if self.large:
            pieces.append(literal(c_prototype(self.large)))
        for title, lines in self.fortran():
            pieces += [".PP\n%s:\n" % title, literal(lines)]
        return "".join(pieces)

    def fortran(self):
        """(title, lines) of the Fortran prototypes that there are."""
        rows = [self.row] + ([self.large] if self.large else [])
        found = [function for row in rows for function in binding.seen_from_fortran(row)]
        if not found:
            return
        first, name = found[0], found[0].name
        if not first.old:
            lines = [line for body in modules.f08_bodies(*found) for line in fortran_prototype(
                body.function.name if modules.needs_own_name(body.function) else name, body)]
            yield "Fortran, with use mpi_f08", lines
        yield "Fortran, with use mpi or mpif.h", fortran_prototype(name, Mpi(first, name))

    def description(self):
        said = [*self.block.text,
                " ".join(self.words.kinds[kind] for kind in self.block.kind),
                LARGE % self.large["name"] if self.large else ""]
        return ".PP\n".join(prose(paragraph) + "\n" for paragraph in said if paragraph)

    def described(self, name):
        """(direction, meaning) of an argument; the meaning is None if the table has none."""
        said = self.block.described.get(name) or self.words.arguments.get(name)
        intent = self.intents[name]
        if said and (match := re.match(r"\((in|out|inout)\) ", said)):
            return match.group(1), said[match.end():]
        return intent, said

    def arguments(self):
        if not self.intents:
            return ""
        pieces = [".SH ARGUMENTS\n"]
        for name in self.intents:
            intent, said = self.described(name)
            pieces.append(".TP\n\\fI%s\\fR (%s)\n%s\n" % (escaped(name), intent, prose(said or "")))
        return "".join(pieces)

    def handling(self):
        """What becomes of an error."""
        if self.block.name.startswith("MPI_T_"):
            return CODES
        objects = [kind for kind in ("File", "Comm", "Win", "Session")
                   if "MPI_%s " % kind in self.row["parameters"]] + ["Comm"]
        return HANDLER % (objects[0], "returns it" if objects[0] == "File" else "ends the job")

    def errors(self):
        if not self.block.raised:
            return HARMLESS + "\n"
        pieces = [prose(self.handling()) + "\n"]
        for name, said in sorted(self.block.raised.items()):
            pieces.append(".TP\n%s\n%s\n" % (name, prose(said or self.words.errors[name])))
        if {"nonblocking", "persistent"} & set(self.block.kind):
            pieces.append(".PP\n%s\n" % LATER)
        return "".join(pieces)

    def shown_example(self):
        if not self.example:
            return ""
        return ".SH EXAMPLE\n" + literal(self.example.rstrip("\n").split("\n"))

    def standard(self):
        chapter = "section" if "." in self.block.section else "chapter"
        text = "MPI 5.0, %s %s.\n" % (chapter, self.block.section)
        if since := self.row["deprecated_since"]:
            text += escaped("The function is deprecated since %s.\n" % since)
        return text

    def see(self):
        return ",\n".join("\\fB%s\\fR(3)" % name for name in self.block.see) + "\n"
