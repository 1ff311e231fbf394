"""Where the sentences of a scientific text begin and end, in code points.

Rules, not a model: a full stop ends a sentence unless what stands around it says otherwise (abbreviation, initial,
number, formula, bracket). Written for abstracts in English; CJK, Arabic and Devanagari full stops are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.long_sentences import split_long, strip_span

_NEVER = frozenset(
    (
        "e.g i.e eg ie cf vs viz approx ca resp fig figs eq eqs eqn eqns sect sects thm thms lem algs chap chaps "
        "appx vol vols pp dr mr mrs ms mx prof w.r.t s.t v.s a.k.a aka esp incl excl i.i.d iid"
    ).split()
)
"""Abbreviations (without the last full stop, lower case) that something always follows."""

_SOMETIMES = frozenset(
    (
        "al etc inc ltd co corp jr sr u.s u.k u.n u.s.a e.u ph.d m.sc b.sc d.c a.m p.m a.i n.b p.s est dept univ "
        "no nos app tab tabs prop props ref refs def defs ch sec secs st mt alg"
    ).split()
)
"""Abbreviations that may end a sentence: they do before a word that usually begins one."""

_STARTERS = frozenset(
    (
        "a additionally after all although among an and another as at based because before besides both building "
        "but by central code compared concretely consequently contrary conversely crucially current currently "
        "despite due during each empirical empirically especially evaluated evaluation evaluations even existing "
        "experimental experiments extensive finally first firstly following for from further furthermore given "
        "hence here how however if importantly in indeed inspired instead interestingly it its key last lastly "
        "leveraging many meanwhile more moreover most motivated nevertheless next nonetheless notably numerical "
        "numerous of on once one only our overall particularly previous prior recent recently results second "
        "secondly several similarly since so some specifically studies such surprisingly that the their then "
        "theoretically there thereby therefore these they third this those though through thus to together towards "
        "traditional two typically ultimately under unfortunately unlike using various we what when whereas "
        "whether which while with within without yet"
    ).split()
)
"""Words that usually begin a sentence when they are capitalised after a full stop."""

_STOP = re.compile(
    r"""
    (?: [.!?…]+ (?: ["'”’»)\]}*_`]+ | \$(?=\s|\Z) )*      # full stops, and the quotes and brackets they close
        (?: \[\d[\d,;\s–-]*\] )?                            # a citation mark set after the stop
      | [。！？｡．।॥؟۔]+ ["”’」』）】》)\]]*
    )
    """,
    re.VERBOSE,
)
_PARAGRAPH = re.compile(r"(?:\r(?!\n)|\r?\n)[^\S\r\n]*(?:(?:\r(?!\n)|\r?\n)\s*|(?=[-•*‣▪–]\s|\(?\d{1,2}[.)]\s))")
_WORD_BEFORE = re.compile(r"[^\W_]+(?:[.’'&-][^\W_]+)*\Z")
_OPENING = re.compile(r"""["'“‘«(\[{*_`¿¡\s]*""")
_WORD_AFTER = re.compile(r"[^\W\d_]+")
_ENUMERATOR = re.compile(r"(?:\A|[\n:;]\s*|[.]\s+|\s)\(?(?:\d{1,2}|[ivx]{1,4}|[a-hA-H])\Z")
_LABEL_AFTER = re.compile(r"\s+\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])\)\s")
_GLUED = re.compile(r"[^\W\d_]{3,}[)\]]?\Z")
_MATH = re.compile(
    r"\$\$[^$]{1,600}\$\$|\$(?=[^\s$])(?:\\.|[^$\\]){0,400}?(?<=\S)\$(?!\d)|\$\s(?=[^$]*[\\^_=<>])[^$]{1,120}\s\$"
    r"|\\\(.{1,400}?\\\)|\\\[.{1,600}?\\\]|\\begin\{(\w+\*?)\}.{0,900}?\\end\{\1\}",
    re.DOTALL,
)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"”]+[^\s<>\"”.,;:!?)\]}*'’]")
_BRACKETS = {")": "(", "]": "[", "}": "{", "）": "（", "】": "【"}
_BRACKET = re.compile(r"[()\[\]{}（）【】]")
_BRACKETED_MAX_CHARS = 400


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Half-open code point ranges of the sentences of a text, in order, for any text.

    No two overlap, none is blank or begins or ends with white space, none is longer than 1000 characters, and
    every character that is no white space lies in one. Formulas, links and text in brackets are never cut unless
    a stretch without any other place to cut is longer than that.
    """
    closed = _closed(text)
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*_ends(text, closed), len(text)):
        span = strip_span(text, start, end)
        start = max(start, end)
        if span is None:
            continue
        if spans and not any(char.isalnum() for char in text[span[0] : span[1]]):
            spans[-1] = (spans[-1][0], span[1])  # a stray quote or ellipsis belongs to the sentence before it
        else:
            spans.append(span)
    return [piece for span in spans for piece in split_long(text, span, closed)]


def _ends(text: str, closed: bytearray) -> Iterator[int]:
    ends = {match.end() for match in _PARAGRAPH.finditer(text)}
    for match in _STOP.finditer(text):
        inside = closed[match.start()] and closed[match.end() - 1]  # else the bracket closes with the sentence
        if not inside and _ends_sentence(text, match):
            ends.add(match.end())
    return iter(sorted(ends))


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    after = text[stop.end() : stop.end() + 60]
    if not after.strip():
        return True
    if stop[0][0] in "。！？｡．।॥؟۔":
        return True
    before = text[max(0, stop.start() - 40) : stop.start()]
    following = after[_opening(after) :]
    word = found[0] if (found := _WORD_AFTER.match(following)) else ""
    if not after[0].isspace():
        return _is_glued(before, stop[0], after, word)
    if _begins_sentence(before, after, word):
        return not _is_label(before, stop[0])
    if stop[0].startswith(".") and not stop[0].startswith(".."):
        return _full_stop_ends(before, stop[0], following, word)
    return not word or not word.islower()


def _opening(after: str) -> int:
    found = _OPENING.match(after)
    return found.end() if found else 0


def _begins_sentence(before: str, after: str, word: str) -> bool:
    """Whether what follows is a list's label or a word that usually begins a sentence, in spite of the stop's word."""
    found = _WORD_BEFORE.search(before)
    last = found[0] if found else ""
    if _is_in(last, _NEVER):
        return False
    if _is_in(last, _SOMETIMES) and (word == "A" or not word):
        return False  # "Sec. A", "No. 5"
    return bool(_LABEL_AFTER.match(after)) or (word.lower() in _STARTERS and word[0].isupper())


def _is_in(word: str, abbreviations: frozenset[str]) -> bool:
    """Whether a word is one of the abbreviations, in lower case or with a capital: "CF" is none, "Cf" is."""
    return word.lower() in abbreviations and (not word.isupper() or "." in word or len(word) == 1)


def _is_label(before: str, stop: str) -> bool:
    """Whether the stop follows the number or letter of a list's item, as in "1. We show"."""
    found = _ENUMERATOR.search(before) if stop == "." else None
    if not found:
        return False
    label = found[0].lstrip("\n:;. \t")
    lead = before[: found.start()].rstrip()
    abbreviated = _WORD_BEFORE.search(lead.rstrip("."))
    if abbreviated and _is_in(abbreviated[0], _NEVER | _SOMETIMES):
        return False  # "Ref. 3."
    return not lead or lead[-1] in ":;.\n" or found[0][0] in ":;.\n" or label.startswith("(")


def _full_stop_ends(before: str, stop: str, following: str, word: str) -> bool:
    """Decide on a single full stop before white space and a word that doesn't usually begin a sentence."""
    found = _WORD_BEFORE.search(before)
    last = found[0] if found else ""
    if _is_in(last, _NEVER) or _is_in(last, _SOMETIMES) or _is_label(before, stop):
        return False
    if stop == "." and len(last) == 1 and last.isupper():
        return False  # an initial
    if not word:
        numbers = bool(re.search(r"(?<!\d)\d{1,3}\Z", before)) and following[:1].isdigit()
        return not numbers and following[:1] not in ",;:)]}&%"
    if word.islower():
        # a name like "iVideoGPT" or "pFedMe" may begin a sentence; so may a word after careless typing
        name = re.match(r"[a-z]+[A-Z0-9]", following) is not None
        return name or (len(last) > 3 and last.islower() and word in _STARTERS - {"a", "of", "to", "as", "and"})
    return True


def _is_glued(before: str, stop: str, after: str, word: str) -> bool:
    """Whether a blank was forgotten, as in "good results.We propose"."""
    if stop[0] not in ".!?" or after[0] != word[:1] or not word[0].isupper():
        return False
    follows = after[len(word) : len(word) + 1]
    return word.lower() in _STARTERS and follows in (" ", ",", "\u00a0") and bool(_GLUED.search(before))


def _closed(text: str) -> bytearray:
    """1 for each character inside a formula, a link or brackets, where no sentence ends."""
    closed = bytearray(len(text))
    for pattern in (_MATH, _URL):
        for match in pattern.finditer(text):
            end = match.end()
            if pattern is _MATH and re.search(r"[.!?]\s*\$+\Z", match[0]):
                end = match.end() - 1 - len(match[0]) + len(match[0].rstrip("$").rstrip())
            closed[match.start() : end] = b"\x01" * (end - match.start())
    opened: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text):
        if closed[match.start()]:
            continue
        if match[0] not in _BRACKETS:
            opened.append((match[0], match.start()))
        elif opened and (opened[-1][0] == _BRACKETS[match[0]] or match.start() - opened[-1][1] <= 20):
            start = opened.pop()[1]
            if match.start() - start <= _BRACKETED_MAX_CHARS:
                closed[start : match.start()] = b"\x01" * (match.start() - start)
    return closed
