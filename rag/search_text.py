"""The text that is searched: an abstract with its typesetting cleaned off, and a map back to the abstract.

Only searching and scoring read it. What a user sees, quotes and offsets, always comes from the abstract itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rag.tex import COMMANDS, SYMBOLS

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\u200e\u200f]+")
_COMPATIBLE = re.compile("[\ufb00-\ufb06\uff01-\uff5e\U0001d400-\U0001d7ff\u00b5\u2126\u212b]")
_CLUSTER = re.compile("[^\\W\\d_][\u0300-\u036f]+")
_PUNCTUATION = {"‘": "'", "’": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "−": "-", "…": "..."}
_TYPOGRAPHIC = re.compile(f"[{''.join(_PUNCTUATION)}]|``|''")
_BLANKS = re.compile(r"\s+")
_BROKEN = re.compile(r"(?<![^\W\d_]-)(?P<head>\b[^\W\d_A-Z]*[a-z])(?P<gap>-\s+)(?P<tail>[a-z]+)")
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\((?:https?://|www\.)[^\s()]+\)")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,3}|_{1,2}|`)(?=[^\s*_`])([^*_`\n]{1,200}?)(?<=[^\s*_`\\])\1(?![\w])")
_STARS = re.compile(r"\*\*(?=\S)([^*\n]{1,200}?)(?<=\S)\*\*")
_TEX = re.compile(
    r"\\(?P<accent>[\"'`^~=.])\s*(?:\{(?P<braced>[A-Za-z])\}|(?P<bare>[A-Za-z]))|\\(?P<command>[A-Za-z]+)\*?[ ]?"
    r"|\\(?P<escaped>[%&$#_{}])|(?P<space>\\[,;:! ]|\}\{|(?<=\S)~(?=\S))|\\[()\[\]]|[${}]"
)
_FORMULA = re.compile(r"\$[^$]{1,600}\$")
_SCRIPT = re.compile(r"[_^](?=[\w({\\+*])")
_ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307"}
_COORDINATORS = frozenset("and or nor to but versus vs and/or und oder et".split())
_HYPHEN_STAYS_AFTER = frozenset(
    (
        "non self multi semi cross intra meta well high low large small long short real two three zero few first "
        "second state end fine coarse human data task model domain near open ever"
    ).split()
)
_HYPHEN_STAYS_BEFORE = frozenset(
    (
        "aware based level like free scale specific driven time tuning tuned trained training wise dependent "
        "independent efficient of the art end oriented agnostic invariant equivariant known supervised shot modal "
        "task step order dimensional context robust used to processing"
    ).split()
)
_WHOLE_WORD = re.compile(r"[a-z]{3,}(?:ly|tion|sion|ment|ive|ing|ge|ous|ness|ity|ise|ine|ic|al|ry)\Z")
_WORD_END = re.compile(
    r"(?:s|e?d|ing|ings|ly|ally|al|er|ers|ments?|ness|[ts]?ions?|ations?|ated?|ating|able|ably|ible|bility|ity|ities|ality"
    r"|istic|ists?|isms?|ic|ical|ically|i[sz]\w{1,7}|ular\w*|ive\w{0,3}|ous\w{0,4}|ful\w*|less|est|ies|ary)\Z"
)


@dataclass(frozen=True, slots=True)
class SearchText:
    """A cleaned text and, for each of its code points, the half-open range of the original it stands for.

    `offsets` and `ends` are as long as `text`, never decrease, and lie within the original.
    """

    text: str
    offsets: tuple[int, ...]
    ends: tuple[int, ...]

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The original range of a cleaned range that isn't empty; raises ValueError for any other."""
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"no such range in a text of {len(self.text)} characters: {start} to {end}")
        return self.offsets[start], self.ends[end - 1]


