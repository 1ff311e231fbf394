"""A library as retrieval sees it: papers, sentences and vectors in memory, of one generation.

Built from the SQLite file alone, which holds the vectors too: so a question to a library that fits needs no Chroma.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.lexical import Lexical, Searcher
from rag.records import Chunk, Paper
from rag.store import Row


@dataclass(frozen=True)
class View:
    """Papers sorted by id; arrays are read-only; rows of vectors have length 1 if the embedder normalises.

    sentences: grouped by paper in the order of `papers`, then by start. sentence_paper: int32 (n_sentences,), index
    into `papers`. paper_vectors: float32 (n_papers, dimension), of title and abstract. sentence_vectors: float32
    (n_sentences, dimension). index_of: paper id -> index. complete: the whole library, not candidates from it.
    """

    generation: int
    papers: tuple[Paper, ...]
    sentences: tuple[Chunk, ...]
    sentence_paper: np.ndarray
    paper_vectors: np.ndarray
    sentence_vectors: np.ndarray
    lexical: Lexical
    index_of: Mapping[str, int]
    complete: bool = True


def build_view(
    rows: Sequence[Row],
    generation: int,
    dimension: int,
    searcher: Callable[[Sequence[Row]], Searcher],
    *,
    complete: bool = True,
) -> View:
    """A view of these rows, which are sorted by id."""
    papers = tuple(row.paper for row in rows)
    sentences = tuple(
        Chunk(row.paper.id, start, end, row.paper.abstract[start:end])
        for row in rows
        for start, end in row.offsets.tolist()
    )
    lengths = [len(row.offsets) for row in rows]
    none = np.zeros((0, dimension), dtype=np.float32)
    paper_vectors = np.stack([row.vectors[0] for row in rows]) if rows else none
    sentence_vectors = np.concatenate([row.vectors[1:] for row in rows]) if rows else none
    sentence_paper = np.repeat(np.arange(len(rows), dtype=np.int32), lengths)
    for array in (paper_vectors, sentence_vectors, sentence_paper):
        array.setflags(write=False)
    return View(
        generation=generation,
        papers=papers,
        sentences=sentences,
        sentence_paper=sentence_paper,
        paper_vectors=paper_vectors,
        sentence_vectors=sentence_vectors,
        lexical=Lexical(searcher(rows), {row.n: index for index, row in enumerate(rows)}),
        index_of={paper.id: index for index, paper in enumerate(papers)},
        complete=complete,
    )
