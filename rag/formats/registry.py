"""Which format a file is read in: by its extension, or by its first character where there is none."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import BinaryIO, cast

from rag.formats.jsonl import read_jsonl
from rag.formats.lines import encoding_of, text_pieces
from rag.formats.seeds_txt import read_text
from rag.records import Record, Reject

Reader = Callable[[BinaryIO, str, str], Iterator[Record | Reject]]
"""(seekable stream at its beginning, file name for `Source`, encoding) -> records and rejects, lazily."""

READERS: dict[str, Reader] = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_text,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_jsonl,
}
_JSON_BEGINS = re.compile(r"\{\s*[\"}]|\[\s*\{")
WHOLE_FILE = 0
"""The position of a `Reject` that concerns a file as a whole."""

FORMATS_READ = "plain text (.txt, .md) and JSON records (.jsonl, .ndjson, .json), each also as .gz"


def is_readable(path: PurePath) -> bool:
    """Whether the extension is that of a format read here."""
    return _reader(path.name) is not None


def read_stream(stream: BinaryIO, file: str, name: str | None) -> Iterator[Record | Reject]:
    """Yield what a seekable stream holds. `name` picks the format, but what begins as JSON is read as JSON.

    A stream that is binary, damaged or can't be read on gives a `Reject` at position 0, after what could be read.
    """
    try:
        if name is None or not PurePath(name).suffix:
            packed = stream.read(2) == b"\x1f\x8b"
            stream.seek(0)
        else:
            packed = name.lower().endswith(".gz")
        if packed:
            with gzip.open(stream, "rb") as unpacked:
                yield from _read(cast(BinaryIO, unpacked), file, name)
        else:
            yield from _read(stream, file, name)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        yield Reject(file, WHOLE_FILE, "damaged gzip file: cut short or not gzip", "")
    except OSError as error:
        yield Reject(file, WHOLE_FILE, f"can't be read: {error.strerror or error}", "")


def _read(stream: BinaryIO, file: str, name: str | None) -> Iterator[Record | Reject]:
    encoding = encoding_of(stream)
    if encoding is None:
        yield Reject(file, WHOLE_FILE, "binary file, not text", "")
        return
    reader = _reader(name or "") or read_text
    if reader is read_text:  # no abstract and no heading begins like this, whatever the file is called
        head = next(text_pieces(stream, encoding), "").lstrip("\ufeff \t\r\n")
        stream.seek(0)
        reader = read_jsonl if _JSON_BEGINS.match(head) else read_text
    yield from reader(stream, file, encoding)


def _reader(name: str) -> Reader | None:
    return READERS.get(PurePath(name.lower().removesuffix(".gz")).suffix)
