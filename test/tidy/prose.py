# SPDX-License-Identifier: BSD-3-Clause
"""Reads the comments and help texts of C and C++ as English, for the rules in tidy.py.

`paragraphs` finds the comments of a file, `bare_numbers` and `fragments_of` look into one paragraph, and
`helps` finds the help of parameters. Sentences are told from fragments by a few words, not by grammar:
what is reported is nearly always wrong, and much that is wrong is not reported.
"""
import re

from reading import TOKEN

# --- finding comments ---------------------------------------------------------------------------

MARKER = re.compile(r"^\s*(?://+|/\*+|\*(?=[\s/]|$))")
DISPLAY = re.compile(r"^ {3,}\S|^ ?\S+(?: \S+)* {3,}\S")  # code, or columns of a table


def paragraphs(text):
    """(first line, prose) of each paragraph of each comment, without markers. What is set apart, code
    and tables, ends a sentence but is not part of any."""
    comments, last = [], None
    for match in TOKEN.finditer(text):
        if not match.group(0).startswith(("//", "/*")):
            continue
        number = text.count("\n", 0, match.start()) + 1
        alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        lines = [MARKER.sub("", line) for line in re.sub(r"\*/$", "", match.group(0)).split("\n")]
        if alone and last and last[0] + len(last[1]) == number and match.group(0)[1] == "/":
            last[1].extend(lines)
        else:
            last = (number, lines)
            comments.append(last)
            if not alone:
                last = None
    for first, lines in comments:
        kept, at = [], first
        for number, line in enumerate(lines + [""], first):
            if line.strip() and not line.strip().startswith("SPDX-"):
                at = at if kept else number
                kept.append(";" if DISPLAY.match(line) else line.strip())
            elif kept:
                yield at, " ".join(kept)
                kept = []


# --- numbers ------------------------------------------------------------------------------------

# Numbers that mean no amount: quoted texts, sources, sections, versions, names, formulas, small indices.
NO_AMOUNT = [
    r"`[^`]*`", r'"[^"]*"', r"(?<!\w)'[^']*'(?!\w)",
    r"\bSource: .*", r"\b(?:Shape|Cost):[^.]*(?:\.\d[^.]*)*\.",
    r"(?i)\b(?:sections?|chapters?|tables?|figures?|pages?|rules?|RFC|version|issues?)"
    r" [A-Z]?\d[\d.]*(?:(?:,| and| to| or|, and) \d[\d.]*)*",
    r"(?:(?<=[\w,()'] )[A-Z][\w+/-]*[A-Za-z]|\b(?:glibc|libpmix|hwloc|kernels?(?: before| after)?)) "
    r"v?\d[\w.]*(?: to \d[\d.]*)?",  # GCC 12, Zen 3, Fortran 2018
    r"\b(?:19|20)\d\d\b",  # years
    r"\b\d+(?:-|\s)bits?\b", r"\b0x[0-9a-fA-F]+\b",
    r"\[[^\]]*\]",  # indices, intervals
    r"\d+(?:\.\.+|:|/)\d+[\d.:/]*",  # ranges, ratios, addresses
    r"\S*[\^*+=<>%]\S*",  # 2^k, n%4
    r"\d[\d.]*\s*[-+*/=<>%]\s*\w+", r"\w+\s*[-+*/=<>%]\s*\d[\d.]*",
    r"\b\d+ [A-Za-z]\b(?![-.])",  # 2 P, 3 n
]
NUMBER = re.compile(r"(?<![\w.,/#-])-?\d+(?:[.,]\d+)*(?![\w-]*[A-Za-z]\d|\w*_)")
UNIT = re.compile(r" ?(?:(?:[kKMG]i?B|[kMG]bit|bytes?|[mun]?s)\b|%)")
NO_AMOUNT = [re.compile(pattern) for pattern in NO_AMOUNT]


def bare_numbers(prose):
    """The amounts in a paragraph of a comment: 3, 64, 0.5, but neither 64-bit nor section 3.5 nor rank 0."""
    for pattern in NO_AMOUNT:
        prose = pattern.sub(" ", prose)
    return [match.group(0) for match in NUMBER.finditer(prose)
            if not re.match(r"-?[012]$|0\d", match.group(0)) or UNIT.match(prose[match.end():])]


# --- fragments ----------------------------------------------------------------------------------

FINITE = ("is are was were has have had does do did can could may might must shall should will would "
          "need makes takes goes gives gets comes holds says sees").split()
# What follows a comma and goes on with the phrase instead of beginning a clause.
NO_CLAUSE = ("and or nor but of in on at by to from for with without as than which who whom whose that "
             "where when while if so not all then each both maybe even because").split()
VERB = r"(?:%s|[a-z]{2,}(?:[^s'\W]s|ed))\b" % "|".join(FINITE)


def has_clause(text):
    """Does a clause of its own follow a comma of `text`: a subject, then a finite verb?"""
    for part in re.split(r", ", text)[1:]:
        words = part.split()
        part = re.sub(r"\b(?:that|which|who) %s" % VERB, " ", part)
        if len(words) > 2 and words[0].lower() not in NO_CLAUSE and re.search(r"\S %s" % VERB, part):
            return True
    return False


def is_fragment(sentence):
    """Does it open like a piece of another sentence, and is there no clause to make it whole?"""
    opening, _, rest = sentence.partition(" ")
    start = re.split(r"[:;](?: |$)", sentence)[0]
    if opening in ("Of", "As", "For"):
        return not has_clause(start)
    if opening in ("Who", "Whom", "Whose"):
        return not sentence.endswith("?")
    if opening == "Whoever":  # one verb is its own, another one makes the sentence
        return len(re.findall(r"(?<!Whoever )\b%s" % VERB, start)) < 1
    if opening == "Nor":
        return re.match(r"(?:%s)\b" % "|".join(FINITE), rest) is None
    if opening == "Likewise":
        return re.match(r"(?:of|for|in|on|with|from|to)\b|$", rest) is not None
    if opening == "That":
        return re.match(r"(?:it|this|the|a|an|they|we|there|no)\b", rest) is not None
    return False


def fragments_of(prose):
    """The sentences of a paragraph that are none."""
    plain = re.sub(r"\([^()]*\)", "", re.sub(r"`[^`]*`|\"[^\"]*\"", "it", prose))
    for sentence in re.split(r"(?<=[.?!;])\s+(?=[A-Z])", plain):
        if is_fragment(sentence.strip()):
            yield sentence.strip()


# --- help texts ---------------------------------------------------------------------------------

LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def helps(text):
    """(line, name, help) of the parameters that are described: the first and the last text of the
    arguments, those beside each other joined."""
    comments = re.sub(r"^\s*//[^\n]*", lambda m: " " * len(m.group(0)), text, flags=re.M)
    for match in re.finditer(r"\bDescribe\(\s*(?=\")", comments):
        depth, end = 1, match.end()
        for token in re.finditer(r'"(?:\\.|[^"\\\n])*"|[()]', comments[match.end():]):
            depth += {"(": 1, ")": -1}.get(token.group(0), 0)
            end = match.end() + token.start()
            if depth == 0:
                break
        arguments = comments[match.end():end]
        last = re.search(r'(?:"(?:\\.|[^"\\\n])*"\s*)+$', arguments)
        words = "".join(LITERAL.findall(last.group(0))) if last else ""
        yield text.count("\n", 0, match.start()) + 1, LITERAL.match(arguments).group(1), words
