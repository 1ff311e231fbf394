"""Bytes to lines and list members: encodings, line ends, damage, and no bytes that raise."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.formats.json_values import json_values
from rag.formats.lines import Line, bounded_lines, encoding_of, storable
from rag.formats.registry import read_stream
from rag.records import Record, Reject


def read(data: bytes, name: str | None = "f.jsonl") -> list[Record | Reject]:
    return list(read_stream(io.BytesIO(data), "d/f", name))


def abstracts(data: bytes, name: str | None = "f.txt") -> list[str]:
    return [item.abstract for item in read(data, name) if isinstance(item, Record)]


def reasons(data: bytes, name: str | None = "f.jsonl") -> list[tuple[int, str]]:
    return [(item.position, item.reason) for item in read(data, name) if isinstance(item, Reject)]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Überblick – “naïve” 模型 and more"),
        ("utf-8-sig", "Überblick – “naïve” 模型 and more"),
        ("utf-16", "Überblick – “naïve” 模型 and more"),
        ("utf-32", "Überblick – “naïve” 模型 and more"),
        ("cp1252", "La méthode décrite améliore les résultats déjà publiés à propos des réseaux, à l’été."),
        ("gb18030", "我们提出了一种新的方法来解决这个问题，实验结果表明该方法优于现有方法。"),
    ],
)
def test_encodings_are_found(encoding: str, text: str) -> None:
    assert abstracts(f"Heading\n\n{text}\n\n{text}".encode(encoding)) == [text, text]
    line = json.dumps({"abstract": text}, ensure_ascii=False)
    assert abstracts(f"{line}\n{line}\n".encode(encoding), "f.jsonl") == [text, text]


def test_one_line_that_is_not_utf8_garbles_no_other() -> None:
    data = '{"abstract":"Schrödinger’s"}\n'.encode() + b'{"abstract":"caf\xe9"}\n' + '{"abstract":"模型"}\n'.encode()
    assert abstracts(data, "f.jsonl") == ["Schrödinger’s", "café", "模型"]


@pytest.mark.parametrize("data", [bytes(range(256)) * 40, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", b"\0\1\2\3\4\5" * 9])
def test_binary_file_is_one_reject(data: bytes) -> None:
    assert reasons(data, "f.txt") == [(0, "binary file, not text")]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["f.txt", "f.jsonl", "f.json", "f.jsonl.gz", None]))
def test_no_bytes_raise(data: bytes, name: str | None) -> None:
    for item in read(data, name):
        text = item.abstract if isinstance(item, Record) else item.raw
        text.encode()
        assert "\x00" not in text


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3), max_leaves=6
    ).flatmap(
        lambda value: st.lists(st.fixed_dictionaries({"a": st.just(value), "b": st.text(max_size=9)}), max_size=5)
    ),
    st.integers(1, 7),
)
def test_lists_are_cut_into_their_members(members: list[object], size: int) -> None:
    text = json.dumps(members)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert [json.loads(line.text) for line in json_values(pieces)] == members


def test_gzip_is_read_and_damage_is_said() -> None:
    packed = gzip.compress(b'{"abstract":"A."}\n' * 3)
    assert abstracts(packed, "f.jsonl.gz") == ["A."] * 3
    assert abstracts(packed, None) == ["A."] * 3
    assert reasons(packed[:-12], "f.jsonl.gz")[-1] == (0, "damaged gzip file: cut short or not gzip")
    assert reasons(b"plain", "f.txt.gz") == [(0, "damaged gzip file: cut short or not gzip")]


def test_lines_end_at_all_three_line_ends() -> None:
    stream = io.BytesIO("a\nb\r\nc\rd\u2028e".encode())
    assert list(bounded_lines(stream, "utf-8")) == [Line("a"), Line("b"), Line("c"), Line("d\u2028e")]
    assert list(bounded_lines(io.BytesIO(b"abcde\nf"), "utf-8", limit=4)) == [Line("abcde", too_long=True), Line("f")]


def test_storable_text() -> None:
    assert storable("a\x00\ud83d\udc00b🙂") == "a\ufffd\ufffd\ufffdb🙂"
    assert encoding_of(io.BytesIO(b"")) == "utf-8"
