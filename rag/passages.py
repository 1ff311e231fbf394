"""A paper -> its vectors: one for the whole, one a sentence, all from the same reading.

A sentence is embedded in its context ("late chunking", Guenther et al. 2024): the model reads the paper in windows of
whole sentences, and a sentence's vector is the mean over its own tokens, which have seen their neighbours. "It halves
the cost" so knows what "it" is, and each token is computed about once instead of twice. Measured against embedding the
sentences alone: `python -m eval.seeds`, `python -m eval.scifact`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rag.embed import Embedder, Vectors
from rag.errors import EmbedderError

# The model has 512 positions, two of them for [CLS] and [SEP]. Measured on the seeds: windows of 126 tokens rank papers
# as well, but tell the sentences of a paper apart less well.
CONTEXT_TOKENS = 510


@dataclass(frozen=True, slots=True)
class Passage:
    """What is embedded of a paper, cleaned: the title ("" if there is none), the whole text, and its sentences."""

    title: str
    whole: str
    sentences: tuple[str, ...]


@runtime_checkable
class ContextEmbedder(Protocol):
    """An embedder that sees tokens, and so can embed a part of a text in its context."""

    def embed_parts(self, texts: Sequence[Sequence[str]]) -> list[Vectors]:
        """For each text, given as parts in reading order, unit rows (1 + parts, dimension): the whole, then the parts.

        A text's rows are the same, within 1e-5 in each component, whatever it is embedded together with.
        """
        ...


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens read together; `own` tells the parts (number, start, stop) whose tokens count in this window."""

    ids: list[int]
    own: tuple[tuple[int, int, int], ...]


def embed_passages(embedder: Embedder, passages: Sequence[Passage]) -> list[Vectors]:
    """For each passage float32 (1 + sentences, dimension): the whole, then the sentences, in context if possible.

    An embedder that gives no tokens, such as an endpoint, embeds each text by itself. Raises EmbedderError when the
    embedder breaks its promise.
    """
    if not passages:
        return []
    if isinstance(embedder, ContextEmbedder):
        texts = [((passage.title, *passage.sentences) if passage.title else passage.sentences) for passage in passages]
        found = embedder.embed_parts(texts)
        made = [
            np.delete(rows, 1, axis=0) if passage.title else rows for rows, passage in zip(found, passages, strict=True)
        ]
    else:
        made = _each_alone(embedder, passages)
    for rows, passage in zip(made, passages, strict=True):
        _check(embedder, rows, (1 + len(passage.sentences), embedder.info.dimension))
    return made


def _each_alone(embedder: Embedder, passages: Sequence[Passage]) -> list[Vectors]:
    texts = list(dict.fromkeys(text for passage in passages for text in (passage.whole, *passage.sentences)))
    found = np.asarray(embedder.embed(texts), dtype=np.float32)
    _check(embedder, found, (len(texts), embedder.info.dimension))
    at = {text: number for number, text in enumerate(texts)}
    return [found[[at[text] for text in (passage.whole, *passage.sentences)]] for passage in passages]


def _check(embedder: Embedder, rows: Vectors, shape: tuple[int, int]) -> None:
    if rows.shape != shape or not np.isfinite(rows).all():
        raise EmbedderError(
            f"the embedding model {embedder.info.name} gave an array of shape {rows.shape} or with undefined numbers, "
            f"expected {shape}; nothing of this batch was stored"
        )


def context_windows(parts: Sequence[Sequence[int]], size: int) -> Iterator[Window]:
    """Yield windows of at most `size` tokens that hold each token of `parts` (token ids) once as its own.

    Windows are made of whole parts, and one that isn't the first begins with the part before its own where that fits,
    as context. A part longer than a window is cut. Requires size > 0.
    """
    pieces = [
        (number, list(part[start : start + size]))
        for number, part in enumerate(parts)
        for start in range(0, len(part), size)
    ]
    at = 0
    while at < len(pieces):
        first, length = at, 0
        while at < len(pieces) and length + len(pieces[at][1]) <= size:
            length += len(pieces[at][1])
            at += 1
        before = pieces[first - 1][1] if first and length + len(pieces[first - 1][1]) <= size else []
        ids, own = list(before), []
        for number, piece in pieces[first:at]:
            own.append((number, len(ids), len(ids) + len(piece)))
            ids += piece
        yield Window(ids, tuple(own))
