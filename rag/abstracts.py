"""Stage 1: files, folders or standard input to records, and records to identified papers.

Knows nothing of the library: which papers are already there, and what merging stores, is `index.py`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from rag.errors import InputError, MissingPath
from rag.formats.registry import FORMATS_READ, WHOLE_FILE, is_readable, read_stream
from rag.records import Paper, Record, Reject

MAX_KEY_CHARS = 512
_SPOOL_BYTES = 1 << 24
_IGNORABLE = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
_DASHES = re.compile(r"[-\u058a\u05be\u2010-\u2015\u2043\u207b\u208b\u2212\u2e3a\u2e3b\u301c\u3030\ufe58\ufe63\uff0d]+")
_QUOTES = re.compile(r"['\"`\u00ab\u00b4\u00bb\u2018-\u201f\u2032-\u2037\u2039\u203a\u300c-\u300f\u301d-\u301f]+")


@dataclass(frozen=True, slots=True)
class _File:
    """A file to read: its path (None is standard input), its name for `Source`, and a reason not to read it."""

    path: Path | None
    file: str
    reason: str | None = None


def read_paths(paths: Sequence[Path | Literal["-"]], stdin: BinaryIO | None = None) -> Iterator[Record | Reject]:
    """Yield the records of files and folders in the order given, a folder's files sorted by path.

    Folders are searched recursively; hidden files, README files and, beside readable ones, files of other formats
    are skipped. A file reached twice is read once. "-" reads `stdin`, sys.stdin by default. Raises `MissingPath`
    at once for a path that isn't there and `InputError` when nothing in what was given can be read; an empty file
    raises `InputError` as the only argument and is a `Reject` among others. `Source.file` is "FOLDER/relative/path"
    with the name of the folder given (of the parent, for a file), and "-" for standard input.
    """
    files = _distinct([found for path in paths for found in _found(path)])
    if not any(found.reason is None for found in files):
        raise InputError(_nothing_read(paths, files))
    return _records(files, alone=len(paths) == 1 and len(files) == 1, stdin=stdin)


def _records(files: Sequence[_File], alone: bool, stdin: BinaryIO | None) -> Iterator[Record | Reject]:
    for found in files:
        if found.reason is not None:
            yield Reject(found.file, WHOLE_FILE, found.reason, "")
            continue
        empty = True
        for item in _read_file(found, stdin):
            empty = False
            yield item
        if empty and alone:
            raise InputError(f"empty file: {found.path or 'standard input'}")
        if empty:
            yield Reject(found.file, WHOLE_FILE, "empty file", "")


def _read_file(found: _File, stdin: BinaryIO | None) -> Iterator[Record | Reject]:
    if found.path is None:
        yield from _read_spooled(stdin or sys.stdin.buffer, found.file, None)
        return
    try:
        with found.path.open("rb") as stream:
            if stream.seekable():
                yield from read_stream(stream, found.file, found.path.name)
            else:
                yield from _read_spooled(stream, found.file, found.path.name)
    except OSError as error:
        yield Reject(found.file, WHOLE_FILE, f"can't be opened: {error.strerror or error}", "")


def _read_spooled(stream: BinaryIO, file: str, name: str | None) -> Iterator[Record | Reject]:
    """Read a pipe, which can't be rewound, through a copy in memory or, over 16 MB, in a temporary file."""
    with tempfile.SpooledTemporaryFile(_SPOOL_BYTES) as copy:
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield from read_stream(cast(BinaryIO, copy), file, name)


def _found(path: Path | Literal["-"]) -> list[_File]:
    if path == "-":
        return [_File(None, "-")]
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise MissingPath(f"no such file or folder: {path} ({error.strerror or error})") from error
    if stat.S_ISDIR(mode):
        return _in_folder(path)
    readable = is_readable(path) or not path.suffix or stat.S_ISFIFO(mode)
    parent = path.resolve().parent.name
    return [_File(path, _shown(Path(parent) / path.name), None if readable else _UNKNOWN_FORMAT)]


