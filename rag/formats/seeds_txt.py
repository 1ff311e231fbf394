"""Plain text: a heading in any language on the first line, then abstracts separated by blank lines."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import BinaryIO

from rag.formats.lines import MAX_RECORD_CHARS, Line, bounded_lines
from rag.records import Record, Reject, Source

HEADING_MAX_CHARS = 200

_MARKDOWN_HEADING = re.compile(r"#{1,6}\s+\S")
_NO_WORDS = re.compile(r"[\W_]*\Z")


def read_text(stream: BinaryIO, file: str, encoding: str) -> Iterator[Record | Reject]:
    """Yield a `Record` for each block of lines, joined with one space; positions count the blocks from 1.

    The first line is a heading, and no record, when it stands alone, is at most 200 characters long and other
    blocks follow, or when a line of more than 200 follows it. A lone line is an abstract when it is longer than 200
    characters, a heading without abstracts otherwise.
    """
    blocks = _blocks(bounded_lines(stream, encoding))
    first = next(blocks, None)
    if first is None:
        return
    second = next(blocks, None)
    if _leads(first):
        first.lines.pop(0)
    elif _is_heading(first) and second is None:
        yield Reject(file, 1, "a heading, and no abstract after it", " ".join(first.lines))
        return
    elif _is_heading(first):
        first = None
    head = [block for block in (first, second) if block is not None]
    for position, block in enumerate(itertools.chain(head, blocks), start=1):
        yield _record(block, file, position)


class _Block:
    """Consecutive lines that aren't blank, each stripped."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.chars = 0
        self.too_long = False

    def add(self, line: Line) -> None:
        self.chars += len(line.text) + 1
        self.too_long = self.too_long or line.too_long or self.chars > MAX_RECORD_CHARS + 1
        if not self.too_long or not self.lines:
            self.lines.append(line.text.strip())


def _blocks(lines: Iterator[Line]) -> Iterator[_Block]:
    block = _Block()
    for line in lines:
        if line.too_long or line.text.strip():
            block.add(line)
        elif block.lines:
            yield block
            block = _Block()
    if block.lines:
        yield block


def _is_heading(block: _Block) -> bool:
    return len(block.lines) == 1 and not block.too_long and len(block.lines[0]) <= HEADING_MAX_CHARS


def _leads(block: _Block) -> bool:
    """Whether the first line is a heading with no blank line after it: short, above a line that isn't wrapped."""
    return (
        len(block.lines) > 1
        and len(block.lines[0]) <= HEADING_MAX_CHARS < len(block.lines[1])
        and not block.lines[0].endswith((".", ",", "-"))
    )


def _record(block: _Block, file: str, position: int) -> Record | Reject:
    text = " ".join(block.lines)
    if block.too_long:
        return Reject(file, position, f"longer than {MAX_RECORD_CHARS:,} characters", text[:500])
    if _NO_WORDS.match(text):
        return Reject(file, position, "no abstract: not a word in it", text[:500])
    if len(block.lines) == 1 and _is_heading(block) and _MARKDOWN_HEADING.match(text):
        return Reject(file, position, "no abstract: a heading", text[:500])
    return Record(abstract=text, source=Source(file, position))
