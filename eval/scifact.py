"""Ranking measured on SciFact's training claims: `python -m eval.scifact --data FOLDER --cache FOLDER`.

The data folder holds `corpus.jsonl.gz`, `queries.jsonl` and `qrels/train.tsv` in BEIR's layout (Wadden et al. 2020;
Thakur et al. 2021). The fusion has no fitted number. The cache folder keeps the vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eval.ranking import Collection, Measured, bootstrap_interval, measure, ndcg_at_10
from rag.embed import default_embedder
from rag.shortlist import Floats


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
        print(f"{name:40} {values.mean():.4f}  [{low:.4f}, {high:.4f}]")
    better = max(("BM25", "whole paper"), key=lambda name: float(scores[name].mean()))
    difference = scores["fuse"] - scores[better]
    low, high = bootstrap_interval(difference)
    print(f"fuse - {better}: {difference.mean():+.4f}  paired [{low:+.4f}, {high:+.4f}]")


def rankings(measured: Measured) -> dict[str, NDArray[np.floating]]:
    """Return the scores of each ranking that is compared."""
    cosine, sentence, bm25 = measured.cos_paper, measured.best_sentence, measured.plain_bm25
    relative = bm25 / np.maximum(bm25.max(axis=1, keepdims=True), 1e-9)
    return {
        "BM25": bm25,
        "BM25 of content words, idf^1.5": measured.weighted_bm25,
        "whole paper": cosine,
        "best sentence": sentence,
        "whole paper + best sentence": cosine + sentence,
        "reciprocal ranks of BM25 and whole paper": reciprocal_ranks(bm25) + reciprocal_ranks(cosine),
        ".7 whole paper + .3 BM25 / largest": 0.7 * cosine + 0.3 * relative,
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
    with (folder / "queries.jsonl").open(encoding="utf-8") as texts:
        queries = [query for query in map(json.loads, texts) if query["_id"] in relevant]
    return Collection(
        _field(queries, "_id"),
        _field(queries, "text"),
        _field(documents, "_id"),
        _field(documents, "title"),
        _field(documents, "text"),
        relevant,
    )


def reciprocal_ranks(scores: Floats, k: int = 60) -> NDArray[np.float64]:
    """Return 1 / (k + rank) in each row (Cormack, Clarke and Buettcher 2009); equal scores in the order given."""
    ranks = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1
    return np.asarray(1.0 / (k + ranks))


def _field(rows: Sequence[Mapping[str, str]], name: str) -> tuple[str, ...]:
    return tuple(row[name] for row in rows)


if __name__ == "__main__":
    main()
