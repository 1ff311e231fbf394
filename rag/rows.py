"""Papers as rows of the SQLite file: looked up, staged, made visible, read.

Functions over a `Store`, the only ones that know the columns. A reader sees the live tables alone.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag.records import Paper, Reject, Source
from rag.store import Row, SourceClaim, Store

_COLUMNS = "n, id, text_key, abstract, metadata, text_generation, generation, n_sentences, offsets, vectors"
# SQLite's default limit of variables in one statement was 999 for long.
_VARIABLES = 900


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a library holds."""

    papers: int
    sentences: int
    sources: int
    rejects: int


def counts(store: Store) -> Counts:
    """Counted, not remembered."""
    with store.guard() as connection:
        papers, sentences = connection.execute("SELECT count(*), coalesce(sum(n_sentences), 0) FROM papers").fetchone()
        sources = connection.execute("SELECT count(*) FROM sources WHERE current").fetchone()[0]
        rejects = connection.execute("SELECT count(*) FROM rejects").fetchone()[0]
    return Counts(papers, sentences, sources, rejects)


def paper_at(store: Store, source: Source) -> SourceClaim | None:
    """What was last read at this source."""
    with store.guard() as connection:
        found = connection.execute(
            "SELECT paper_id, content FROM sources WHERE file=? AND position=? AND current",
            (source.file, source.position),
        ).fetchone()
    return SourceClaim(source, *found) if found else None


def has_source(store: Store, source: Source, paper_id: str) -> bool:
    """Was this paper ever read at this source?"""
    with store.guard() as connection:
        found = connection.execute(
            "SELECT 1 FROM sources WHERE file=? AND position=? AND paper_id=?",
            (source.file, source.position, paper_id),
        ).fetchone()
    return found is not None


def resolve(store: Store, paper_id: str) -> str | None:
    """The id of the paper that this id or alias names, or None."""
    with store.guard() as connection:
        found = connection.execute(
            "SELECT id FROM papers WHERE id=?1 UNION ALL SELECT paper_id FROM aliases WHERE alias=?1", (paper_id,)
        ).fetchone()
    return str(found[0]) if found else None


def row_by_text(store: Store, text_key: str) -> Row | None:
    """The paper with this text, without its sources."""
    with store.guard() as connection:
        found = connection.execute(f"SELECT {_COLUMNS} FROM papers WHERE text_key=?", (text_key,)).fetchone()
    return _row(found) if found else None


def next_number(store: Store) -> int:
    """A paper number that was never given."""
    with store.guard() as connection:
        return 1 + int(connection.execute("SELECT coalesce(max(n), 0) FROM papers").fetchone()[0])


def rows(store: Store, *, ids: Sequence[str] | None = None) -> Iterator[Row]:
    """Visible papers sorted by id, with sources; all of them, or those of `ids` that exist."""
    with store.guard() as connection:
        if ids is None:
            sources = _sources(connection.execute("SELECT paper_id, file, position, current FROM sources"))
            for found in connection.execute(f"SELECT {_COLUMNS} FROM papers ORDER BY id"):
                yield _with_sources(_row(found), sources)
            return
        wanted = sorted(set(ids))
        for start in range(0, len(wanted), _VARIABLES):
            part = wanted[start : start + _VARIABLES]
            marks = ",".join("?" * len(part))
            sources = _sources(
                connection.execute(
                    f"SELECT paper_id, file, position, current FROM sources WHERE paper_id IN ({marks})", part
                )
            )
            for found in connection.execute(f"SELECT {_COLUMNS} FROM papers WHERE id IN ({marks}) ORDER BY id", part):
                yield _with_sources(_row(found), sources)


def papers(store: Store) -> list[Paper]:
    """Visible papers sorted by id, with sources; their vectors are not read."""
    with store.guard() as connection:
        sources = _sources(connection.execute("SELECT paper_id, file, position, current FROM sources"))
        found = connection.execute("SELECT id, abstract, metadata FROM papers ORDER BY id")
        return [replace(_paper(*columns), sources=sources.get(columns[0], ())) for columns in found]


def ids_by_number(store: Store, numbers: Sequence[int]) -> list[str]:
    """The ids of these papers in the order given; numbers that name no visible paper are left out."""
    with store.guard() as connection:
        found = {n: connection.execute("SELECT id FROM papers WHERE n=?", (n,)).fetchone() for n in numbers}
    return [str(found[n][0]) for n in numbers if found[n]]


def stage(store: Store, staged: Iterable[Row], claims: Iterable[SourceClaim], aliases: Mapping[str, str]) -> None:
    """Write a batch where no reader looks, in the transaction that is open."""
    with store.guard() as connection:
        connection.executemany(
            f"INSERT OR REPLACE INTO pending_papers({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)", map(_values, staged)
        )
        connection.executemany(
            "INSERT OR REPLACE INTO pending_sources VALUES (?,?,?,?,1)",
            ((c.source.file, c.source.position, c.paper_id, c.content) for c in claims),
        )
        connection.executemany("INSERT OR REPLACE INTO pending_aliases VALUES (?,?)", aliases.items())


