"""Ingest: batches of records into SQLite, Chroma and tantivy, each batch whole or not at all, under a lock.

A batch: plan and embed without the lock; then lock, plan again if another process wrote meanwhile, stage in SQLite,
write Chroma, commit tantivy, make it visible in SQLite, unlock. Killed at any moment, the next one completes it.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from rag import rows
from rag.derived import PARTS, Derived, cleaned, stamp_of, whole_text
from rag.embed import Embedder
from rag.failures import library_error
from rag.ledger import Outcomes, Plan, plan
from rag.locking import pause_for_others, writer_lock
from rag.passages import Passage, embed_passages
from rag.records import Record, Reject
from rag.store import Row, Store

# With the packaged model some 5 s of embedding: a bar that moves, little lost by a kill, stores opened rarely.
BATCH_RECORDS = 32
REJECTS_FILE = "rejects.jsonl"


@dataclass(frozen=True, slots=True)
class Progress:
    """Records read so far, of how many (None when unknown), papers added so far, and what was just done."""

    done_records: int
    total: int | None
    added: int
    phase: str


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """What an ingest did: read == added + updated + unchanged + merged + rejected (see `ledger.Outcomes`).

    `rejects_file` is None when this ingest rejected nothing. `papers` and `chunks` (sentences) count the library.
    """

    read: int
    added: int
    updated: int
    unchanged: int
    merged: int
    rejected: int
    rejects_file: str | None
    papers: int
    chunks: int
    seconds: float

    def as_json(self) -> dict[str, int | float | str | None]:
        """The object that `citewise ingest --json` prints."""
        return asdict(self)


OnProgress = Callable[[Progress], None]


class Writer:
    """One process's way to write a library. Close it to release what it opened."""

    def __init__(self, folder: Path, embedder: Embedder, lock_timeout_s: float) -> None:
        self._folder = folder
        self.embedder = embedder
        self._lock_timeout_s = lock_timeout_s
        self.store = Store(folder, write=True)
        self._derived = Derived(self.store)
        self._released_at: float | None = None

    def release_parts(self) -> None:
        """Close Chroma; the next write opens it again."""
        self._derived.close()

    def close(self) -> None:
        """Release all files."""
        with contextlib.suppress(Exception):  # what failed here must not hide why we are leaving
            self._derived.close()
        self.store.close()

    def ingest(self, records: Iterable[Record | Reject], on_progress: OnProgress | None) -> IngestSummary:
        """See `Library.ingest`."""
        started = time.perf_counter()
        total = len(records) if isinstance(records, Sequence) else None
        done = Outcomes()
        if self.needs_repair():
            with self.locked():
                self.recover()
        source = iter(records)
        while batch := list(islice(source, BATCH_RECORDS)):
            done.add(self._batch(batch))
            if on_progress is not None:
                on_progress(Progress(done.read, total, done.added, "ingest"))
        rejects_file = self._write_rejects_file() if done.rejected else None
        now = rows.counts(self.store)
        return IngestSummary(
            read=done.read,
            **asdict(done),
            rejects_file=rejects_file,
            papers=now.papers,
            chunks=now.sentences,
            seconds=round(time.perf_counter() - started, 3),
        )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the writer's lock, after others have had a turn."""
        pause_for_others(self._released_at)
        with writer_lock(self._folder, self._lock_timeout_s):
            yield
        self._released_at = time.monotonic()

    def needs_repair(self) -> bool:
        """Is there a batch to complete or a part to repair? Looks at SQLite and two small files only."""
        manifest = self.store.manifest()
        stamps = [stamp_of(self._folder, manifest, part) for part in PARTS]
        return rows.has_pending(self.store) or any(stamp != int(manifest["text_generation"]) for stamp in stamps)

    def recover(self) -> None:
        """Complete a staged batch and make both parts equal to SQLite. Call it with the lock held."""
        manifest = self.store.manifest()
        generation = int(manifest["generation"]) + 1
        pending = rows.has_pending(self.store)
        # A part stamped with the staged generation is ahead by a batch that is about to be completed.
        right = {int(manifest["text_generation"])} | ({generation} if pending else set())
        for part in PARTS:
            if stamp_of(self._folder, manifest, part) not in right:
                self._derived.repair(part)
        if pending:
            self._complete(generation)

    def _batch(self, batch: Sequence[Record | Reject]) -> Outcomes:
        wanted = plan(self.store, batch)
        if not wanted.writes:
            return wanted.outcomes
        vectors: dict[Passage, np.ndarray] = {}
        self._embed(wanted, vectors)
        with self.locked():
            if self.needs_repair():
                self.recover()
            if self.store.generation() != wanted.generation:
                wanted = plan(self.store, batch)
                self._embed(wanted, vectors)
            self._write(wanted, vectors)
        return wanted.outcomes

    def _embed(self, wanted: Plan, vectors: dict[Passage, np.ndarray]) -> None:
        """Add to `vectors` what the plan needs and it lacks."""
        passages = [passage_of(wanted.papers[paper_id]) for paper_id in wanted.to_embed]
        missing = list(dict.fromkeys(passage for passage in passages if passage not in vectors))
        vectors.update(zip(missing, embed_passages(self.embedder, missing), strict=True))

    def _write(self, wanted: Plan, vectors: dict[Passage, np.ndarray]) -> None:
        ready = [
            replace(row, vectors=vectors[passage_of(row)]) if row.paper.id in wanted.to_embed else row
            for row in wanted.papers.values()
        ]
        generation = wanted.generation + 1
        with self.store.transaction():
            rows.stage(self.store, ready, wanted.claims.values(), wanted.aliases)
            rows.add_rejects(self.store, wanted.rejects)
            if not wanted.to_embed:
                rows.finish(self.store, generation, text_changed=False)
        if wanted.to_embed:
            self._complete(generation)

    def _complete(self, generation: int) -> None:
        """Carry what is staged into both parts, then make it visible."""
        changed = [row for row in rows.pending_rows(self.store) if row.text_generation == generation]
        if changed:
            self._derived.write(changed, generation)
        with self.store.transaction():
            rows.finish(self.store, generation, text_changed=bool(changed))

    def _write_rejects_file(self) -> str:
        path = self._folder / REJECTS_FILE
        draft = path.with_name(f"{REJECTS_FILE}.new")
        lines = [json.dumps(asdict(reject), ensure_ascii=False) + "\n" for reject in rows.rejects(self.store)]
        try:
            draft.write_text("".join(lines), encoding="utf-8")
            draft.replace(path)
        except OSError as exc:
            raise library_error(exc, self._folder, REJECTS_FILE) from exc
        return str(path)


def passage_of(row: Row) -> Passage:
    """What is embedded of a paper."""
    paper = row.paper
    sentences = tuple(cleaned(paper.abstract[start:end]) for start, end in row.offsets.tolist())
    return Passage(cleaned(paper.title or ""), whole_text(paper.title, paper.abstract), sentences)
