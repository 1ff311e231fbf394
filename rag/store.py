"""The truth of a library: one SQLite file (write-ahead log) with papers, vectors, sources, aliases and rejects.

What a batch adds is first staged in `pending_*` tables, which no reader looks at, and moved in one transaction when
the stores derived from it (Chroma, tantivy) have it too. Knows nothing of those stores, of embedding or of locks.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.failures import corrupt, library_error, read_only
from rag.records import Paper, Source

FILE_NAME = "papers.sqlite"
FORMAT = "1"
_BUSY_TIMEOUT_S = 10.0
_SCHEMA = """
CREATE TABLE manifest(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE {prefix}papers(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text_key TEXT NOT NULL UNIQUE, text_generation INTEGER NOT NULL,
  generation INTEGER NOT NULL, n_sentences INTEGER NOT NULL, metadata TEXT NOT NULL, abstract TEXT NOT NULL,
  offsets BLOB NOT NULL, vectors BLOB NOT NULL);
CREATE TABLE {prefix}sources(
  file TEXT NOT NULL, position INTEGER NOT NULL, paper_id TEXT NOT NULL, content TEXT NOT NULL,
  current INTEGER NOT NULL, PRIMARY KEY(file, position, paper_id)) WITHOUT ROWID;
CREATE TABLE {prefix}aliases(alias TEXT PRIMARY KEY, paper_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rejects(
  file TEXT NOT NULL, position INTEGER NOT NULL, reason TEXT NOT NULL, raw TEXT NOT NULL,
  PRIMARY KEY(file, position, reason)) WITHOUT ROWID;
CREATE TABLE rebuilt(n INTEGER PRIMARY KEY, n_sentences INTEGER NOT NULL, offsets BLOB NOT NULL, vectors BLOB NOT NULL);
CREATE INDEX sources_by_paper ON sources(paper_id);
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A paper as stored: `n` is its number for life; `paper.sources` is filled by `rows` alone.

    `offsets` is int32 (n_sentences, 2), half-open code points in the abstract. `vectors` is float32
    (1 + n_sentences, dimension): the whole text first, then the sentences in order of `offsets`.
    `text_generation` is the library's generation when what Chroma and tantivy hold of it last changed.
    """

    n: int
    paper: Paper
    text_key: str
    offsets: np.ndarray
    vectors: np.ndarray
    text_generation: int
    generation: int


@dataclass(frozen=True, slots=True)
class SourceClaim:
    """A record at a source named this paper; `content` is the digest of everything the record said."""

    source: Source
    paper_id: str
    content: str


def _schema() -> str:
    live = _SCHEMA.format(prefix="")
    staged = [part for part in _SCHEMA.format(prefix="pending_").split(";") if "TABLE pending_" in part]
    return live + ";".join(staged) + ";"


def create_file(folder: Path, manifest: Mapping[str, str]) -> None:
    """Make the SQLite file with an empty library of generation 0; it appears whole or not at all."""
    path = folder / FILE_NAME
    draft = folder / f"{FILE_NAME}.new-{os.getpid()}"
    values = {"format": FORMAT, "library": uuid.uuid4().hex, "generation": "0", "text_generation": "0", **manifest}
    try:
        draft.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.executescript(_schema())
            connection.executemany("INSERT INTO manifest VALUES (?, ?)", values.items())
            connection.execute("PRAGMA journal_mode=WAL")
        draft.replace(path)
    except (sqlite3.Error, OSError) as exc:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise library_error(exc, folder, FILE_NAME) from exc


def _connected(path: Path, mode: str, write: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("SELECT 1 FROM manifest").fetchone()
        connection.execute("PRAGMA synchronous=NORMAL" if write else "PRAGMA query_only=1")
    except BaseException:
        connection.close()
        raise
    return connection


class Store:
    """A connection to the SQLite file. Not safe for use by two threads at once; the caller takes care."""

    def __init__(self, folder: Path, *, write: bool = False) -> None:
        self.folder = folder
        self._immutable = False
        self._connection = self._connect(write)
        self._opened_as = self._signature()
        with self.guard():
            found = self.manifest().get("format")
        if found != FORMAT:
            self.close()
            raise corrupt(folder, f"{FILE_NAME} has format {found}, this program reads format {FORMAT}")

    def _connect(self, write: bool) -> sqlite3.Connection:
        path = self.folder / FILE_NAME
        writable = os.access(self.folder, os.W_OK) and os.access(path, os.W_OK)
        if write and not writable:
            raise read_only(self.folder)
        modes = ["mode=rw"] if write else ["mode=rw", "mode=ro", "immutable=1"][not writable :]
        failures: list[sqlite3.Error] = []
        for mode in modes:
            # Where the log's shared memory can't be made (no permission, no room), `immutable` reads without it.
            self._immutable = mode == "immutable=1"
            try:
                return _connected(path, mode, write)
            except sqlite3.Error as exc:
                failures.append(exc)
        raise library_error(failures[0], self.folder, FILE_NAME) from failures[0]

    def is_stale(self) -> bool:
        """Must this be opened again: is the file another one, or was one that is read as immutable written?"""
        return self._signature() != self._opened_as

    def _signature(self) -> tuple[int, ...]:
        try:
            found = (self.folder / FILE_NAME).stat()
        except OSError:
            return ()
        return (found.st_ino, found.st_mtime_ns, found.st_size) if self._immutable else (found.st_ino,)

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self._connection.close()

    @contextlib.contextmanager
    def guard(self) -> Iterator[sqlite3.Connection]:
        """Turn SQLite's exceptions into the error tree."""
        try:
            yield self._connection
        except (sqlite3.Error, UnicodeDecodeError) as exc:
            raise library_error(exc, self.folder, FILE_NAME) from exc

    @contextlib.contextmanager
    def transaction(self, mode: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """All or nothing; `mode` DEFERRED for a reader's snapshot."""
        with self.guard() as connection:
            connection.execute(f"BEGIN {mode}")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def manifest(self) -> dict[str, str]:
        """Every key of the manifest, among them generation, text_generation and the embedder's."""
        with self.guard() as connection:
            return dict(connection.execute("SELECT key, value FROM manifest"))

    def generation(self) -> int:
        """Grows by one with each visible change."""
        with self.guard() as connection:
            return int(connection.execute("SELECT value FROM manifest WHERE key='generation'").fetchone()[0])

    def set_manifest(self, values: Mapping[str, str]) -> None:
        """Insert or replace these keys, in the transaction that is open or one of its own."""
        with self.guard() as connection:
            connection.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", values.items())
