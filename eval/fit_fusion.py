"""Fits the two weights of `rag.shortlist.fuse`: `python -m eval.fit_fusion --papers FILE --claims FILE --cache FOLDER`.

Two tasks, none of them in a suite. Titles: 1,000 conference papers (JSONL, gzipped, with `title` and `abstract`); a
title is the question and its own abstract the answer. Claims: HealthVer (Sarrouti et al. 2021; JSONL with `claim`,
`evidence`, `label`); a claim is the question, and all evidence that supports or refutes it the answer. The criterion is
the mean of the two tasks' nDCG@10. Of the pairs within one standard error of the best (paired, over queries), the one
with the smallest weight of words is taken, since shared words are what fails first on questions in other words.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eval.ranking import Collection, Measured, measure, ndcg_at_10
from rag.embed import default_embedder

SENTENCE_WEIGHTS = (0.0, 0.5, 1.0, 1.5)
WORD_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
Values = dict[tuple[float, float], list[NDArray[np.float64]]]


def main() -> None:
    """Print the table of the criterion and the weights taken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--claims", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="folder for the vectors")
    options = parser.parse_args()
    values: Values = {(s, w): [] for s in SENTENCE_WEIGHTS for w in WORD_WEIGHTS}
    for collection in (titles(options.papers), claims(options.claims)):
        measured = measure(collection, default_embedder(), options.cache)
        for pair, per_query in values.items():
            per_query.append(ndcg_at_10(collection, mixed(measured, *pair)))
    print("mean nDCG@10 of titles and claims (titles, claims); rows: weight of the best sentence; columns: of words")
    print("      " + " ".join(f"{w:^21}" for w in WORD_WEIGHTS))
    for s in SENTENCE_WEIGHTS:
        print(f"{s:5} " + " ".join(_cell([v.mean() for v in values[s, w]]) for w in WORD_WEIGHTS))
    best, taken = choose(values)
    print(f"best: sentence {best[0]}, words {best[1]}; taken: W_SENTENCE = {taken[0]}, W_WORDS = {taken[1]}")


def choose(values: Values) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the (sentence, words) weights with the best mean, and those taken by the rule of one standard error."""
    mean = {pair: float(np.mean([task.mean() for task in tasks])) for pair, tasks in values.items()}
    best = max(mean, key=lambda pair: mean[pair])
    near = [pair for pair in mean if mean[best] - mean[pair] <= standard_error(values[best], values[pair])]
    return best, min(near, key=lambda pair: (pair[1], -mean[pair]))


def standard_error(left: Sequence[NDArray[np.float64]], right: Sequence[NDArray[np.float64]]) -> float:
    """Return the standard error of the difference of two means over tasks, paired by query."""
    variances = [np.var(a - b, ddof=1) / len(a) for a, b in zip(left, right, strict=True)]
    return float(np.sqrt(sum(variances)) / len(variances))


def mixed(measured: Measured, sentence: float, words: float) -> NDArray[np.floating]:
    """Return the scores of `fuse` with other weights, not scaled to 0..1."""
    share = np.clip(measured.weighted_bm25 / np.maximum(measured.bound, 1e-9)[:, None], 0.0, 1.0)
    return np.asarray(measured.cos_paper + sentence * measured.best_sentence + words * share)


def titles(path: Path, count: int = 1000, seed: int = 7) -> Collection:
    """Read the task of the titles from a random sample of papers with at least 300 characters of abstract."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        papers = [
            paper for paper in map(json.loads, lines) if paper.get("title") and len(paper["abstract"] or "") > 300
        ]
    random.Random(seed).shuffle(papers)
    ids = tuple(map(str, range(count)))
    found = tuple(paper["title"] for paper in papers[:count]), tuple(paper["abstract"] for paper in papers[:count])
    return Collection(ids, found[0], ids, ("",) * count, found[1], {n: {n: 1} for n in ids})


def claims(path: Path) -> Collection:
    """Read the task of the claims; evidence of the label "neutral" is there to be told apart."""
    with path.open(encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    evidence = tuple(dict.fromkeys(pair["evidence"] for pair in pairs))
    answers: dict[str, dict[str, int]] = {}
    for pair in pairs:
        if pair["label"] != "neutral":
            answers.setdefault(pair["claim"], {})[str(evidence.index(pair["evidence"]))] = 1
    relevant = {str(n): found for n, found in enumerate(answers.values())}
    paper_ids = tuple(map(str, range(len(evidence))))
    return Collection(tuple(relevant), tuple(answers), paper_ids, ("",) * len(evidence), evidence, relevant)


def _cell(means: Sequence[float]) -> str:
    return f"{np.mean(means):.4f} ({means[0]:.3f} {means[1]:.3f})"


if __name__ == "__main__":
    main()
