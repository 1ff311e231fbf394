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

from eval.passage_cache import cached_passages
from eval.vector_cache import cached_vectors
from rag.chunks import sentence_spans
from rag.concepts import find_concepts, sentences_of
from rag.derived import cleaned, whole_text
from rag.embed import Embedder
from rag.lexical import WordIndex
from rag.passages import Passage
from rag.shortlist import Floats, fuse, word_weights
from rag.terms import build_index, content_words

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

    `coverage` is the share of the query's concepts that a paper has. `plain_bm25` is BM25 of the query as it stands;
    `weighted_bm25` has the weights of `word_weights`.
    """

    cos_paper: Floats
    best_sentence: Floats
    plain_bm25: Floats
    weighted_bm25: Floats
    bound: NDArray[np.float64]
    coverage: Floats

    def fused(self) -> Floats:
        """Return `fuse` of each query."""
        rows = zip(self.cos_paper, self.best_sentence, self.weighted_bm25, self.bound, self.coverage, strict=True)
        return np.stack([fuse(*row) for row in rows])


def measure(collection: Collection, embedder: Embedder, cache: Path) -> Measured:
    """Compute every signal: vectors by `embedder`, kept in `cache`; BM25 and concepts by the product's own indices."""
    passages = [passage(title, text) for title, text in zip(collection.titles, collection.abstracts, strict=True)]
    vectors = cached_passages(cache, embedder, passages)
    queries = cached_vectors(cache, embedder, collection.queries)
    cosine = queries @ np.stack([rows[0] for rows in vectors]).T
    # A paper without a sentence is compared as a whole.
    sentences = [rows[1:] if len(rows) > 1 else rows for rows in vectors]
    starts = np.cumsum([0, *map(len, sentences)])[:-1]
    stacked = np.concatenate(sentences)
    best = np.stack([np.maximum.reduceat(stacked @ query, starts) for query in queries])
    coverage = coverage_scores(collection, passages)
    return Measured(cosine, best, *bm25_scores(collection.papers, collection.queries), coverage)


def passage(title: str, abstract: str) -> Passage:
    """What is embedded of a paper, as ingesting does."""
    sentences = tuple(cleaned(abstract[start:end]) for start, end in sentence_spans(abstract))
    return Passage(cleaned(title), whole_text(title, abstract), sentences)


def coverage_scores(collection: Collection, passages: Sequence[Passage]) -> Floats:
    """Return the share of each query's concepts that each paper has in a sentence, shape (queries, papers)."""
    owners = np.repeat(np.arange(len(passages), dtype=np.int32), [len(one.sentences) for one in passages])
    titles = [title or None for title in collection.titles]
    index = build_index([text for one in passages for text in one.sentences], owners, titles)
    coverage = np.zeros((len(collection.queries), len(passages)), dtype=np.float32)
    for row, query in enumerate(collection.queries):
        concepts = find_concepts(query, index)
        total = sum(concept.weight for concept in concepts) or 1.0
        for concept in concepts:
            coverage[row, np.unique(owners[sentences_of(concept, index)])] += concept.weight / total
    return coverage


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
