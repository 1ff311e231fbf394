"""Stage 4: the library on disk. SQLite holds the truth; Chroma the chunks; tantivy the words.

`Library` is what the other stages use. Reading takes no lock, imports no Chroma below the exact limit, and works in
a folder that can't be written. Knows nothing of questions, answers and file formats.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from rag import rows
from rag.candidates import Candidates
from rag.derived import paper_text, part_folder, require_current
from rag.embed import Embedder, EmbedderInfo
from rag.errors import LibraryError, MissingLibrary
from rag.failures import library_error
from rag.lexical import Searcher, WordIndex
from rag.locking import writer_lock
from rag.manifest import (
    Status,
    embedder_info,
    embedder_manifest,
    has_library,
    refuse_half_library,
    refuse_other_embedder,
    refuse_other_folder,
)
from rag.rebuild import rebuild as rebuild_library
from rag.records import Paper, Record, Reject
from rag.rows import Counts
from rag.store import Row, Store, create_file
from rag.view import View, build_view
from rag.writer import IngestSummary, OnProgress, Progress, Writer

__all__ = ["EXACT_LIMIT", "IngestSummary", "Library", "Progress", "Status", "View"]

# Sentences up to which every one is compared exactly, in memory.
EXACT_LIMIT = 60_000


class Library:
    """A folder with a corpus. Safe to share between threads; other processes may read and write it meanwhile."""

    def __init__(self, folder: Path, *, exact_limit: int = EXACT_LIMIT) -> None:
        """Use `open` or `create`."""
        self.folder = folder
        self._exact_limit = exact_limit
        self._mutex = threading.RLock()
        self._store = Store(folder)
        self._view: View | None = None
        self._words: tuple[Path, WordIndex] | None = None
        self._counted: tuple[int, Counts] | None = None
        self._candidates = Candidates(self._store)

    @classmethod
    def open(cls, folder: Path, *, exact_limit: int = EXACT_LIMIT) -> Library:
        """An existing library, for reading or writing. Raises MissingLibrary, CorruptLibrary."""
        if not has_library(folder):
            refuse_half_library(folder)
            raise MissingLibrary(
                f"there is no library at {folder}; make one with `citewise ingest PATH --library {folder}`"
            )
        return cls(folder, exact_limit=exact_limit)

    @classmethod
    def create(
        cls, folder: Path, info: EmbedderInfo, *, rebuild: bool = False, exact_limit: int = EXACT_LIMIT
    ) -> Library:
        """Make a library for this embedder, or open the one that is there (made by any, if it is to be rebuilt).

        Raises EmbedderMismatch when it was made with another model, revision, dimension, normalisation or chunking;
        InputError when the folder holds something else; CorruptLibrary, ReadOnlyLibrary, DiskFull, LibraryBusy.
        """
        if not has_library(folder):
            refuse_half_library(folder)
            refuse_other_folder(folder)
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as exc:
                raise library_error(exc, folder, "folder") from exc
            with writer_lock(folder, timeout_s=30):
                if not has_library(folder):
                    create_file(folder, embedder_manifest(info))
        library = cls(folder, exact_limit=exact_limit)
        try:
            if not rebuild:
                library.check_embedder(info)
        except BaseException:
            library.close()
            raise
        return library

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release all files; a second call does nothing."""
        with self._mutex:
            self._view = None
            self._words = None
            self._candidates.close()
            self._store.close()

    def check_embedder(self, info: EmbedderInfo) -> None:
        """Raise EmbedderMismatch unless the library's vectors come from this model and its chunks from this program."""
        with self._mutex:
            refuse_other_embedder(self.folder, self._store.manifest(), info)

    def ingest(
        self,
        records: Iterable[Record | Reject],
        embedder: Embedder,
        on_progress: OnProgress | None = None,
        lock_timeout_s: float = 30,
    ) -> IngestSummary:
        """Add records batch by batch; what is unchanged is not embedded. What was done stays when a later batch fails.

        `records` with a length gives `Progress.total`. Also completes what a killed ingest left, and repairs Chroma
        or tantivy when they were lost. Raises EmbedderMismatch, LibraryBusy after `lock_timeout_s`, ReadOnlyLibrary,
        DiskFull, CorruptLibrary, EmbedderError, and whatever `records` raises.
        """
        self.check_embedder(embedder.info)
        with contextlib.closing(Writer(self.folder, embedder, lock_timeout_s)) as writer:
            return writer.ingest(records, on_progress)

    def rebuild(self, embedder: Embedder, on_progress: OnProgress | None = None, lock_timeout_s: float = 30) -> None:
        """Cut and embed every paper anew, with any embedder. Readers see the old library until all of it is ready."""
        target = embedder_manifest(embedder.info)
        with contextlib.closing(Writer(self.folder, embedder, lock_timeout_s)) as writer:
            rebuild_library(writer, target, on_progress)

    def view(self) -> View:
        """The whole library in memory, read again when it changed, by whomever; else one query of microseconds."""
        with self._mutex:
            self._reopen_if_stale()
            generation = self._store.generation()
            if self._view is None or self._view.generation != generation:
                self._view = self._load(None)
            return self._view

    def is_exact(self) -> bool:
        """Whether the library is small enough to be held and searched whole."""
        with self._mutex:
            generation = int(self._store.manifest()["generation"])
            return self._count(generation).sentences <= self._exact_limit

    def candidates(self, query_vector: np.ndarray, text: str, n: int) -> View:
        """A view to rank: the whole library up to the exact limit, else the likely ones, at most 5 * `n`.

        `query_vector` is float32 (dimension,). Above the limit Chroma finds papers and sentences (approximately),
        tantivy words; where one of them can't be read, the whole library takes its place.
        """
        with self._mutex:
            self._reopen_if_stale()
            manifest = self._store.manifest()
            if self._count(int(manifest["generation"])).sentences <= self._exact_limit:
                return self.view()
            try:
                ids = self._candidates.ids(manifest, query_vector, self._searcher_on_disk(manifest), text, n)
            except LibraryError:
                return self.view()
            return self._load(ids)

    def papers(self) -> Iterator[Paper]:
        """All papers by id, with every source, as of now."""
        with self._mutex:
            return iter(rows.papers(self._store))

    def paper(self, paper_id: str) -> Paper | None:
        """The paper that this id, or another key of the same text, names."""
        with self._mutex:
            known = rows.resolve(self._store, paper_id)
            found = list(rows.rows(self._store, ids=[known])) if known else []
        return found[0].paper if found else None

    def status(self) -> Status:
        """Counts, what made the vectors, and size."""
        with self._mutex:
            now, manifest = rows.counts(self._store), self._store.manifest()
        try:
            size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        except OSError:
            size = 0
        return Status(
            folder=str(self.folder),
            papers=now.papers,
            chunks=now.sentences,
            sources=now.sources,
            rejects=now.rejects,
            generation=int(manifest["generation"]),
            embedder=embedder_info(manifest),
            chunking_version=manifest["chunking_version"],
            bytes_on_disk=size,
        )

    def _reopen_if_stale(self) -> None:
        if self._store.is_stale():
            self.close()
            fresh = Library.open(self.folder, exact_limit=self._exact_limit)
            self._store, self._candidates, self._counted = fresh._store, fresh._candidates, None

    def _load(self, ids: Sequence[str] | None) -> View:
        with self._store.transaction("DEFERRED"):
            manifest = self._store.manifest()
            found = list(rows.rows(self._store, ids=ids))

        def searcher(of: Sequence[Row]) -> Searcher:
            try:
                return self._searcher_on_disk(manifest)
            except LibraryError:
                # Deleted, stale, or in a folder that can't be written (tantivy wants a lock file): words in memory.
                words = WordIndex(None, self.folder)
                words.write((row.n, paper_text(row)) for row in of)
                return words.searcher()

        return build_view(
            found,
            int(manifest["generation"]),
            int(manifest["embedder_dimension"]),
            searcher,
            complete=ids is None,
        )

    def _count(self, generation: int) -> Counts:
        if self._counted is None or self._counted[0] != generation:
            self._counted = (generation, rows.counts(self._store))
        return self._counted[1]

    def _searcher_on_disk(self, manifest: Mapping[str, str]) -> Searcher:
        require_current(self.folder, manifest, "words")
        papers = self._count(int(manifest["generation"])).papers
        folder = part_folder(self.folder, manifest, "words")
        if self._words is None or self._words[0] != folder:
            self._words = (folder, WordIndex(folder, self.folder))
        self._words[1].reload()
        searcher = self._words[1].searcher()
        if searcher.papers < papers:
            raise LibraryError(f"the words of the library {self.folder} are incomplete")
        return searcher
