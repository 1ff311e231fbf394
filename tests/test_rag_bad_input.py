"""Bad input and damaged libraries through the real command: one clear line, the right exit code, nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from cli_kit import (
    PAPERS,
    Done,
    at_once,
    citewise,
    error_line,
    object_of,
    small_disk,
    unprivileged,
    write_papers,
)

from rag.index import Library

QUESTION = "Which teacher logits does SlimKD ignore?"
NEW = {"id": "new", "abstract": "Sparse attention prunes keys that no query uses. We call the method KeyCut."}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of five papers; beside it the file they came from. Not to be changed: see `library`."""
    folder = tmp_path_factory.mktemp("bad")
    citewise("ingest", write_papers(folder / "papers.jsonl"), "--library", folder / "lib")
    return folder / "lib"


@pytest.fixture
def library(filled: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(filled, tmp_path / "lib")


def assert_nothing_lost(library: Path, papers: int = len(PAPERS)) -> None:
    """The command counts every paper, and each is there with its words."""
    assert object_of("status", "--library", library)["papers"] == papers
    with Library.open(library) as opened:
        held = {paper.id: paper.abstract for paper in opened.papers()}
    assert len(held) == papers
    assert {paper["id"]: held[paper["id"]] for paper in PAPERS} == {paper["id"]: paper["abstract"] for paper in PAPERS}


@pytest.fixture(scope="module")
def refused(filled: Path) -> dict[str, Done]:
    """Runs of `ingest` on what can't be read, two at a time into one library, in which nothing may be lost."""
    folder = filled.parent / "unreadable"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "figure.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "empty.txt").touch()
    (folder / "scan.txt").write_bytes(bytes(range(256)) * 20)
    library = shutil.copytree(filled, folder / "lib")
    names = ("none.jsonl", "pictures", "empty.txt", "scan.txt")
    runs = at_once({name: partial(citewise, "ingest", folder / name, "--library", library, "--json") for name in names})
    assert_nothing_lost(library)
    return runs


def test_a_missing_path(refused: dict[str, Done], filled: Path) -> None:
    done = refused["none.jsonl"]
    assert error_line(done).startswith(f"no such file or folder: {filled.parent / 'unreadable' / 'none.jsonl'}")
    assert done.stdout == ""


def test_a_folder_with_nothing_readable(refused: dict[str, Done], filled: Path) -> None:
    done = refused["pictures"]
    folder = filled.parent / "unreadable" / "pictures"
    assert error_line(done).startswith(f"nothing to read in {folder}; citewise reads plain text (.txt, .md) and JSON")
    assert done.stdout == ""


def test_an_empty_file(refused: dict[str, Done], filled: Path) -> None:
    done = refused["empty.txt"]
    assert error_line(done).startswith(f"empty file: {filled.parent / 'unreadable' / 'empty.txt'}")
    assert done.stdout == ""


def test_a_binary_file(refused: dict[str, Done]) -> None:
    done = refused["scan.txt"]
    begin = "nothing could be read: unreadable/scan.txt: binary file, not text; details are in "
    assert error_line(done).startswith(begin)
    summary = json.loads(done.stdout)
    assert (summary["read"], summary["rejected"], summary["papers"]) == (1, 1, 5)
    (reject,) = map(json.loads, Path(summary["rejects_file"]).read_text(encoding="utf-8").splitlines())
    assert (reject["file"], reject["reason"]) == ("unreadable/scan.txt", "binary file, not text")


def test_a_line_of_100_mb_is_rejected_and_its_neighbour_read(library: Path, tmp_path: Path) -> None:
    with (tmp_path / "long.jsonl").open("w") as stream:
        stream.write('{"id": "long", "abstract": "')
        for _ in range(100):
            stream.write("word " * 200_000)
        stream.write('"}\n' + json.dumps(NEW) + "\n")
    done = citewise("ingest", tmp_path / "long.jsonl", "--library", library)
    (tmp_path / "long.jsonl").unlink()
    assert (done.returncode, done.stdout) == (0, "")
    told, where = done.stderr.splitlines()
    assert told.startswith("2 records read: 1 added, 1 rejected. 6 papers, ")
    (reject,) = map(json.loads, Path(where.split(": ")[1]).read_text(encoding="utf-8").splitlines())
    assert (reject["position"], reject["reason"]) == (1, "longer than 1,000,000 characters")
    assert reject["raw"].startswith('{"id": "long"') and len(reject["raw"]) <= 500
    assert_nothing_lost(library, papers=6)


def test_a_file_that_is_not_utf8_is_read_and_what_is_broken_is_reported(library: Path, tmp_path: Path) -> None:
    lines = '{"id": "new", "abstract": "Schrödinger bridges at a café. We call it KeyCut."}\n{"id": "cut", "abs'
    (tmp_path / "latin.jsonl").write_bytes(lines.encode("latin-1"))
    summary = object_of("ingest", tmp_path / "latin.jsonl", "--library", library)
    assert (summary["read"], summary["added"], summary["rejected"]) == (2, 1, 1)
    (reject,) = map(json.loads, Path(summary["rejects_file"]).read_text(encoding="utf-8").splitlines())
    assert (reject["file"], reject["position"]) == (f"{tmp_path.name}/latin.jsonl", 2)
    with Library.open(library) as opened:
        assert "Schrödinger bridges at a café. We call it KeyCut." in {paper.abstract for paper in opened.papers()}
    assert_nothing_lost(library, papers=6)


def test_an_empty_question(filled: Path) -> None:
    runs = at_once({text: partial(citewise, "ask", text, "--library", filled, "--json") for text in ("", " \t ", "?!")})
    for done in runs.values():
        assert error_line(done).startswith("the question is empty: ask something, such as citewise ask ")
        assert done.stdout == ""


def test_a_question_of_100_000_characters(filled: Path, tmp_path: Path) -> None:
    question = ("routing " * 12_500)[:100_000]
    line = error_line(citewise("ask", question, "--library", filled))
    assert line == "the question has 99,999 characters, the limit is 8,000: shorten it"
    batch = tmp_path / "batch.jsonl"
    batch.write_text("".join(json.dumps({"id": n, "question": q}) + "\n" for n, q in enumerate((question, QUESTION))))
    done = citewise("ask", "--batch", batch, "--json", "--library", filled)
    long, short = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, long["error"]["code"], short["refused"]) == (0, "bad_question", False)


