"""Ranking measured on SciFact's training claims: `python -m eval.scifact --data FOLDER --cache FOLDER`.

FOLDER holds `corpus.jsonl.gz`, `queries.jsonl` and `qrels/train.tsv` in BEIR's layout (Wadden et al. 2020; Thakur et
al. 2021). No claim was used to fit anything: see `eval/fit_fusion.py`. The vectors are kept in the cache folder.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.vector_cache import cached_vectors
from rag.chunks import sentence_spans
from rag.embed import Embedder, Vectors, default_embedder
from rag.lexical import WordIndex
from rag.shortlist import Floats, fuse

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Collection:
    """Queries, documents, and which documents answer which query (by their ids)."""

    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    document_ids: tuple[str, ...]
    titles: tuple[str, ...]
    abstracts: tuple[str, ...]
    relevant: Mapping[str, Mapping[str, int]]

    @property
    def papers(self) -> list[str]:
        """What stands for each document in whole: title and abstract."""
        pairs = zip(self.titles, self.abstracts, strict=True)
        return [f"{title}\n{abstract}".strip() for title, abstract in pairs]


@dataclass(frozen=True, slots=True)
class Measured:
    """The signals of every query and document, shape (queries, documents) each, as `fuse` takes them."""

    cos_paper: Floats
    best_sentence: Floats
    bm25: Floats
    cos_title: Floats

    def fused(self) -> Floats:
        """Return `fuse` of each query, with the titles."""
        return np.stack(
            [fuse(*row) for row in zip(self.cos_paper, self.best_sentence, self.bm25, self.cos_title, strict=True)]
        )


def main() -> None:
    """Measure and print nDCG@10 of each ranking, and the gain of the fusion."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--cache", type=Path, required=True, help="folder for the vectors")
    options = parser.parse_args()
    collection = read_collection(options.data)
    measured = measure(collection, default_embedder(), options.cache)
    print(f"{len(collection.queries)} queries, {len(collection.papers)} documents; nDCG@10 with 95% intervals")
    scores = {name: ndcg_at_10(collection, ranking) for name, ranking in rankings(measured).items()}
    for name, values in scores.items():
        low, high = bootstrap_interval(values)
        print(f"{name:38} {values.mean():.4f}  [{low:.4f}, {high:.4f}]")
    better = max(("BM25", "whole paper"), key=lambda name: float(scores[name].mean()))
    difference = scores["fuse"] - scores[better]
    low, high = bootstrap_interval(difference)
    print(f"fuse - {better}: {difference.mean():+.4f}  paired [{low:+.4f}, {high:+.4f}]")


def rankings(measured: Measured) -> dict[str, Floats]:
    """Return the scores of each ranking that is compared."""
    cosine, sentence, bm25 = measured.cos_paper, measured.best_sentence, measured.bm25
    relative = bm25 / np.maximum(bm25.max(axis=1, keepdims=True), 1e-9)
    return {
        "BM25": bm25,
        "whole paper": cosine,
        "best sentence": sentence,
        "title": measured.cos_title,
        "whole paper + best sentence": cosine + sentence,
        "reciprocal ranks of BM25, whole paper": reciprocal_ranks(bm25) + reciprocal_ranks(cosine),
        ".7 whole paper + .3 BM25/max": 0.7 * cosine + 0.3 * relative,
        "fuse": measured.fused(),
    }


def read_collection(folder: Path) -> Collection:
    """Read a collection in BEIR's layout; queries without a relevant document are left out."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "train.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        relevant.setdefault(query, {})[document] = int(grade)
    texts = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [query for query in map(json.loads, texts) if query["_id"] in relevant]
    return Collection(
        _field(queries, "_id"),
        _field(queries, "text"),
        _field(documents, "_id"),
        _field(documents, "title"),
        _field(documents, "text"),
        relevant,
    )


def measure(collection: Collection, embedder: Embedder, cache: Path) -> Measured:
    """Compute every signal; BM25 by the product's own index."""

    def vectors(texts: Sequence[str]) -> Vectors:
        return cached_vectors(cache, embedder, texts)

    queries = vectors(collection.queries)
    cosine = queries @ vectors(collection.papers).T
    titles = queries @ vectors(collection.titles).T
    titles[:, [not title for title in collection.titles]] = np.nan
    sentences = [[text[a:b] for a, b in sentence_spans(text)] or [""] for text in collection.abstracts]
    flat = vectors([sentence for part in sentences for sentence in part])
    starts = np.cumsum([0, *map(len, sentences)])[:-1]
    best = np.stack([np.maximum.reduceat(flat @ query, starts) for query in queries])
    return Measured(cosine, best, bm25_scores(collection.papers, collection.queries), titles)


def bm25_scores(papers: Sequence[str], queries: Sequence[str]) -> Floats:
    """Return BM25 of every query and paper, shape (queries, papers), by the product's lexical index in memory."""
    index = WordIndex(None, Path())
    index.write(list(enumerate(papers)), replace_all=True)
    searcher = index.searcher()
    scores = np.zeros((len(queries), len(papers)), dtype=np.float32)
    for row, query in enumerate(queries):
        for number, score in searcher.scores(query, len(papers)):
            scores[row, number] = score
    return scores


def reciprocal_ranks(scores: Floats, k: int = 60) -> NDArray[np.float64]:
    """Return 1 / (k + rank) in each row (Cormack, Clarke and Buettcher 2009); equal scores in the order given."""
    ranks = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1
    return np.asarray(1.0 / (k + ranks))


def ndcg_at_10(collection: Collection, scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return nDCG@10 (ir-measures) of each query, in the order of the queries."""
    from ir_measures import ScoredDoc, nDCG

    run = []
    for query, row in zip(collection.query_ids, scores, strict=True):
        best = np.argsort(-row, kind="stable")[:20]
        # Scores may be equal, and the library breaks ties in its own way: ranks can't be.
        run += [ScoredDoc(query, collection.document_ids[n], float(-rank)) for rank, n in enumerate(best)]
    values = {item.query_id: item.value for item in (nDCG @ 10).iter_calc(collection.relevant, run)}
    return np.array([values[query] for query in collection.query_ids])


def bootstrap_interval(values: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """Return the 95% percentile bootstrap interval of the mean over queries (10,000 resamples)."""
    generator = np.random.default_rng(seed)
    means = [values[generator.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def _field(rows: Sequence[Mapping[str, str]], name: str) -> tuple[str, ...]:
    return tuple(row[name] for row in rows)


if __name__ == "__main__":
    main()
