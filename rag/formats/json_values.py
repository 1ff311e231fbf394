"""Cuts a JSON list, or JSON objects in sequence, into the text of its members without holding the whole.

Knows nothing of records and does not parse: it follows quotes and brackets only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag.formats.lines import MAX_RECORD_CHARS, Line

_MARKS = re.compile(r'["\\{}\[\],\n]')


def json_values(pieces: Iterable[str], limit: int = MAX_RECORD_CHARS) -> Iterator[Line]:
    """Yield each member's text, stripped; `too_long` with the first 500 characters when it is over `limit`.

    A line end inside quotes closes them: JSON allows none there, so a member that lacks a quote spoils no more
    than the members on its own line.
    """
    cutter = _Cutter(limit)
    for piece in pieces:
        yield from cutter.feed(piece)
    yield from cutter.end()


class _Cutter:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.base: int | None = None  # depth at which members stand: 1 in a list, 0 in a sequence
        self.depth = 0
        self.quoted = False
        self.escaped = False
        self.parts: list[str] = []
        self.chars = 0

    def feed(self, piece: str) -> Iterator[Line]:
        start, after_escape = 0, int(self.escaped)
        self.escaped = False
        for mark in _MARKS.finditer(piece):
            if mark.start() < after_escape:
                continue
            if self.quoted and mark[0] == "\\":
                after_escape = mark.start() + 2
                self.escaped = after_escape > len(piece)
            elif self._ends_member(mark[0], piece[max(start, mark.start() - 3) : mark.start()]):
                self._keep(piece[start : mark.end() if mark[0] == "}" else mark.start()])
                yield from self.end()
                start = mark.end()
        self._keep(piece[start:])

    def _base(self) -> int:
        return self.base or 0

    def _ends_member(self, mark: str, before: str) -> bool:
        """Follow a mark; tell whether a member ends at it (or, for the list's own bracket, begins after it)."""
        if mark == "\n" or self.quoted:
            broken = self.quoted and mark == "\n" and before.rstrip(", ").endswith("}")
            self.quoted = self.quoted and mark not in '"\n'
            self.depth = self._base() if broken else self.depth
            return broken
        if mark == '"':
            self.quoted = True
        elif mark in "{[":
            opens_list = self.base is None and mark == "["
            if self.base is None:
                self.base = int(opens_list)
            self.depth += 1
            return opens_list
        elif mark == "," or (mark == "]" and self.depth == self.base == 1):
            return self.depth == self._base()
        elif mark in "}]":
            self.depth = max(self.depth - 1, self._base())
            return mark == "}" and self.depth == self._base()
        return False

    def _keep(self, text: str) -> None:
        if not self.parts:
            text = text.lstrip("\ufeff \t\r\n")
        if text:
            self.chars += len(text)
            if self.chars <= self.limit or not self.parts:
                self.parts.append(text)

    def end(self) -> Iterator[Line]:
        """Yield the member at hand unless it is blank, and begin the next."""
        text, too_long = "".join(self.parts).strip(), self.chars > self.limit
        self.parts, self.chars = [], 0
        if text:
            yield Line(text[:500] if too_long else text, too_long)
