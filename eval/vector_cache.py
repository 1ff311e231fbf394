"""Vectors kept between measurements, each under the hash of its text: a change to one text costs one embedding."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag.embed import Embedder, Vectors

STEP = 1024


def cached_vectors(folder: Path, embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return `embedder.embed(texts)`, from `folder` where earlier calls left a text's vector, else computed and left.

    The work is kept every 1024 texts, so that a run that was stopped goes on where it was. One process at a time.
    """
    keys = [hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()[:16] for text in texts]
    cache = _Cache(folder, embedder)
    missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in cache.rows}.items())
    for start in range(0, len(missing), STEP):
        step = missing[start : start + STEP]
        cache.add([key for key, _ in step], embedder.embed([text for _, text in step]))
    return cache.vectors[[cache.rows[key] for key in keys]]


class _Cache:
    """Two files that only grow: 16 bytes a key, and the vectors in the same order."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        stem = hashlib.sha256(repr(embedder.info).encode()).hexdigest()[:16]
        self._keys, self._floats = folder / f"{stem}.keys", folder / f"{stem}.f32"
        self._keys.touch()
        self._floats.touch()
        width = embedder.info.dimension
        stored = self._keys.read_bytes()
        count = min(len(stored) // 16, self._floats.stat().st_size // (4 * width))  # a stopped run may leave one longer
        for path, size in ((self._keys, 16), (self._floats, 4 * width)):
            with path.open("r+b") as file:
                file.truncate(count * size)
        self.rows = {stored[16 * n : 16 * n + 16]: n for n in range(count)}
        self.vectors: Vectors = np.fromfile(self._floats, dtype=np.float32).reshape(count, width)

    def add(self, keys: list[bytes], vectors: Vectors) -> None:
        with self._floats.open("ab") as floats, self._keys.open("ab") as file:
            floats.write(vectors.astype(np.float32).tobytes())
            file.write(b"".join(keys))
        self.rows.update({key: len(self.vectors) + n for n, key in enumerate(keys)})
        self.vectors = np.concatenate([self.vectors, vectors])
