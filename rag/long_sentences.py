"""Cuts a sentence that is too long to quote, in code points."""

from __future__ import annotations

import unicodedata

LONG_SENTENCE_CHARS = 600
"""A sentence longer than this is cut at a semicolon or colon, where it has one."""
MAX_CHUNK_CHARS = 1000
"""No chunk is longer: about 250 tokens, what the packaged embedding model reads at once."""
_MIN_PART_CHARS = 60
_NO_SENTENCE_CHARS = 5000  # longer is no sentence, whatever it is: it is cut in order, in time linear in its length
_LOOK_BACK_CHARS = 100
_ZERO_WIDTH_JOINER = "\u200d"


def strip_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The range without white space at its ends, or None when nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def split_long(text: str, span: tuple[int, int], closed: bytearray) -> list[tuple[int, int]]:
    """Cut a stripped range into stripped ranges of at most 1000 characters, in order, losing white space only.

    Over 600 characters it is cut at the semicolon or colon nearest its middle, outside of what is `closed` (1 for
    each character inside a formula, link or brackets); over 1000 at white space, or between characters that don't
    join, as late as may be.
    """
    done: list[tuple[int, int]] = []
    waiting = [span]
    while waiting:
        start, end = waiting.pop()
        cut = _cut(text, start, end, closed)
        if cut is None:
            done.append((start, end))
        else:
            halves = (strip_span(text, cut, end), strip_span(text, start, cut))
            waiting += [half for half in halves if half]
    return done


def _cut(text: str, start: int, end: int, closed: bytearray) -> int | None:
    if end - start <= LONG_SENTENCE_CHARS:
        return None
    cut = _clause_end(text, start, end, closed) if end - start <= _NO_SENTENCE_CHARS else None
    if cut is None and end - start > MAX_CHUNK_CHARS:
        cut = _word_end(text, start, start + MAX_CHUNK_CHARS, closed)
    return cut


def _clause_end(text: str, start: int, end: int, closed: bytearray) -> int | None:
    middle = (start + end) // 2
    ends = [
        at + 1
        for mark in ";:；："
        for at in _positions(text, mark, start + _MIN_PART_CHARS, end - _MIN_PART_CHARS)
        if not closed[at] and (text[at + 1].isspace() or mark in "；：")
    ]
    return min(ends, key=lambda at: (abs(at - middle), at), default=None)


def _positions(text: str, mark: str, start: int, end: int) -> list[int]:
    found = []
    at = text.find(mark, start, end)
    while at >= 0:
        found.append(at)
        at = text.find(mark, at + 1, end)
    return found


def _word_end(text: str, start: int, limit: int, closed: bytearray) -> int:
    """The last place up to `limit` to cut at: white space, best outside a formula; else between characters."""
    blanks = [at for at in range(start + 1, limit + 1) if text[at : at + 1].isspace()]
    for at in reversed(blanks):
        if not closed[at] and at > start + MAX_CHUNK_CHARS // 2:
            return at
    if blanks and blanks[-1] > start + _MIN_PART_CHARS:
        return blanks[-1]
    for at in range(limit, limit - _LOOK_BACK_CHARS, -1):
        if not _joins(text, at):
            return at
    return limit


def _joins(text: str, at: int) -> bool:
    """Whether the characters before and at an offset form one character for the reader."""
    before, after = text[at - 1], text[at]
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or _ZERO_WIDTH_JOINER in (before, after):
        return True
    if 0x1F3FB <= ord(after) <= 0x1F3FF or (before == "\r" and after == "\n"):
        return True
    flags = 0
    while at - flags > 0 and flags < _LOOK_BACK_CHARS and 0x1F1E6 <= ord(text[at - 1 - flags]) <= 0x1F1FF:
        flags += 1
    return flags % 2 == 1 and 0x1F1E6 <= ord(after) <= 0x1F1FF
