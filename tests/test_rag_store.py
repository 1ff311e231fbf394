from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from rag import rows
from rag.errors import CorruptLibrary, DiskFull, LibraryBusy, LibraryError, ReadOnlyLibrary
from rag.failures import library_error
from rag.records import Paper, Reject, Source
from rag.store import Row, SourceClaim, Store, create_file

MANIFEST = {"embedder_name": "hashing"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    create_file(tmp_path, MANIFEST)
    return Store(tmp_path, write=True)


def make_row(n: int, paper_id: str, generation: int = 1, **metadata: object) -> Row:
    return Row(
        n=n,
        paper=Paper(paper_id, "One. Two.", **metadata),  # type: ignore[arg-type]
        text_key=f"text of {paper_id}",
        offsets=np.array([(0, 4), (5, 9)], np.int32),
        vectors=np.arange(6, dtype=np.float32).reshape(3, 2) + n,
        text_generation=generation,
        generation=generation,
    )


def claim(file: str, position: int, paper_id: str) -> SourceClaim:
    return SourceClaim(Source(file, position), paper_id, "digest")


def write(store: Store, generation: int, *staged: Row, claims: tuple[SourceClaim, ...] = ()) -> None:
    with store.transaction():
        rows.stage(store, staged, claims, {})
    with store.transaction():
        rows.finish(store, generation, text_changed=True)


def test_what_is_staged_is_seen_only_when_finished(store: Store, tmp_path: Path) -> None:
    reader = Store(tmp_path)
    row = make_row(1, "a", title="T", authors=("X", "Y"), venue="V", year=2024, url="u", doi="d", keywords=("k",))
    with store.transaction():
        rows.stage(store, [row], [claim("f", 1, "a")], {"b": "a"})
    assert rows.has_pending(store)
    assert (rows.papers(reader), rows.resolve(reader, "a"), rows.resolve(reader, "b")) == ([], None, None)
    assert (rows.paper_at(reader, Source("f", 1)), reader.generation()) == (None, 0)
    (pending,) = rows.pending_rows(store)
    assert pending.paper == row.paper
    with store.transaction():
        rows.finish(store, 7, text_changed=True)
    assert not rows.has_pending(store)
    (found,) = rows.rows(reader)
    assert (found.paper.title, found.paper.authors, found.paper.sources) == ("T", ("X", "Y"), (Source("f", 1),))
    np.testing.assert_array_equal(found.vectors, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(found.offsets, [(0, 4), (5, 9)])
    assert (rows.resolve(reader, "a"), rows.resolve(reader, "b"), reader.generation()) == ("a", "a", 7)
    assert rows.counts(reader) == rows.Counts(papers=1, sentences=2, sources=1, rejects=0)


def test_metadata_alone_leaves_the_generation_of_the_texts(store: Store) -> None:
    write(store, 1, make_row(1, "a"))
    with store.transaction():
        rows.stage(store, [make_row(1, "a", venue="V")], [], {})
        rows.finish(store, 2, text_changed=False)
    manifest = store.manifest()
    assert (manifest["generation"], manifest["text_generation"]) == ("2", "1")


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction():
        rows.stage(store, [make_row(1, "a")], [], {})
        raise ZeroDivisionError
    assert not rows.has_pending(store)


def test_papers_come_sorted_by_id_whole_or_by_choice(store: Store) -> None:
    write(store, 1, *(make_row(n, f"p{n:04}") for n in range(2000, 0, -1)))
    ids = [f"p{n:04}" for n in range(1, 2001)]
    assert [row.paper.id for row in rows.rows(store)] == ids
    assert [paper.id for paper in rows.papers(store)] == ids
    chosen = [*ids[5:1500], "none", ids[7]]
    assert [row.paper.id for row in rows.rows(store, ids=chosen)] == ids[5:1500]
    assert rows.ids_by_number(store, [3, 9999, 1]) == ["p0003", "p0001"]


def test_a_place_belongs_to_the_last_paper_read_there(store: Store) -> None:
    write(store, 1, make_row(1, "a"), claims=(claim("f", 1, "a"), claim("g", 1, "a")))
    write(store, 2, make_row(2, "b"), claims=(claim("f", 1, "b"),))
    assert [paper.sources for paper in rows.papers(store)] == [(Source("g", 1),), (Source("f", 1),)]
    assert rows.has_source(store, Source("f", 1), "a")
    assert rows.paper_at(store, Source("f", 1)) == claim("f", 1, "b")


def test_rejects_are_one_for_each_place_and_reason(store: Store) -> None:
    bad = Reject("f", 2, "no abstract", "raw")
    rows.add_rejects(store, [bad, Reject("f", 1, "too long", "x"), bad])
    assert rows.rejects(store) == [Reject("f", 1, "too long", "x"), bad]
    write(store, 1, make_row(1, "a"), claims=(claim("f", 2, "a"),))
    assert rows.rejects(store) == [Reject("f", 1, "too long", "x")]


def test_another_format_is_refused(tmp_path: Path) -> None:
    create_file(tmp_path, {"format": "99"})
    with pytest.raises(CorruptLibrary, match="has format 99"):
        Store(tmp_path)


def test_a_replaced_file_is_noticed(tmp_path: Path) -> None:
    create_file(tmp_path, MANIFEST)
    store = Store(tmp_path)
    assert not store.is_stale()
    create_file(tmp_path, MANIFEST)
    assert store.is_stale()
    store.close()


MESSAGES = {
    "database or disk is full": DiskFull,
    "IO error: No space left on device (os error 28)": DiskFull,
    "attempt to write a readonly database": ReadOnlyLibrary,
    "Permission denied (os error 13)": ReadOnlyLibrary,
    "database is locked": LibraryBusy,
    "file is not a database": CorruptLibrary,
    "database disk image is malformed": CorruptLibrary,
    "no such table: manifest": CorruptLibrary,
    "unable to open database file": LibraryError,
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_of_sqlite_become_the_error_tree(tmp_path: Path, message: str) -> None:
    error = library_error(sqlite3.OperationalError(message), tmp_path, "papers.sqlite")
    assert type(error) is MESSAGES[message]
    assert str(tmp_path) in str(error)


def test_the_cause_is_found_behind_what_failed_later(tmp_path: Path) -> None:
    try:
        try:
            raise OSError(28, "No space left on device")
        except OSError:
            raise AttributeError("no attribute 'bindings'")  # noqa: B904
    except AttributeError as exc:
        assert type(library_error(exc, tmp_path, "vector store")) is DiskFull
