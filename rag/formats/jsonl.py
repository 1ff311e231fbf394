"""JSON records with the common field names: one a line, or members of a list, or one after another."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import BinaryIO

from rag.formats.fields import record_of
from rag.formats.json_values import json_values
from rag.formats.lines import MAX_RECORD_CHARS, Line, bounded_lines, text_pieces
from rag.records import Record, Reject, Source


def read_jsonl(stream: BinaryIO, file: str, encoding: str) -> Iterator[Record | Reject]:
    """Yield a `Record` for each JSON object with an abstract and a `Reject` for anything else.

    Positions count the records (lines that aren't blank, or members of a list) from 1. A file that begins with
    "[" is read as one list; one whose first line is the beginning of a longer object as objects in sequence; any
    other as a record a line, where a broken line spoils no other.
    """
    head = next(text_pieces(stream, encoding), "").lstrip("\ufeff \t\r\n")
    stream.seek(0)
    if head.startswith("[") or _spreads(head):
        values = json_values(text_pieces(stream, encoding))
    else:
        values = (line for line in bounded_lines(stream, encoding) if line.too_long or line.text.strip())
    for position, value in enumerate(values, start=1):
        yield _record(value, file, position)


def _spreads(head: str) -> bool:
    """Whether the first object goes on over several lines: its first line ends with "{" or ","."""
    first = next(itertools.islice(head.split("\n"), 1), "").rstrip()
    return "\n" in head and first.startswith("{") and first.endswith(("{", ","))


def _record(line: Line, file: str, position: int) -> Record | Reject:
    raw = line.text.strip()[:500]
    if line.too_long:
        return Reject(file, position, f"longer than {MAX_RECORD_CHARS:,} characters", raw)
    try:
        value = json.loads(line.text)
    except json.JSONDecodeError as error:
        return Reject(file, position, f"not JSON: {error.msg}", raw)
    except (ValueError, RecursionError):
        return Reject(file, position, "not JSON: nested too deeply, or a number out of range", raw)
    if not isinstance(value, dict):
        return Reject(file, position, "not a JSON object", raw)
    return record_of(value, Source(file, position)) or Reject(file, position, "no abstract", raw)
