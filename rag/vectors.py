"""The vector store (Chroma): every paper and every sentence with its text, offsets and vector.

The only file that imports chromadb. It is a copy of what the SQLite file holds: lost or stale, it is filled again
from there. Knows nothing of SQLite's tables, of locks and of words. A client left open does not find by `query`
what another process has written since: whoever holds one reopens it when the library's generation has changed.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rag.failures import library_error
from rag.store import Row

COLLECTION = "abstracts"
Kind = Literal["paper", "sentence"]
_PAGE = 5000
_opened = itertools.count()


class VectorStore:
    """An open Chroma collection in `folder`; `library` is named in errors. Made when absent if `create`.

    Raises LibraryError and its kin, never Chroma's own exceptions. No telemetry, no network, no embedding function.
    """

    def __init__(self, folder: Path, library: Path, *, create: bool) -> None:
        self._library = library
        self._client: Any = None
        with self._guard():
            import chromadb
            from chromadb.config import Settings

            self._client = chromadb.PersistentClient(_own_path(folder), settings=Settings(anonymized_telemetry=False))
            if create:
                self._collection = self._client.get_or_create_collection(
                    COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
                )
            else:
                self._collection = self._client.get_collection(COLLECTION, embedding_function=None)
            self._batch = int(self._client.get_max_batch_size())
            # An index file that is gone shows when a vector is read, and not before: the oldest lies there first.
            self._collection.get(limit=1, include=["embeddings"])

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as exc:  # Rust panics arrive as exceptions that are no `Exception`
            raise library_error(exc, self._library, "vector store") from exc

    @property
    def collection(self) -> Any:
        """Chroma's own collection, for programs that speak to Chroma; read it, don't write to it."""
        return self._collection

    def close(self) -> None:
        """Release the files; a second call does nothing."""
        client, self._client = self._client, None
        if client is not None:
            with self._guard():
                client.close()

    def upsert(self, rows: Iterable[Row]) -> None:
        """Write the chunks of these papers in place of what their ids held, in batches Chroma takes."""
        entries = (entry for row in rows for entry in _entries(row))
        while batch := list(islice(entries, self._batch)):
            with self._guard():
                self._collection.upsert(
                    ids=[chunk_id for chunk_id, _, _, _ in batch],
                    documents=[text for _, text, _, _ in batch],
                    metadatas=[metadata for _, _, metadata, _ in batch],
                    embeddings=np.stack([vector for _, _, _, vector in batch]),
                )

    def delete(self, chunk_ids: Iterable[str]) -> None:
        """Remove these chunks; unknown ids do nothing."""
        ids = iter(sorted(chunk_ids))
        while batch := list(islice(ids, self._batch)):
            with self._guard():
                self._collection.delete(ids=batch)

    def count(self) -> int:
        """How many chunks of both kinds there are."""
        with self._guard():
            return int(self._collection.count())

    def generations(self) -> dict[str, int]:
        """Chunk id -> the text generation it was written with."""
        found: dict[str, int] = {}
        for offset in range(0, self.count(), _PAGE):
            with self._guard():
                page = self._collection.get(include=["metadatas"], limit=_PAGE, offset=offset)
            for chunk_id, metadata in zip(page["ids"], page["metadatas"] or (), strict=True):
                found[chunk_id] = int(metadata["generation"])
        return found

    def nearest(self, vector: np.ndarray, kind: Kind, limit: int) -> list[tuple[str, float]]:
        """(paper id, cosine similarity) of the nearest chunks of a kind, approximately, best first.

        `vector` is float32 (dimension,). A paper may come more than once when `kind` is "sentence".
        """
        with self._guard():
            found = self._collection.query(
                query_embeddings=[np.asarray(vector, dtype=np.float32)],
                n_results=limit,
                where={"kind": kind},
                include=["metadatas", "distances"],
            )
        metadatas, distances = found["metadatas"][0], found["distances"][0]
        # Chroma's cosine distance is 1 - similarity.
        pairs = [(str(m["paper_id"]), 1.0 - float(d)) for m, d in zip(metadatas, distances, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _own_path(folder: Path) -> str:
    """The folder under a name of its own: Chroma shares one state among a process's clients of the same path.

    Then a reader that reopens would get the writer's old state, and a failed opening would fail all later ones.
    """
    return f"{folder}{'/.' * (1 + next(_opened) % 64)}"


def paper_chunk_id(paper_id: str) -> str:
    """The id under which a paper's whole text stands here."""
    return f"{paper_id}#paper"


def sentence_chunk_id(paper_id: str, start_char: int, end_char: int) -> str:
    """The id under which the sentence at these offsets stands here."""
    return f"{paper_id}#{start_char}-{end_char}"


def chunk_generations(row: Row) -> dict[str, int]:
    """What `generations` says of this paper when the store is right."""
    return {chunk_id: row.text_generation for chunk_id, _, _, _ in _entries(row)}


def _entries(row: Row) -> Iterator[tuple[str, str, dict[str, str | int], np.ndarray]]:
    """(id, document, metadata, vector) of the paper and of each sentence; no None in metadata, Chroma takes none."""
    paper = row.paper
    spans = [(0, len(paper.abstract)), *((int(start), int(end)) for start, end in row.offsets)]
    for position, (start, end) in enumerate(spans):
        kind: Kind = "sentence" if position else "paper"
        metadata: dict[str, str | int] = {
            "paper_id": paper.id,
            "kind": kind,
            "start_char": start,
            "end_char": end,
            "generation": row.text_generation,
        }
        chunk_id = sentence_chunk_id(paper.id, start, end) if position else paper_chunk_id(paper.id)
        yield chunk_id, paper.abstract[start:end], metadata, row.vectors[position]