def ask_and_ingest(library: Path, papers: Path) -> dict[str, Done]:
    return at_once(
        {
            "ask": partial(citewise, "ask", QUESTION, "--library", library, "--json"),
            "ingest": partial(citewise, "ingest", papers, "--library", library, "--json"),
        }
    )


def test_a_corrupt_library_is_left_alone(library: Path, filled: Path) -> None:
    file = library / "papers.sqlite"
    whole = file.read_bytes()
    file.write_bytes(b"no database at all " * 400)
    for done in ask_and_ingest(library, filled.parent / "papers.jsonl").values():
        line = error_line(done)
        assert line.startswith(f"the library {library} is damaged: ")
        assert "restore it from a copy, or remove the folder and run `citewise ingest PATH --library" in line
        assert done.stdout == ""
    assert file.read_bytes() == b"no database at all " * 400
    file.write_bytes(whole)  # "restore it from a copy"
    assert_nothing_lost(library)


def test_a_library_without_its_derived_parts_answers_and_the_next_ingest_mends_it(library: Path, filled: Path) -> None:
    for folder in (*library.glob("chroma-*"), *library.glob("words-*")):
        shutil.rmtree(folder)
    answer = object_of("ask", QUESTION, "--library", library)
    assert answer["papers"][0]["paper_id"] == "slim" and not answer["refused"]
    summary = object_of("ingest", filled.parent / "papers.jsonl", "--library", library)
    assert (summary["unchanged"], summary["papers"]) == (5, 5)
    assert list(library.glob("chroma-*/chroma.sqlite3")) and list(library.glob("words-*/meta.json"))
    assert_nothing_lost(library)


