"""Stage 6, first half: the signals of one question -> one score a paper. Pure arithmetic over arrays.

Meaning weighs more than words: chosen on the seeds suite. `python -m eval.scifact` and `eval.seeds` measure it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

W_PAPER = 1.0
W_SENTENCE = 1.0
W_WORDS = 0.75
W_COVERAGE = 0.5

K1 = 1.2
"""BM25's k1 in the lexical index: a term adds at most (k1 + 1) times its idf (Robertson and Zaragoza 2009)."""


def word_weights(document_frequency: Mapping[str, int], n_papers: int) -> tuple[dict[str, float], float]:
    """Return the weight of each word of a question in BM25 (0..1), and the most that their weighted BM25 can reach.

    `document_frequency` tells in how many of the `n_papers` papers each content word of the question occurs, 0 for a
    word that occurs in none. The weight is the square root of idf over the largest possible idf: BM25 then counts
    words by idf to the power 1.5. Common words, all that a paraphrase shares with a paper, so lose their say; and
    a word that no paper has lowers every paper's share of the bound, so that meaning decides.
    """
    largest = _idf(0, n_papers)
    weights = {word: math.sqrt(_idf(df, n_papers) / largest) for word, df in document_frequency.items()}
    bound = (K1 + 1.0) * sum(weight * _idf(document_frequency[word], n_papers) for word, weight in weights.items())
    return weights, bound


def fuse(cos_paper: Floats, best_sentence: Floats, bm25: Floats, bound: float, coverage: Floats) -> Floats:
    """Return the score of each paper, shape (n,), in 0..1, higher is better.

    `cos_paper` and `best_sentence`, shape (n,), are the question's cosine with the whole paper (title and abstract) and
    with the nearest of its sentences. `bm25`, shape (n,), and `bound` are the BM25 scores (>= 0) with the weights of
    `word_weights`, and its bound; a bound of 0 means that the question has no content word. `coverage`, shape (n,), is
    the share (0..1) of the question's concepts, synonyms counted, that the paper has.
    The score is absolute: it doesn't depend on what else the library holds, but for the words' idf.
    """
    words = np.clip(bm25 / bound, 0.0, 1.0) if bound > 0 else np.zeros_like(cos_paper)
    score = W_PAPER * cos_paper + W_SENTENCE * best_sentence + W_WORDS * words + W_COVERAGE * coverage
    fused: Floats = np.clip(score / (W_PAPER + W_SENTENCE + W_WORDS + W_COVERAGE), 0.0, 1.0).astype(np.float32)
    return fused


def _idf(df: int, n: int) -> float:
    return math.log1p((n - df + 0.5) / (df + 0.5))