def search_text(text: str) -> SearchText:
    r"""Clean a text for searching; never fails, whatever the text.

    Ligatures and styled letters become plain ones, soft hyphens go, runs of white space become one space, curly
    quotes and hyphens straight ones. Markdown emphasis, links and TeX mark-up lose their marks ("**x**",
    "\textit{x}", "$\times$" -> "x", "x", "×"). Words broken at the end of a printed line are mended ("at- tention" ->
    "attention", "human- like" -> "human-like") except in coordinations ("pre- and post-training").
    """
    working = SearchText(text, tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    known = frozenset(re.findall(r"[a-z]+(?:-[a-z]+)+|[a-z]{4,}", text))
    for pattern, pieces in (
        (_INVISIBLE, _dropped),
        (_COMPATIBLE, _compatible),
        (_CLUSTER, _composed),
        (_TYPOGRAPHIC, _typographic),
        (_LINK, lambda match: ((match.start(1), match.end(1), None),)),
        (_STARS, lambda match: ((match.start(1), match.end(1), None),)),
        (_EMPHASIS, lambda match: ((match.start(2), match.end(2), None),)),
        (_FORMULA, _without_scripts),
        (_TEX, _tex),
        (_BLANKS, lambda match: ((match.start(), match.end(), " "),)),
        (_BROKEN, lambda match: _mended(match, known)),
    ):
        working = _rewritten(working, pattern, pieces)
    return working


Piece = tuple[int, int, str | None]
"""(start, end, replacement): a range of the text at hand, kept as it is where the replacement is None."""


def _rewritten(
    text: SearchText, pattern: re.Pattern[str], pieces: Callable[[re.Match[str]], tuple[Piece, ...]]
) -> SearchText:
    matches = list(pattern.finditer(text.text))
    if not matches:
        return text
    parts: list[str] = []
    offsets: list[int] = []
    ends: list[int] = []
    for start, end, replacement in _all_pieces(len(text.text), matches, pieces):
        if replacement is None:
            parts.append(text.text[start:end])
            offsets += text.offsets[start:end]
            ends += text.ends[start:end]
        else:
            parts.append(replacement)
            offsets += [text.offsets[start]] * len(replacement)
            ends += [text.ends[end - 1]] * len(replacement)
    return SearchText("".join(parts), tuple(offsets), tuple(ends))


def _all_pieces(
    length: int, matches: list[re.Match[str]], pieces: Callable[[re.Match[str]], tuple[Piece, ...]]
) -> Iterator[Piece]:
    at = 0
    for match in matches:
        yield at, match.start(), None
        yield from pieces(match)
        at = match.end()
    yield at, length, None


def _dropped(_: re.Match[str]) -> tuple[Piece, ...]:
    return ()


def _compatible(match: re.Match[str]) -> tuple[Piece, ...]:
    return ((match.start(), match.end(), unicodedata.normalize("NFKC", match[0])),)


def _composed(match: re.Match[str]) -> tuple[Piece, ...]:
    return ((match.start(), match.end(), unicodedata.normalize("NFC", match[0])),)


def _typographic(match: re.Match[str]) -> tuple[Piece, ...]:
    return ((match.start(), match.end(), _PUNCTUATION.get(match[0], '"')),)


def _without_scripts(match: re.Match[str]) -> tuple[Piece, ...]:
    """Drop the marks of subscripts and superscripts in a formula: "d_{avg}" is searched as "davg"."""
    bounds = [match.start()]
    for script in _SCRIPT.finditer(match.string, match.start(), match.end()):
        bounds += [script.start(), script.end()]
    bounds.append(match.end())
    return tuple((start, end, None) for start, end in zip(bounds[::2], bounds[1::2], strict=True))


def _tex(match: re.Match[str]) -> tuple[Piece, ...]:
    start, end = match.span()
    if accent := match["accent"]:
        letter = match["braced"] or match["bare"]
        return ((start, end, unicodedata.normalize("NFC", letter + _ACCENTS[accent])),)
    if command := match["command"]:
        if command in COMMANDS:
            return ()
        word = SYMBOLS.get(command) or command.removeprefix("var")
        glued = command not in SYMBOLS and match.string[end : end + 1] in ("{", "\\")
        apart = match[0].endswith(" ") or glued
        return ((start, end, word + " " * apart),)
    if match["escaped"]:
        return ((start + 1, end, None),)
    if match["space"]:
        return ((start, end, " "),)
    return ()


def _mended(match: re.Match[str], known: frozenset[str]) -> tuple[Piece, ...]:
    head, tail = match["head"], match["tail"]
    whole: Piece = (match.start(), match.end(), None)
    if tail in _COORDINATORS:
        return (whole,)
    gap = match.start("gap")
    hyphenated = f"{head}-{tail}"
    compound = head in _HYPHEN_STAYS_AFTER or tail in _HYPHEN_STAYS_BEFORE
    compound = compound or bool(_WHOLE_WORD.match(head) and not _WORD_END.match(tail))
    keeps = hyphenated in known or (compound and head + tail not in known)
    return (match.start(), gap + int(keeps), None), (match.start("tail"), match.end(), None)