def test_a_library_without_its_papers_is_not_taken_for_a_new_one(library: Path, filled: Path) -> None:
    kept = (library / "papers.sqlite").rename(library.parent / "kept.sqlite")
    for done in ask_and_ingest(library, filled.parent / "papers.jsonl").values():
        assert error_line(done).startswith(f"the library {library} is damaged: papers.sqlite is missing; restore it")
    assert list(library.glob("chroma-*/chroma.sqlite3")) and not (library / "papers.sqlite").exists()
    kept.rename(library / "papers.sqlite")
    assert_nothing_lost(library)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX users")
def test_a_read_only_library_answers_and_refuses_to_be_written(filled: Path) -> None:
    prefix = unprivileged()
    with tempfile.TemporaryDirectory() as parent:  # not in pytest's folders: those are closed to other users
        Path(parent).chmod(0o755)
        library = shutil.copytree(filled, Path(parent) / "lib")
        new = write_papers(Path(parent) / "new.jsonl", [NEW])
        new.chmod(0o644)
        before = {path: path.read_bytes() for path in library.rglob("*") if path.is_file()}
        for path in (*library.rglob("*"), library):
            path.chmod(0o555 if path.is_dir() else 0o444)
        run = partial(citewise, prefix=prefix, env={"HOME": "/nonexistent"})
        runs = at_once(
            {
                "ask": partial(run, "ask", QUESTION, "--library", library, "--json"),
                "status": partial(run, "status", "--library", library, "--json"),
                "ingest": partial(run, "ingest", new, "--library", library),
                "rebuild": partial(run, "ingest", new, "--library", library, "--rebuild"),
            }
        )
        for path in (library, *library.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        assert before == {path: path.read_bytes() for path in library.rglob("*") if path.is_file()}
        assert_nothing_lost(library)
    assert runs["ask"].returncode == 0, runs["ask"].stderr
    assert json.loads(runs["ask"].stdout)["papers"][0]["paper_id"] == "slim"
    assert json.loads(runs["status"].stdout)["papers"] == 5
    for name in ("ingest", "rebuild"):
        line = error_line(runs[name])
        assert "can't be written by this user; asking it works, to add papers get write permission or name" in line


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as folder:
        yield folder


def test_a_full_disk(disk: Path, filled: Path, tmp_path: Path) -> None:
    library = shutil.copytree(filled, disk / "lib")
    many = [{"id": f"n{n}", "abstract": f"Work {n}. " + NEW["abstract"]} for n in range(4)]
    papers = write_papers(tmp_path / "many.jsonl", many)
    ballast = disk / "ballast"
    with ballast.open("wb") as stream:
        stream.write(b"\0" * (shutil.disk_usage(disk).free))
    runs = at_once(
        {
            "ask": partial(citewise, "ask", QUESTION, "--library", library, "--json"),
            "ingest": partial(citewise, "ingest", papers, "--library", library),
            "new": partial(citewise, "ingest", papers, "--library", disk / "new"),
        }
    )
    assert json.loads(runs["ask"].stdout)["papers"][0]["paper_id"] == "slim"
    for name, folder in (("ingest", library), ("new", disk / "new")):
        line = error_line(runs[name])
        assert line.startswith(
            f"no room is left on the disk that holds the library {folder}; what was in it is intact, "
        )
        assert line.endswith("make room and run the same command again")
    assert_nothing_lost(library)
    ballast.unlink()
    summary = object_of("ingest", papers, "--library", library)
    assert (summary["read"], summary["rejected"], summary["papers"]) == (4, 0, 9)
    assert_nothing_lost(library, papers=9)
