"""What the ranking scripts share: the signals of queries over a collection, nDCG@10, and bootstrap intervals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.vector_cache import cached_vectors
from rag.chunks import sentence_spans
from rag.embed import Embedder
from rag.lexical import WordIndex
from rag.shortlist import Floats, fuse, word_weights
from rag.terms import content_words

RESAMPLES = 10_000
_PIECE = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries, papers (a title may be ""), and which papers answer which query, with grades (by their ids)."""

    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    paper_ids: tuple[str, ...]
    titles: tuple[str, ...]
    abstracts: tuple[str, ...]
    relevant: Mapping[str, Mapping[str, int]]

    @property
    def papers(self) -> list[str]:
        """What stands for each paper in whole: title and abstract."""
        return [f"{title}\n{text}".strip() for title, text in zip(self.titles, self.abstracts, strict=True)]


@dataclass(frozen=True, slots=True)
class Measured:
    """The signals of every query and paper, shape (queries, papers); `bound` (queries,). See `rag.shortlist.fuse`.

    `plain_bm25` is BM25 of the query as it stands; `weighted_bm25` has the weights of `word_weights`.
    """

    cos_paper: Floats
    best_sentence: Floats
    plain_bm25: Floats
    weighted_bm25: Floats
    bound: NDArray[np.float64]

    def fused(self) -> Floats:
        """Return `fuse` of each query."""
        rows = zip(self.cos_paper, self.best_sentence, self.weighted_bm25, self.bound, strict=True)
        return np.stack([fuse(*row) for row in rows])


def measure(collection: Collection, embedder: Embedder, cache: Path) -> Measured:
    """Compute every signal: vectors by `embedder`, kept in `cache`; BM25 by the product's own index."""
    queries = cached_vectors(cache, embedder, collection.queries)
    cosine = queries @ cached_vectors(cache, embedder, collection.papers).T
    parts = [
        [*([title] if title else []), *(text[a:b] for a, b in sentence_spans(text))] or [""]
        for title, text in zip(collection.titles, collection.abstracts, strict=True)
    ]
    sentences = cached_vectors(cache, embedder, [sentence for part in parts for sentence in part])
    starts = np.cumsum([0, *map(len, parts)])[:-1]
    best = np.stack([np.maximum.reduceat(sentences @ query, starts) for query in queries])
    return Measured(cosine, best, *bm25_scores(collection.papers, collection.queries))


def bm25_scores(papers: Sequence[str], queries: Sequence[str]) -> tuple[Floats, Floats, NDArray[np.float64]]:
    """Return plain and weighted BM25, shape (queries, papers), and the bound of the latter, shape (queries,)."""
    index = WordIndex(None, Path())
    index.write(list(enumerate(papers)), replace_all=True)
    searcher = index.searcher()
    frequency = Counter(word for paper in papers for word in set(index.words(paper)))
    plain, weighted = (np.zeros((len(queries), len(papers)), dtype=np.float32) for _ in range(2))
    bounds = np.zeros(len(queries))
    for row, query in enumerate(queries):
        pieces = {index.words(piece)[0]: piece for word in content_words(query) for piece in _PIECE.findall(word)}
        weights, bounds[row] = word_weights({piece: frequency[stem] for stem, piece in pieces.items()}, len(papers))
        for matrix, terms in ((plain, query), (weighted, weights)):
            for number, score in searcher.scores(terms, len(papers)):
                matrix[row, number] = score
    return plain, weighted, bounds


def ndcg_at_10(collection: Collection, scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return nDCG@10 (ir-measures) of each query, in the order of the queries."""
    from ir_measures import ScoredDoc, nDCG

    run = []
    for query, row in zip(collection.query_ids, scores, strict=True):
        best = np.argsort(-row, kind="stable")[:20]
        # Ranks in place of scores: the library breaks ties in its own way.
        run += [ScoredDoc(query, collection.paper_ids[n], float(-rank)) for rank, n in enumerate(best)]
    values = {item.query_id: item.value for item in (nDCG @ 10).iter_calc(collection.relevant, run)}
    return np.array([values[query] for query in collection.query_ids])


def bootstrap_interval(values: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """Return the 95% percentile bootstrap interval of the mean over queries (10,000 resamples)."""
    generator = np.random.default_rng(seed)
    means = [values[generator.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
