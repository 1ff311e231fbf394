"""What a paper is called where it has no title: the name its abstract gives to its own work, or its opening words.

Rules with precision before recall: a name is taken only from a sentence in which the authors introduce something,
only when no earlier sentence used it, and never invented; where the rules are unsure the opening words stand.
"""

from __future__ import annotations

import re

from rag.abbreviations import GENERIC, expansion_start
from rag.records import Paper
from rag.search_text import search_text
from rag.sentences import sentence_spans

OPENING_WORDS = 8
_OPENING_MAX_CHARS = 90

_HEADS = (
    "method|methods|approach|framework|model|algorithm|architecture|system|strategy|technique|scheme|network|module|"
    "benchmark|dataset|toolkit|library|pipeline|paradigm|procedure|mechanism|estimator|metric|measure|objective|loss|"
    "solution|agent|protocol|tool|platform|suite|simulator|optimizer|regularizer|modification|variant|connections"
)
_SUBJECT = r"\b(?:[Ww]e|[Tt]his (?:paper|work|study|article|thesis|report)|[Oo]ur (?:paper|work|study))\b"
_VERB = re.compile(
    _SUBJECT + r"[^.;]{0,260}?\b(?P<verb>propos(?:e|es|ed)|introduc(?:e|es|ed)|present(?:s|ed)?|develop(?:s|ed)?|"
    r"design(?:s|ed)?|devis(?:e|es|ed)|defin(?:e|es|ed)|offers?|releas(?:e|es|ed)|describ(?:e|es|ed)|contributes?|"
    r"creat(?:e|es|ed)|curate(?:s|d)?|buil(?:d|ds|t)|construct(?:s|ed)?)\s+"
)
_STRONG = (  # a word that no dictionary has: "InfoMax", "CALD", "M4oE", "Ada-K", "3DGS"
    r"(?:[A-Za-z]*[a-z0-9][A-Z]|[A-Z]{2}|[A-Z][A-Za-z]*\d|[a-z]+\d|[A-Z]-|[A-Z][a-z]+-[A-Z0-9]|\d+[A-Z])"
    r"(?:[\w+*/]|-(?!-))*"
)
_CAPITAL = rf"(?:{_STRONG}|[A-Z][\w'-]*\w)"
_SMALL = r"(?:of|for|with|the|in|on|and|via|by|from|under|without|as|to|continuous)"
_NAME = rf"{_CAPITAL}(?:\s+(?:{_SMALL}\s+){{0,2}}{_CAPITAL}){{0,7}}"
_APPOSED = re.compile(
    rf"(?P<quote>[\"']?)(?P<name>{_NAME}|[a-z]+(?:-[a-z]+)+|[a-z]+ [A-Z][a-z]+ [a-z]+)(?P=quote)?"
    r"(?P<end>,?[\"']?(?:,| \()|:)\s*(?P<after>\w+)"
)
_DIRECT = re.compile(
    rf"(?P<name>{_STRONG}(?: {_STRONG})*)\s+(?:to|for|that|which|as|with|by|in|\()|(?P<last>{_STRONG})[.]?\Z"
)
_CALLED = re.compile(
    r"\b(?:called|named|termed|dubbed|coined|nicknamed|christened|entitled|referred to as|denoted(?: as| by)?"
    rf"|abbreviated as)\s+(?:the\s+)?(?:[\"'](?P<quoted>[^\"']{{2,60}}?),?[\"']|(?P<name>{_NAME})"
    r"|(?P<low>[a-z]+-[a-z]+(?: [a-z]+)?)(?=[,.]))"
)
_WE_CALL = re.compile(
    rf"\b(?:{_HEADS}),? (?:that|which) we (?:call|name|term|dub|refer to as|coin) (?:the )?[\"']?(?P<name>{_NAME})"
)
_OUR = re.compile(
    rf"\b(?:[Oo]ur|[Tt]he proposed)\s+(?:(?:new|novel|proposed|main)\s+)?(?:{_HEADS}),?\s+(?P<name>{_NAME})"
)
_HEADED = re.compile(
    rf"(?:an?|the|our)\s+(?:[a-z][\w-]*(?:,| and)?\s+){{0,5}}?(?P<name>{_STRONG}(?: [a-z]+){{0,2}}?) (?:{_HEADS})\b"
)
_NOUN_NAME = re.compile(
    rf"(?:an?|the|our)\s+(?:[a-z][\w-]*(?:,| and)?\s+){{0,6}}?(?:{_HEADS}),?\s+(?P<name>{_NAME})(?=[\s,.:])"
)
_PAREN = re.compile(r"\s?\((?P<abbr>[A-Za-z][\w+-]{1,14})\)")
_LINK = re.compile(
    r"\b(?:of|in|with|using|by|via|on|to|for|that|which|from|based|leveraging|combining|between|where|as|under|like)\b"
)
_APPOSITION = re.compile(
    r"(?:,\s*(?:(?:the|an?|our|namely|i\.e\.,?)\s+)?|\b(?:called|named|termed|dubbed|coined)\s+(?:the\s+)?)\Z"
)
_ACTS = (
    "outperforms|achieves|improves|enables|matches|reduces|leverages|surpasses|uses|utilizes|employs|learns|has|can|"
    "consists|introduces|provides|offers|combines|integrates|yields|demonstrates|exhibits|attains|significantly|"
    "consistently|effectively|efficiently|generates|adapts|delivers|replaces|formulates|transforms|accelerates|does"
)