def pending_rows(store: Store) -> list[Row]:
    """What is staged; empty when the last batch was finished."""
    with store.guard() as connection:
        return [_row(found) for found in connection.execute(f"SELECT {_COLUMNS} FROM pending_papers ORDER BY n")]


def has_pending(store: Store) -> bool:
    """Was a batch staged and not finished?"""
    with store.guard() as connection:
        found = connection.execute(
            "SELECT EXISTS(SELECT 1 FROM pending_papers) OR EXISTS(SELECT 1 FROM pending_sources)"
            " OR EXISTS(SELECT 1 FROM pending_aliases)"
        ).fetchone()
    return bool(found[0])


def finish(store: Store, generation: int, *, text_changed: bool) -> None:
    """Make what is staged visible as `generation`, in the transaction that is open."""
    with store.guard() as connection:
        connection.execute(f"INSERT OR REPLACE INTO papers({_COLUMNS}) SELECT {_COLUMNS} FROM pending_papers")
        # A place in a file holds one record: the paper that was read there before gives it up.
        connection.execute(
            "UPDATE sources SET current=0 WHERE (file, position) IN (SELECT file, position FROM pending_sources)"
        )
        connection.execute("INSERT OR REPLACE INTO sources SELECT * FROM pending_sources")
        connection.execute("DELETE FROM rejects WHERE (file, position) IN (SELECT file, position FROM pending_sources)")
        connection.execute("INSERT OR REPLACE INTO aliases SELECT * FROM pending_aliases")
        for table in ("papers", "sources", "aliases"):
            connection.execute(f"DELETE FROM pending_{table}")
    store.set_manifest({"generation": str(generation)} | ({"text_generation": str(generation)} if text_changed else {}))


def add_rejects(store: Store, rejects: Sequence[Reject]) -> None:
    """Remember what could not be read; what was read there before is there no more."""
    with store.guard() as connection:
        connection.executemany(
            "UPDATE sources SET current=0 WHERE file=? AND position=?", ((r.file, r.position) for r in rejects)
        )
        connection.executemany(
            "INSERT OR REPLACE INTO rejects VALUES (?,?,?,?)", ((r.file, r.position, r.reason, r.raw) for r in rejects)
        )


def rejects(store: Store) -> list[Reject]:
    """All that is remembered, by file and position."""
    with store.guard() as connection:
        found = connection.execute("SELECT file, position, reason, raw FROM rejects ORDER BY file, position, reason")
        return [Reject(*row) for row in found]


def _values(row: Row) -> tuple[object, ...]:
    paper = row.paper
    metadata = {
        "title": paper.title,
        "authors": paper.authors,
        "venue": paper.venue,
        "year": paper.year,
        "url": paper.url,
        "doi": paper.doi,
        "keywords": paper.keywords,
    }
    return (
        row.n,
        paper.id,
        row.text_key,
        paper.abstract,
        json.dumps(metadata, ensure_ascii=False),
        row.text_generation,
        row.generation,
        len(row.offsets),
        np.ascontiguousarray(row.offsets, dtype="<i4").tobytes(),
        np.ascontiguousarray(row.vectors, dtype="<f4").tobytes(),
    )


def _row(found: tuple[int, str, str, str, str, int, int, int, bytes, bytes]) -> Row:
    n, paper_id, text_key, abstract, metadata, text_generation, generation, n_sentences, offsets, vectors = found
    return Row(
        n=n,
        paper=_paper(paper_id, abstract, metadata),
        text_key=text_key,
        offsets=np.frombuffer(offsets, dtype="<i4").reshape(n_sentences, 2),
        vectors=np.frombuffer(vectors, dtype="<f4").reshape(1 + n_sentences, -1),
        text_generation=text_generation,
        generation=generation,
    )


def _paper(paper_id: str, abstract: str, metadata: str) -> Paper:
    data = json.loads(metadata)
    data["authors"] = tuple(data["authors"])
    data["keywords"] = tuple(data["keywords"])
    return Paper(id=paper_id, abstract=abstract, **data)


def _sources(found: sqlite3.Cursor) -> dict[str, tuple[Source, ...]]:
    current: dict[str, list[Source]] = defaultdict(list)
    former: dict[str, list[Source]] = defaultdict(list)
    for paper_id, file, position, is_current in found:
        (current if is_current else former)[paper_id].append(Source(file, position))
    # A paper whose every place was taken by another keeps the places it had: it must have come from somewhere.
    return {paper_id: tuple(sorted(places)) for paper_id, places in {**former, **current}.items()}


def _with_sources(row: Row, sources: Mapping[str, tuple[Source, ...]]) -> Row:
    return replace(row, paper=replace(row.paper, sources=sources.get(row.paper.id, ())))
