"""Stage 6, first half: the signals of one question -> one score a paper. Pure arithmetic over arrays.

The weights were fitted by `python -m eval.fit_fusion`, on titles and sentences of papers that are in no suite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

W_PAPER = 1.0
W_SENTENCE = 1.0
W_TITLE = 0.3
W_WORDS = 0.7

BM25_SATURATION = 2.2
"""k1 + 1: what a term repeated without end adds to BM25, in units of its idf (Robertson and Zaragoza 2009)."""


def fuse(cos_paper: Floats, best_sentence: Floats, bm25: Floats, cos_title: Floats | None = None) -> Floats:
    """Return the score of each paper, shape (n,), in 0..1, higher is better.

    `cos_paper` and `best_sentence` are cosines of the question with the whole paper and with its nearest sentence,
    `bm25` the BM25 scores (>= 0) in a library of n papers; all have the shape (n,). `cos_title` is the cosine with the
    title; where it is None or NaN (no title) the paper's own cosine stands for it. BM25 is divided by what a single
    word that occurs in one paper can add at most, so that no other paper of the library sets the scale of a question.
    """
    n = len(cos_paper)
    title = cos_paper if cos_title is None else np.where(np.isnan(cos_title), cos_paper, cos_title)
    words = bm25 / (BM25_SATURATION * np.log1p((n - 0.5) / 1.5)) if n else bm25
    meaning = W_PAPER * cos_paper + W_SENTENCE * best_sentence + W_TITLE * title
    total = W_PAPER + W_SENTENCE + W_TITLE + W_WORDS
    return np.clip((meaning + W_WORDS * words) / total, 0.0, 1.0).astype(np.float32)
