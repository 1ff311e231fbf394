"""The vectors of passages kept in a folder: embedding thousands of papers takes minutes, and measuring repeats."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag.embed import Embedder, Vectors
from rag.passages import CONTEXT_TOKENS, Passage, embed_passages

STEP = 256


def cached_passages(folder: Path, embedder: Embedder, passages: Sequence[Passage]) -> list[Vectors]:
    """Return `embed_passages(embedder, passages)`; each `STEP` passages are a file in `folder`, made when missing."""
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Vectors] = []
    for start in range(0, len(passages), STEP):
        step = passages[start : start + STEP]
        key = hashlib.sha256(
            repr((embedder.info, CONTEXT_TOKENS, step)).encode("utf-8", "backslashreplace")
        ).hexdigest()
        path = folder / f"{key[:24]}.npy"
        if not path.exists():
            draft = path.with_suffix(".new.npy")
            np.save(draft, np.concatenate(embed_passages(embedder, step)))
            draft.replace(path)
        rows = np.load(path)
        ends = np.cumsum([1 + len(passage.sentences) for passage in step])
        found += np.split(rows, ends[:-1])
    return found
