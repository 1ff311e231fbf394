"""Parts for tests of the library on disk: a small deterministic embedder, records, and what a library holds."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from rag.embed import EmbedderInfo
from rag.index import Library
from rag.records import Record, Source
from rag.store import Store
from rag.vectors import VectorStore

SUBJECTS = ("Routing", "Pruning", "Distillation", "Tokenizers", "Diffusion", "Retrieval", "Alignment", "Quantization")


@dataclass
class HashingEmbedder:
    """Words hashed to signed coordinates: texts that share words are near. Counts the texts it is given."""

    info: EmbedderInfo = field(default_factory=lambda: EmbedderInfo("hashing", "1", 64))
    pause_s: float = 0.0
    texts: int = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += len(texts)
        time.sleep(self.pause_s)
        return np.stack([self._vector(text) for text in texts]).astype(np.float32)

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(self.info.dimension, 1e-3)
        for word in text.lower().split():
            digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
            number = int.from_bytes(digest, "big")
            vector[number % self.info.dimension] += 1.0 if number & (1 << 40) else -1.0
        return vector / np.linalg.norm(vector)


def make_record(number: int, file: str = "a.jsonl", **values: object) -> Record:
    """The record of paper `number`: two sentences, at position `number` of `file`, with a key unless told."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    abstract = f"{subject} of models is studied in work {number}. We find that method m{number} wins."
    fields: dict[str, object] = {"abstract": abstract, "key": f"k{number}", "title": f"{subject} {number}"}
    fields |= values
    return Record(source=Source(file, number), **fields)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, object]:
    """Everything a library holds in its three stores, in a form that two equal libraries share."""
    with Library.open(folder) as library:
        view = library.view()
        status = library.status()
        words = {view.papers[index].id for subject in SUBJECTS for index in view.lexical.bm25(subject.lower())}
        manifest = Store(folder)
        epoch = manifest.manifest().get("chroma_epoch", "1")
        manifest.close()
    vectors = VectorStore(folder / f"chroma-{epoch}", folder, create=False)
    try:
        chunk_ids = sorted(vectors.generations())
        found = vectors._collection.get(include=["documents", "embeddings"])
    finally:
        vectors.close()
    embeddings = {i: np.round(v, 5).tolist() for i, v in zip(found["ids"], found["embeddings"], strict=True)}
    return {
        "papers": view.papers,
        "sentences": view.sentences,
        "sentence_vectors": np.round(view.sentence_vectors, 5).tolist(),
        "paper_vectors": np.round(view.paper_vectors, 5).tolist(),
        "sources": status.sources,
        "words": words,
        "chunk_ids": chunk_ids,
        "documents": dict(zip(found["ids"], found["documents"], strict=True)),
        "embeddings": embeddings,
    }


def environment() -> dict[str, str]:
    """What a subprocess needs to import citewise and this module, on few threads."""
    here = Path(__file__).parent
    return {**os.environ, "PYTHONPATH": f"{here.parent}{os.pathsep}{here}", "OMP_NUM_THREADS": "1"}


def ingest_in_child(folder: Path, records: Sequence[Record], pause_s: float, started: Connection) -> None:
    """What a process that is to be killed does: say that it starts, then ingest."""
    embedder = HashingEmbedder(pause_s=pause_s)
    started.send("started")
    with Library.create(folder, embedder.info) as library:
        library.ingest(records, embedder)
