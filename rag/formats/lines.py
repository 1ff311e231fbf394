"""Bytes to lines of text, bounded in memory: encodings, byte order marks, line ends, overlong lines.

Knows nothing of records. No sequence of bytes raises; what can't be decoded becomes U+FFFD.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

MAX_RECORD_CHARS = 1_000_000
"""A record longer than this is rejected unread; 500 times the length of a long abstract."""

_SNIFF_BYTES = 8192
_PASS_BYTES = 1 << 20
_SAMPLE_BYTES = 65_536
_BOMS = (  # the four-byte marks first: the UTF-32 mark begins with the UTF-16 one
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings in which a line end is the single byte it is in ASCII, so that lines may be cut before decoding.
_LEGACY = ("cp1252", "cp1250", "cp1251", "cp1253", "koi8_r", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr")
_CONTROLS = bytes(b for b in range(32) if b not in b"\t\n\r\f")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its line end; `too_long` when only its first characters were kept."""

    text: str
    too_long: bool = False


def storable(text: str) -> str:
    """Replace NUL and lone surrogates, which databases and UTF-8 can't hold, by U+FFFD."""
    return _UNSTORABLE.sub("�", text)


def encoding_of(stream: BinaryIO) -> str | None:
    """Name the encoding of a seekable stream, or None when it holds no text; leaves it at its beginning.

    A byte order mark decides; else UTF-8 where all bytes are UTF-8; else the most likely legacy encoding.
    Text has at most three control characters, or one per cent, in its first 8 KB, and NUL only in valid UTF-8.
    """
    head = stream.read(_SNIFF_BYTES)
    stream.seek(0)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if sum(head.count(bytes([b])) for b in _CONTROLS) > max(3, len(head) // 100):
        return None
    fault = _first_fault(stream)
    stream.seek(0)
    if fault is None:
        return "utf-8"
    if b"\x00" in head:
        return None
    sample = _faulty_lines(stream, fault)
    stream.seek(0)
    return _likely_encoding(sample)


def bounded_lines(stream: BinaryIO, encoding: str, limit: int = MAX_RECORD_CHARS) -> Iterator[Line]:
    r"""Yield the lines of a stream; "\n", "\r\n" and "\r" end a line.

    A line of more than `limit` characters comes once, as its first 500 characters with `too_long`; no more than
    about 4 * limit bytes are held. In a file that is mostly UTF-8 each line that isn't is decoded by itself with
    the legacy `encoding`, so that one faulty line does not garble the others.
    """
    wide = encoding in ("utf-16", "utf-32")
    # latin-1 maps bytes to characters one to one: the wrapper then finds all three line ends in undecoded bytes.
    bound = limit if wide else 4 * limit
    wrapper = io.TextIOWrapper(stream, encoding=encoding if wide else "latin-1", errors="replace", newline=None)
    try:
        while piece := wrapper.readline(bound + 2):
            cut = len(piece) > bound and not piece.endswith("\n")
            while cut and (rest := wrapper.readline(_PASS_BYTES)):
                if rest.endswith("\n"):
                    break
            text = piece.removesuffix("\n") if wide else _decode(piece.removesuffix("\n"), encoding)
            too_long = cut or len(text) > limit
            yield Line(storable(text[:500] if too_long else text), too_long)
    finally:
        wrapper.detach()


def text_pieces(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """Yield the text of a stream in pieces of at most 65,536 characters, for formats that have no lines."""
    wrapper = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline=None)
    try:
        while piece := wrapper.read(_SAMPLE_BYTES):
            yield storable(piece)
    finally:
        wrapper.detach()


def _decode(latin: str, encoding: str) -> str:
    raw = latin.encode("latin-1")
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return raw.decode("utf-8" if encoding == "utf-8-sig" else encoding, errors="replace")


def _first_fault(stream: BinaryIO) -> int | None:
    """Offset of about the first byte that is not UTF-8, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = 0
    while True:
        block = stream.read(_PASS_BYTES)
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            return at + min(error.start, len(block))
        if not block:
            return None
        at += len(block)


def _faulty_lines(stream: BinaryIO, fault: int) -> bytes:
    stream.seek(max(0, fault - _SNIFF_BYTES))
    sample = stream.read(_SAMPLE_BYTES)
    lines = [line for line in re.split(rb"[\r\n]+", sample) if not _is_utf8(line)]
    return b"\n".join(lines)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _likely_encoding(sample: bytes) -> str:
    """Guess with charset-normalizer where it is installed; windows-1252 otherwise, the web's default."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return "cp1252"
    guesses = {guess.encoding: guess for guess in from_bytes(sample, cp_isolation=list(_LEGACY), enable_fallback=False)}
    best = min(guesses.values(), default=None)
    western = guesses.get("cp1252")
    if best is None or best.encoding not in _LEGACY or (western is not None and western.chaos <= best.chaos):
        return "cp1252"  # as good as the best: Central European pages differ from it in few letters
    return best.encoding