def label(paper: Paper) -> str:
    """What to call a paper: its title; else the name of its own method; else its opening words with "…".

    One line, empty only where the abstract is. A name comes with its expansion where the abstract gives both, as
    "Full Name (ABBR)". Typesetting marks are cleaned off as in `search_text`.
    """
    if paper.title and paper.title.strip():
        return " ".join(paper.title.split())
    text = search_text(paper.abstract).text
    return own_name(text) or _opening(text)


def own_name(text: str) -> str | None:
    """The name that a cleaned abstract gives to the work it presents, or None where that is not clear."""
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        for found in _candidates(text, sentence):
            name = re.sub(r"[\"']+(?= \()", "", found.strip(" ,.;:\"'"))
            if _is_new(name, text[:start]):
                return name
    return None


def _candidates(text: str, sentence: str) -> list[str]:
    found: list[str] = []
    introduces = list(_VERB.finditer(sentence))
    if introduces or re.search(r"\b(?:novel|new|our|proposed)\b", sentence, re.IGNORECASE):
        found += _called(sentence)
    for match in introduces:
        found += _objects(text, sentence, match.end())
    for match in (*_OUR.finditer(sentence), *_WE_CALL.finditer(sentence)):
        found.append(_with_abbreviation(sentence, match.start("name"), match.end("name")))
    return found


def _called(sentence: str) -> list[str]:
    found = []
    for match in _CALLED.finditer(sentence):
        group = match.lastgroup or "name"
        name = match[group]
        before = sentence[: match.start()].rstrip(" ,(")
        if group == "name":
            found.append(_with_abbreviation(sentence, match.start(group), match.end(group)))
        elif (
            re.search(rf"\b(?:{_HEADS})\Z", before)
            or (group == "quoted" and name[0].isupper())
            or (group == "low" and sentence[: match.start()].rstrip().endswith(","))
        ):
            found.append(name)
    return found


def _objects(text: str, sentence: str, at: int) -> list[str]:
    """Names among what the verb that ends at `at` introduces, the surest first."""
    rest = sentence[at:]
    found = []
    if match := _APPOSED.match(rest):
        name = match["name"]
        if match["end"].endswith("("):
            with_abbreviation = _with_abbreviation(sentence, at + match.start("name"), at + match.end("name"))
            if with_abbreviation != name:
                found.append(with_abbreviation)
        elif (match["quote"] or match["after"] in _AFTER_NAME) and (name != name.lower() or text.count(name) > 2):
            found.append(name)
    if not found and (abbreviated := _abbreviated(text, sentence, at)):
        found.append(abbreviated)
    if match := _DIRECT.match(rest):
        found.append(match["name"] or match["last"])
    if match := _NOUN_NAME.match(rest):
        found.append(_with_abbreviation(sentence, at + match.start("name"), at + match.end("name")))
    if (match := _HEADED.match(rest)) and re.search(rf"\b(?:[Oo]ur|proposed) {re.escape(match['name'])}", text):
        found.append(match["name"])
    return found


_AFTER_NAME = frozenset(
    "a an the which whose our incorporating designed where that consisting two another short built based one".split()
)


def _abbreviated(text: str, sentence: str, at: int) -> str | None:
    """ "Full Name (ABBR)" as the object of the verb that ends at `at`, or None."""
    paren = _PAREN.search(sentence, at)
    if not paren or paren["abbr"].rstrip("s").upper() in GENERIC:
        return None
    begin = expansion_start(sentence, at, paren.start(), paren["abbr"])
    if begin is None:
        return None
    if sentence[begin : paren.start()].islower() and text.count(paren["abbr"]) < 2:
        return None
    gap = sentence[at:begin]
    if _LINK.search(gap) and not _APPOSITION.search(gap):
        acts = rf"(?:^|[.!?]\s+|\b(?:that|how)\s+){re.escape(paren['abbr'])}\s+(?:{_ACTS})\b"
        if not re.search(acts, text, re.MULTILINE):
            return None
    elif gap and not re.match(r"(?:an?|the|our|two|three|this)\b", gap.strip()):
        return None
    return f"{sentence[begin : paren.start()].strip()} ({paren['abbr']})"


def _with_abbreviation(sentence: str, begin: int, end: int) -> str:
    paren = _PAREN.match(sentence, end)
    name = sentence[begin:end]
    if not paren:
        return name
    whole = expansion_start(sentence, 0, end, paren["abbr"])
    return f"{name} ({paren['abbr']})" if whole is not None and whole >= begin - 40 else name


def _is_new(name: str, before: str) -> bool:
    """Whether a name may be the paper's own: not a common term, and not used in an earlier sentence."""
    plain, _, abbreviation = name.partition(" (")
    short = abbreviation.rstrip(")") or plain
    if len(plain) < 3 or len(name) > 120 or short.rstrip("s").upper() in GENERIC:
        return False
    return not any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", before) for part in (plain, short))


def _opening(text: str) -> str:
    words = text.split()
    opening = " ".join(words[:OPENING_WORDS])
    if len(opening) > _OPENING_MAX_CHARS:
        cut = opening[:_OPENING_MAX_CHARS]
        opening = cut.rpartition(" ")[0] if " " in cut else cut
    whole = " ".join(words)
    return opening if opening == whole else opening.rstrip(" ,;:.-–—(") + "…"
