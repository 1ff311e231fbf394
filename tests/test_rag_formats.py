"""Readers: plain text and JSON records, any encoding, any line end, nothing that ends an import."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path

import pytest

from rag.formats.lines import MAX_RECORD_CHARS
from rag.formats.registry import is_readable, read_stream
from rag.records import Record, Reject, Source

LONG = "We study the thing at length. " * 8


def read(data: bytes, name: str | None = "f.jsonl") -> list[Record | Reject]:
    return list(read_stream(io.BytesIO(data), "d/f", name))


def abstracts(data: bytes, name: str | None = "f.txt") -> list[str]:
    return [item.abstract for item in read(data, name) if isinstance(item, Record)]


def reasons(data: bytes, name: str | None = "f.jsonl") -> list[tuple[int, str]]:
    return [(item.position, item.reason) for item in read(data, name) if isinstance(item, Reject)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Heading\n\nOne.\n\nTwo.\n", ["One.", "Two."]),
        ("ICLR 2025 论文列表\n\n摘要一。\n\n\n \t\n摘要二。", ["摘要一。", "摘要二。"]),
        ("Heading\r\n\r\nOne\r\nwrapped.\r\n\r\nTwo.", ["One wrapped.", "Two."]),
        ("Heading\r\rOne\rwrapped.\r\rTwo.", ["One wrapped.", "Two."]),
        ("\n\n  Heading  \n\n  One,   kept  inside.  \n", ["One,   kept  inside."]),
        ("First line of an abstract\nand its second.\n\nTwo.", ["First line of an abstract and its second.", "Two."]),
        (LONG + "\n\nTwo.", [LONG.strip(), "Two."]),
        (LONG, [LONG.strip()]),
        ("Heading\n" + LONG + "\n\nTwo.", [LONG.strip(), "Two."]),
        ("A lone line\nand another.", ["A lone line and another."]),
        ("Heading\n\nat- tention stays\x00.", ["at- tention stays\ufffd."]),
    ],
)
def test_text_is_cut_at_blank_lines(text: str, expected: list[str]) -> None:
    assert abstracts(text.encode()) == expected


def test_positions_count_abstracts_and_rejects_from_one() -> None:
    items = read(b"Heading\n\nOne.\n\n---\n\n## Part two\n\nTwo.", "f.md")
    assert [(type(item).__name__, _position(item)) for item in items] == [
        ("Record", 1),
        ("Reject", 2),
        ("Reject", 3),
        ("Record", 4),
    ]
    assert items[0] == Record(abstract="One.", source=Source("d/f", 1))


def _position(item: Record | Reject) -> int:
    return item.position if isinstance(item, Reject) else item.source.position


def test_heading_alone_is_said_to_be_one() -> None:
    assert reasons(b"ICLR 2025 Papers\n", "f.txt") == [(1, "a heading, and no abstract after it")]


FULL = {
    "id": "abc",
    "title": "A title ",
    "abstract": " It says. ",
    "authors": ["Ada Lovelace", {"name": "Alan Turing"}, {"given": "Grace", "family": "Hopper"}, 3],
    "year": 2024,
    "venue": "ICLR",
    "keywords": ["a", "b", "a", ""],
    "url": "https://x.org",
    "doi": "https://doi.org/10.1/AbC",
}


def test_common_names_are_read() -> None:
    (record,) = read(json.dumps(FULL).encode())
    assert record == Record(
        abstract="It says.",
        source=Source("d/f", 1),
        key="abc",
        title="A title",
        authors=("Ada Lovelace", "Alan Turing", "Grace Hopper"),
        venue="ICLR",
        year=2024,
        url="https://x.org",
        doi="10.1/AbC",
        keywords=("a", "b"),
    )


@pytest.mark.parametrize(
    ("field", "value", "attribute", "expected"),
    [
        ("_id", 4983, "key", "4983"),
        ("id", " 007 ", "key", "007"),
        ("id", True, "key", None),
        ("id", "", "key", None),
        ("text", "T.", "abstract", "A."),
        ("authors", "A B; C D", "authors", ("A B", "C D")),
        ("authors", "Lovelace, Ada and Turing, Alan", "authors", ("Lovelace, Ada", "Turing, Alan")),
        (
            "authors",
            "Ada Lovelace, Alan Turing and Grace Hopper",
            "authors",
            ("Ada Lovelace", "Alan Turing", "Grace Hopper"),
        ),
        ("authors", "Lovelace, Ada", "authors", ("Lovelace, Ada",)),
        ("authors", 7, "authors", ()),
        ("year", "2023", "year", 2023),
        ("year", "2023-05-01", "year", 2023),
        ("year", 2023.0, "year", 2023),
        ("year", 23, "year", None),
        ("year", True, "year", None),
        ("year", "soon", "year", None),
        ("keywords", "a, b; c", "keywords", ("a", "b", "c")),
        ("venue", {"name": "x"}, "venue", None),
        ("title", "a\ud800b\x00", "title", "a\ufffdb\ufffd"),
        ("doi", "doi: 10.1/x", "doi", "10.1/x"),
    ],
)
def test_values_of_odd_kinds(field: str, value: object, attribute: str, expected: object) -> None:
    (record,) = read(json.dumps({"abstract": "A.", field: value}).encode())
    assert getattr(record, attribute) == expected


@pytest.mark.parametrize("name", ["text", "summary"])
def test_other_names_of_the_abstract(name: str) -> None:
    assert abstracts(json.dumps({name: ["One.", "Two."]}).encode(), "f.jsonl") == ["One. Two."]


def test_bad_lines_are_rejected_and_the_rest_arrives() -> None:
    data = (
        b'{"abstract":"A."}\nnot json\n\n[1]\n{"title":"only"}\n{"abstract":" "}\n{"abstract":"B."\n{"abstract":"C."}'
    )
    assert abstracts(data, "f.jsonl") == ["A.", "C."]
    assert reasons(data) == [
        (2, "not JSON: Expecting value"),
        (3, "not a JSON object"),
        (4, "no abstract"),
        (5, "no abstract"),
        (6, "not JSON: Expecting ',' delimiter"),
    ]


def test_deep_nesting_and_huge_numbers_are_rejects() -> None:
    data = b'{"a":' * 100_000 + b"\n" + b'{"abstract":"x","year":' + b"9" * 5000 + b'}\n{"abstract":"B."}'
    assert [type(item) for item in read(data)] == [Reject, Reject, Record]


def test_json_lists_and_objects_over_several_lines() -> None:
    records = [{"abstract": 'One, "q" ] } {'}, {"abstract": "Two \\", "x": [1, {"y": 2}]}]
    for data in (
        json.dumps(records),
        json.dumps(records, indent=1),
        "\n".join(json.dumps(r, indent=2) for r in records),
    ):
        assert abstracts(data.encode(), "f.json") == ['One, "q" ] } {', "Two \\"]
    assert [_position(item) for item in read(json.dumps(records).encode(), "f.json")] == [1, 2]


def test_one_bad_member_of_a_list_spoils_no_other() -> None:
    data = b'[\n{"abstract": "A."},\n{"abstract": "B.},\n{"abstract": "C."},\n7\n]\n'
    assert abstracts(data, "f.json")[0] == "A."
    assert "C." in abstracts(data, "f.json")
    assert reasons(data, "f.json")[-1] == (4, "not a JSON object")


def test_huge_line_is_one_reject_and_the_rest_arrives(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as out:
        out.write(b'{"abstract":"A."}\n{"abstract":"')
        for _ in range(100):
            out.write(b"x" * 1_000_000)
        out.write(b'"}\n{"abstract":"B."}\n')
    tracemalloc.start()
    with path.open("rb") as stream:
        items = list(read_stream(stream, "huge", path.name))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [type(item) for item in items] == [Record, Reject, Record]
    assert isinstance(items[1], Reject)
    assert (items[1].reason, len(items[1].raw)) == ("longer than 1,000,000 characters", 500)
    assert peak < 40_000_000


def test_huge_block_and_member_are_rejects() -> None:
    words = b"word\n" * 300_000
    items = read(b"Heading\n\n" + words + b"\nTwo.", "f.txt")
    assert [type(item) for item in items] == [Reject, Record]
    data = json.dumps([{"abstract": "A."}, {"abstract": "x" * (MAX_RECORD_CHARS + 1)}, {"abstract": "B."}]).encode()
    assert [type(item) for item in read(data, "f.json")] == [Record, Reject, Record]


def test_format_is_guessed_where_there_is_no_extension() -> None:
    assert abstracts(b' \n{"abstract":"A."}', None) == ["A."]
    assert abstracts(b"Heading\n\nOne.", None) == ["One."]
    assert abstracts(b'[ {"abstract":"A."}]', "f.txt") == ["A."]
    assert abstracts(b"{Curly} heading\n\nOne.", None) == ["One."]
    assert [is_readable(Path(name)) for name in ("a.TXT", "a.jsonl.gz", "a.pdf", "a.gz", "a")] == [
        True,
        True,
        False,
    ] + [False] * 2
