"""The library as JSON Lines, BibTeX, RIS and CSV: what is written is read back, however hostile the text."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.abstracts import read_paths, to_paper
from rag.export import FORMATS, to_bibtex, to_csv, to_jsonl, to_ris
from rag.records import Paper, Record, Source

HOSTILE = Paper(
    id="10.1/a,b{c}",
    abstract='It costs $5 & 10% of {x}_i ^ ~ \\alpha.\nA "quoted",\r\n\r\nER  - \nTY  - JOUR\u2028模型 e\u0301 👩‍👧',
    title='<b>"Quotes", commas; {braces} \\ and\n@article{evil, 100%}',
    authors=("Gödel, Kurt", "Smith \u200bJane", "李 明"),
    venue="ICLR & Friends",
    year=2024,
    url="https://x.org/a_b?c=%7B&d={e}#f",
    doi="10.1/a_b",
    keywords=("=1+1", "graphs; trees"),
    sources=(Source("d/a.jsonl", 3), Source("d/b.txt", 1)),
)
PLAIN = Paper("p", "We propose LoRAX, a method for adapters.", sources=(Source("a.txt", 1),))
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60)
NO_BRACES = TEXT.filter(lambda text: not set("{}") & set(text))


def test_the_formats_are_the_four_that_are_named() -> None:
    assert list(FORMATS) == ["jsonl", "bibtex", "ris", "csv"]
    assert [list(write([]))[1:] for write in FORMATS.values()] == [[], [], [], []]


def read_jsonl(text: str) -> list[Paper]:
    rows = [json.loads(line) for line in text.split("\n")[:-1]]
    assert all(list(row) == [field.name for field in dataclasses.fields(Paper)] for row in rows)
    lists = ("authors", "keywords")
    return [
        Paper(**row | {k: tuple(row[k]) for k in lists} | {"sources": tuple(Source(**s) for s in row["sources"])})
        for row in rows
    ]


def test_jsonl_gives_the_papers_back() -> None:
    lines = list(to_jsonl([HOSTILE, PLAIN]))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    assert read_jsonl("".join(lines)) == [HOSTILE, PLAIN]
    assert "模型" in lines[0]


@settings(max_examples=60, deadline=None)
@given(TEXT, TEXT)
def test_jsonl_of_any_text(title: str, abstract: str) -> None:
    paper = Paper("i", abstract, title=title, authors=(title,))
    assert read_jsonl("".join(to_jsonl([paper]))) == [paper]


def test_a_jsonl_export_is_read_as_the_same_papers(tmp_path: Path) -> None:
    clean = dataclasses.replace(HOSTILE, title="A title", authors=("Gödel, Kurt",), keywords=("graphs",))
    (tmp_path / "e.jsonl").write_text("".join(to_jsonl([clean, PLAIN])), encoding="utf-8", newline="")
    records = [item for item in read_paths([tmp_path / "e.jsonl"]) if isinstance(item, Record)]
    found = [dataclasses.replace(to_paper(record), sources=()) for record in records]
    assert found == [dataclasses.replace(clean, sources=()), dataclasses.replace(PLAIN, sources=())]


def read_csv(papers: Iterable[Paper]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(to_csv(papers)), newline="")))


def test_csv_by_hand() -> None:
    rows = read_csv([HOSTILE, PLAIN])
    assert rows[0] == {
        "id": HOSTILE.id,
        "title": HOSTILE.title,
        "authors": "Gödel, Kurt; Smith \u200bJane; 李 明",
        "venue": "ICLR & Friends",
        "year": "2024",
        "doi": "10.1/a_b",
        "url": HOSTILE.url,
        "keywords": "'=1+1; graphs; trees",
        "sources": "d/a.jsonl#3; d/b.txt#1",
        "abstract": HOSTILE.abstract,
    }
    assert [rows[1][name] for name in ("title", "authors", "year", "sources")] == ["", "", "", "a.txt#1"]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_run_by_a_spreadsheet(sign: str) -> None:
    evil = f"{sign}HYPERLINK(1)"
    paper = Paper(evil, evil, title=evil, authors=(evil,), venue=evil, url=evil, doi=evil, keywords=(evil,))
    (row,) = read_csv([paper])
    assert {row[name] for name in row if name not in ("year", "sources")} == {f"'{evil}"}


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_csv_of_any_text(text: str) -> None:
    (row,) = read_csv([Paper("i", text, title="T")])
    assert row["abstract"] == (f"'{text}" if text[:1] in tuple("=+-@\t\r") else text)
    assert row["title"] == "T"


ESCAPED = re.compile(r"\\text(backslash|asciitilde|asciicircum|braceleft|braceright)\{\}|\\([&%$#_{}])")
SIGNS = {"backslash": "\\", "asciitilde": "~", "asciicircum": "^", "braceleft": "{", "braceright": "}"}


def read_bibtex(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """The entries (type, key, fields) of a BibTeX file. As BibTeX does, it counts every brace, escaped or not."""
    entries, at = [], 0
    while match := re.compile(r"\s*@(\w+)\{([^\s,{}]+),\n").match(text, at):
        kind, key, fields, at = match[1], match[2], {}, match.end()
        while field := re.compile(r"\s*(\w+) = \{").match(text, at):
            depth, end = 1, field.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            value = text[field.end() : end - 1]
            fields[field[1]] = ESCAPED.sub(lambda found: SIGNS.get(found[1] or "", found[2]), value)
            at = end + text[end:].startswith(",")
        assert text[at : at + 2] == "\n}"
        at += 2
        entries.append((kind, key, fields))
    assert not text[at:].strip()
    return entries


def test_bibtex_by_hand() -> None:
    hostile, plain = read_bibtex("".join(to_bibtex([HOSTILE, PLAIN])))
    assert hostile[:2] == ("inproceedings", "10.1-a-b-c")
    assert hostile[2] == {
        "title": HOSTILE.title,
        "author": "Gödel, Kurt and Smith \u200bJane and 李 明",
        "booktitle": "ICLR & Friends",
        "year": "2024",
        "doi": "10.1/a_b",
        "url": "https://x.org/a_b?c=%7B&d=%7Be%7D#f",
        "keywords": "=1+1, graphs; trees",
        "abstract": unicodedata.normalize("NFC", HOSTILE.abstract),
    }
    note = "Title derived by citewise from the abstract"
    assert plain == ("misc", "p", {"title": "LoRAX", "note": note, "abstract": PLAIN.abstract})


def test_bibtex_keys_are_unique_and_plain() -> None:
    ids = ["a b", "a,b", "A-b", "a-b-2", "模型", "路由", "", "{}", "#%"]
    entries = read_bibtex("".join(to_bibtex(Paper(id_, "A.", title="T") for id_ in ids)))
    keys = [key for _, key, _ in entries]
    assert keys == ["a-b", "a-b-2", "A-b-3", "a-b-2-2", "paper", "paper-2", "paper-3", "paper-4", "paper-5"]
    assert len({key.casefold() for key in keys}) == len(ids)


@settings(max_examples=100, deadline=None)
@given(NO_BRACES, NO_BRACES)
def test_bibtex_of_any_text_without_braces(title: str, abstract: str) -> None:
    papers = [Paper("a", f"a{abstract}", title=f"t{title}"), PLAIN]
    (_, _, fields), last = read_bibtex("".join(to_bibtex(papers)))
    assert fields["title"] == unicodedata.normalize("NFC", f"t{title}")
    assert fields["abstract"] == unicodedata.normalize("NFC", f"a{abstract}")
    assert last[1] == "p"


@pytest.mark.parametrize("title", ["a { b", "a } b", "}{", "} @misc{evil,"])
def test_bibtex_of_unbalanced_braces(title: str) -> None:
    entries = read_bibtex("".join(to_bibtex([Paper("a", "A.", title=title), PLAIN])))
    assert [key for _, key, _ in entries] == ["a", "p"]


def test_bibtex_keeps_a_name_with_and_together() -> None:
    (_, _, fields) = read_bibtex("".join(to_bibtex([Paper("a", "A.", title="T", authors=("Bell and Sons", "B C"))])))[0]
    assert fields["author"] == "{Bell and Sons} and B C"


def read_ris(text: str) -> list[list[tuple[str, str]]]:
    records: list[list[tuple[str, str]]] = [[]]
    for line in text.split("\r\n"):
        if not line:
            continue
        match = re.fullmatch(r"([A-Z][A-Z0-9])  - (.*)", line, re.DOTALL)
        assert match is not None, line
        assert line.splitlines() == [line]
        records[-1].append((match[1], match[2]))
        if match[1] == "ER":
            records.append([])
    assert records.pop() == []
    return records


def test_ris_by_hand() -> None:
    hostile, plain = read_ris("".join(to_ris([HOSTILE, PLAIN])))
    assert hostile == [
        ("TY", "CPAPER"),
        ("ID", "10.1/a,b{c}"),
        ("TI", '<b>"Quotes", commas; {braces} \\ and @article{evil, 100%}'),
        ("AU", "Gödel, Kurt"),
        ("AU", "Smith \u200bJane"),
        ("AU", "李 明"),
        ("T2", "ICLR & Friends"),
        ("PY", "2024"),
        ("DO", "10.1/a_b"),
        ("UR", "https://x.org/a_b?c=%7B&d={e}#f"),
        ("KW", "=1+1"),
        ("KW", "graphs; trees"),
        ("AB", " ".join(HOSTILE.abstract.split())),
        ("ER", ""),
    ]
    assert plain == [("TY", "GEN"), ("ID", "p"), ("TI", "LoRAX"), ("AB", PLAIN.abstract), ("ER", "")]


@settings(max_examples=60, deadline=None)
@given(TEXT, TEXT)
def test_ris_of_any_text(title: str, abstract: str) -> None:
    first, second = read_ris("".join(to_ris([Paper("a", f"a{abstract}", title=f"t{title}"), PLAIN])))
    assert dict(first)["AB"] == " ".join(f"a{abstract}".split())
    assert dict(first)["TI"] == " ".join(f"t{title}".split())
    assert dict(second)["ID"] == "p"