_UNKNOWN_FORMAT = f"unknown format: citewise reads {FORMATS_READ}"


def _in_folder(folder: Path) -> list[_File]:
    """Files below a folder, sorted by path; those of unknown formats only when no file is readable."""
    name = folder.resolve().name
    listed: list[Path] = []
    refused: list[_File] = []

    def refuse(error: OSError) -> None:
        where = Path(str(error.filename)).relative_to(folder)
        refused.append(_File(None, _shown(Path(name) / where), f"can't be opened: {error.strerror}"))

    seen = {os.path.realpath(folder)}
    for where, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = {inner: os.path.realpath(Path(where) / inner) for inner in folders if not inner.startswith(".")}
        folders[:] = sorted(inner for inner in real if real[inner] not in seen)  # a link back up is not followed
        seen.update(real.values())
        listed += [Path(where) / inner for inner in names if not inner.upper().startswith((".", "README"))]
    listed.sort(key=lambda path: path.relative_to(folder).parts)
    for path in listed:
        if is_readable(path) and not path.is_file():
            refused.append(_File(None, _shown(Path(name) / path.relative_to(folder)), "not a file, or a broken link"))
    readable = [path for path in listed if is_readable(path) and path.is_file()]
    shown = readable or listed
    reason = None if readable else _UNKNOWN_FORMAT
    return [_File(path, _shown(Path(name) / path.relative_to(folder)), reason) for path in shown] + refused


def _distinct(files: Sequence[_File]) -> list[_File]:
    seen: set[str] = set()
    distinct: list[_File] = []
    for found in files:
        real = os.path.realpath(found.path) if found.path else found.file
        if real not in seen:
            seen.add(real)
            distinct.append(found)
    return distinct


def _nothing_read(paths: Sequence[Path | Literal["-"]], files: Sequence[_File]) -> str:
    where = ", ".join(str(path) for path in paths) or "no path given"
    denied = next((f"; {found.file} {found.reason}" for found in files if found.reason != _UNKNOWN_FORMAT), "")
    return f"nothing to read in {where}{denied}; citewise reads {FORMATS_READ}"


def _shown(path: Path) -> str:
    return "".join("�" if 0xD800 <= ord(char) <= 0xDFFF else char for char in path.as_posix())


def paper_id(record: Record) -> str:
    """The id a record asks for: its own key, else its DOI, else 16 hex digits of its abstract's SHA-256.

    Control characters and surrounding blanks of a key go; a key longer than 512 characters becomes "sha256:" and
    the first 32 hex digits of its SHA-256. A DOI is in lower case, as DOIs have no case.
    """
    for key in (record.key or "", (record.doi or "").lower()):
        kept = "".join(char for char in key if unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")).strip()
        if len(kept) > MAX_KEY_CHARS:
            return "sha256:" + _sha256(kept)[:32]
        if kept:
            return kept
    return _sha256(record.abstract)[:16]


def variant_id(key: str, abstract: str) -> str:
    """The id of another text under a key that is taken: the key, "~", and 8 hex digits of the text's SHA-256."""
    return f"{key}~{_sha256(abstract)[:8]}"


def same_text_key(abstract: str) -> str:
    """A fingerprint (32 hex digits) that is equal for the same text in another case, dash, quote, space or ligature.

    SHA-256 of the text in NFKC and casefolded, with each run of dashes or quotes as one, without white space and
    invisible characters. Another word, number or broken word ("at- tention") gives another fingerprint.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", abstract).casefold())
    text = _QUOTES.sub("'", _DASHES.sub("-", _IGNORABLE.sub("", text)))
    return _sha256(text)[:32]


def to_paper(record: Record, id: str | None = None) -> Paper:
    """The paper of a record by itself, under `id` or the id it asks for."""
    return Paper(
        id=id or paper_id(record),
        abstract=record.abstract,
        title=record.title,
        authors=record.authors,
        venue=record.venue,
        year=record.year,
        url=record.url,
        doi=record.doi,
        keywords=record.keywords,
        sources=(record.source,),
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()
