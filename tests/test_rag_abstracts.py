"""Walking files and folders, and the identity of papers."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest

from rag.abstracts import paper_id, read_paths, same_text_key, to_paper, variant_id
from rag.errors import InputError, MissingPath
from rag.records import Paper, Record, Reject, Source

SEEDS = Path(__file__).parent.parent / "seeds"
HERE = Source("d/f", 1)
ONE = b"Heading\n\nOne.\n"


def sources(items: list[Record | Reject]) -> list[tuple[str, int]]:
    return [(i.file, i.position) if isinstance(i, Reject) else (i.source.file, i.source.position) for i in items]


def test_seeds_hold_95_records_of_88_papers() -> None:
    items = list(read_paths([SEEDS]))
    assert all(isinstance(item, Record) for item in items)
    records = [item for item in items if isinstance(item, Record)]
    assert len(records) == 95
    assert len({paper_id(record) for record in records}) == 88
    assert len({same_text_key(record.abstract) for record in records}) == 88
    assert [sum(r.source.file.startswith(f"seeds/00{n}") for r in records) for n in range(5)] == [19] * 5
    assert sum("at- tention" in record.abstract for record in records) == 1
    assert all(record.abstract == record.abstract.strip() for record in records)
    assert any(record.source == Source("seeds/003_eaccdcf1b4b2f01a.txt", 7) for record in records)


def test_folders_are_walked_in_order_and_hidden_files_are_left(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("b/2.txt", "b/1.txt", "a.txt", ".hidden.txt", ".git/x.txt", "README.md", "notes.pdf", "z/readme.txt"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ONE)
    assert sources(list(read_paths([root]))) == [("root/a.txt", 1), ("root/b/1.txt", 1), ("root/b/2.txt", 1)]


def test_files_are_named_by_their_folder_and_read_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "README.txt").write_bytes(ONE)
    (root / "x.txt").write_bytes(ONE)
    given = [root / "README.txt", root / "x.txt", root, root / "x.txt"]
    assert sources(list(read_paths(given))) == [("root/README.txt", 1), ("root/x.txt", 1)]


def test_standard_input_is_read_and_its_format_guessed() -> None:
    assert sources(list(read_paths(["-"], stdin=io.BytesIO(b'\n {"abstract":"A."}\n')))) == [("-", 1)]
    assert sources(list(read_paths(["-"], stdin=io.BytesIO(ONE)))) == [("-", 1)]


def test_a_pipe_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, ONE)
    os.close(writing)
    try:
        items = list(read_paths([Path(f"/dev/fd/{reading}")]))
    finally:
        os.close(reading)
    assert [item.abstract for item in items if isinstance(item, Record)] == ["One."]


def test_missing_path_is_said_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(ONE)
    with pytest.raises(MissingPath, match=r"no such file or folder: .*nowhere"):
        read_paths([tmp_path / "x.txt", tmp_path / "nowhere"])


@pytest.mark.parametrize("names", [(), ("a.pdf", "b.xyz"), (".hidden.txt",), ("README.md",)])
def test_folder_with_nothing_readable(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).write_bytes(ONE)
    with pytest.raises(InputError, match=r"nothing to read in .*; citewise reads plain text \(.txt, .md\) and JSON"):
        read_paths([tmp_path])


def test_unknown_formats_are_rejects_beside_other_arguments(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(ONE)
    (tmp_path / "y.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(InputError, match="nothing to read"):
        read_paths([tmp_path / "y.pdf"])
    items = list(read_paths([tmp_path / "x.txt", tmp_path / "y.pdf"]))
    assert isinstance(items[1], Reject)
    assert items[1].reason.startswith("unknown format: citewise reads plain text")


def test_empty_file_alone_is_an_error_and_a_reject_among_others(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_bytes(b" \n\n")
    (tmp_path / "x.txt").write_bytes(ONE)
    with pytest.raises(InputError, match=r"empty file: .*e\.txt"):
        list(read_paths([tmp_path / "e.txt"]))
    with pytest.raises(InputError, match="empty file: standard input"):
        list(read_paths(["-"], stdin=io.BytesIO(b"")))
    assert [item.reason for item in read_paths([tmp_path]) if isinstance(item, Reject)] == ["empty file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="as root every file can be opened")
def test_file_that_cannot_be_opened_is_a_reject(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(ONE)
    (tmp_path / "y.txt").write_bytes(ONE)
    (tmp_path / "y.txt").chmod(0)
    assert [item.reason for item in read_paths([tmp_path]) if isinstance(item, Reject)] == [
        "can't be opened: Permission denied"
    ]


@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode there")
def test_names_and_links_that_are_odd(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / os.fsdecode(b"caf\xe9.txt")).write_bytes(ONE)
    (root / "loop").symlink_to(root)
    (root / "gone.txt").symlink_to(tmp_path / "nowhere")
    items = list(read_paths([root]))
    assert sources(items) == [("root/caf\ufffd.txt", 1), ("root/gone.txt", 0)]
    assert isinstance(items[1], Reject)
    assert items[1].reason == "not a file, or a broken link"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file whose bytes can't be read")
def test_file_that_fails_while_it_is_read_is_a_reject(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(ONE)
    items = list(read_paths([Path("/proc/self/mem"), tmp_path / "x.txt"]))
    assert isinstance(items[0], Reject)
    assert items[0].reason == "can't be read: Input/output error"
    assert isinstance(items[1], Record)


SHA = hashlib.sha256(b"A.").hexdigest()


@pytest.mark.parametrize(
    ("key", "doi", "expected"),
    [
        ("abc", "10.1/X", "abc"),
        ("  a\x00b\n ", None, "ab"),
        (" ", "10.1/X", "10.1/x"),
        (None, None, SHA[:16]),
        ("k" * 512, None, "k" * 512),
        ("k" * 513, None, "sha256:" + hashlib.sha256(b"k" * 513).hexdigest()[:32]),
        ("模型", None, "模型"),
    ],
)
def test_ids(key: str | None, doi: str | None, expected: str) -> None:
    assert paper_id(Record(abstract="A.", source=HERE, key=key, doi=doi)) == expected


def test_variant_ids() -> None:
    assert variant_id("abc", "A.") == "abc~e5365717"


@pytest.mark.parametrize(
    "other",
    [
        "the “flow”–based model’s eﬃcient, state-of-the-art  Straße.",
        'THE "FLOW"-BASED MODEL\'S EFFICIENT, STATE‑OF‑THE‑ART STRASSE.',
        "The ``flow''--based\r\nmodel's effi\u00adcient,\u00a0state-of-the-art\u200b Strasse.",
    ],
)
def test_same_text_in_another_form_is_the_same_paper(other: str) -> None:
    assert same_text_key(other) == same_text_key('The "flow"-based model\'s efficient, state-of-the-art Straße.')


@pytest.mark.parametrize("other", ["We use 12 layers.", "We use 2 layer.", "We use 2 layers!", "We use−2 layers."])
def test_another_text_is_another_paper(other: str) -> None:
    assert same_text_key(other) != same_text_key("We use 2 layers.")


def test_paper_of_a_record() -> None:
    record = Record(abstract="A.", source=HERE, key="k", title="T", authors=("B",), year=2024, keywords=("x",))
    expected = Paper(id="k", abstract="A.", title="T", authors=("B",), year=2024, keywords=("x",), sources=(HERE,))
    assert to_paper(record) == expected
    assert to_paper(record, "k~12").id == "k~12"
