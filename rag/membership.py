"""Which papers of the corpus belong in a listing: every paper is judged, so a listing is a set and not a ranking's top.

Two calibrated logistic models: one for criteria made of terms of the field that the corpus has ("differential
privacy"), where the words decide and meaning helps; one for all others ("why models fail in the wild"), where
meaning decides. The cut maximises the expected F1 of the set under the models' probabilities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rag.corpus import Corpus
from rag.signals import Signals, best_of_paper

Floats = NDArray[np.float64]
TERM_SHARE = 0.6
NEEDED_SHARE = 0.4
# Papers below this probability are never listed, however small the set would be.
FLOOR = 0.2
TERM_FEATURES = ("full_sentence", "full_sentences", "own_full_sentence", "cosine_of_full", "cosine_of_others")
# A paper that does not have the words must stand out this many standard deviations in meaning to be considered.
STANDS_OUT = 2.0
OPEN_FEATURES = (
    "cosine_standard",
    "cosine_gap",
    "best_sentence",
    "coverage_paper",
    "coverage_sentence",
    "literal_coverage",
    "own_work_coverage",
    "own_work_cosine",
    "bigrams",
    "lacking_term",
)


def is_term_criterion(widened: Signals) -> bool:
    """Whether the criterion is made of terms of the field, and some sentence of the corpus has all of it."""
    total = sum(concept.weight for concept in widened.concepts)
    share = sum(concept.weight for concept in widened.concepts if concept.term) / max(total, 1e-9)
    return share >= TERM_SHARE and bool(widened.full.any())


def membership_features(widened: Signals, literal: Signals, corpus: Corpus, term: bool) -> Floats:
    """(n, f): features of every paper for one criterion, as TERM_FEATURES if `term`, else as OPEN_FEATURES.

    `widened` are the criterion's signals with the thesaurus, `literal` without it.
    """
    n = len(corpus.view.papers)
    owner = corpus.view.sentence_paper
    total = (widened.cos_paper + widened.best_sentence).astype(np.float64)
    standard = (total - total.mean()) / (total.std() + 1e-9)
    full = widened.full
    own = corpus.own_work
    terms = np.array([concept.term for concept in widened.concepts], dtype=bool)
    lacking = (~widened.hits_of_papers(owner, n)[terms]).any(axis=0).astype(np.float64)
    if term:
        count = np.bincount(owner[full], minlength=n)
        has = (count > 0).astype(np.float64)
        others = np.maximum(0.0, standard - STANDS_OUT) * (1.0 - has)
        own_has = np.bincount(owner[full & own], minlength=n) > 0
        return np.array([has, np.log1p(count), own_has, standard * has, others], dtype=np.float64).T
    columns = [
        standard,
        total - (np.sort(total)[-3:].mean() if n else 0.0),
        widened.best_sentence,
        widened.coverage_paper,
        best_of_paper(widened.coverage_sentence, owner, n),
        best_of_paper(literal.coverage_sentence, owner, n),
        best_of_paper(np.where(own, widened.coverage_sentence, 0.0).astype(np.float32), owner, n),
        best_of_paper(np.where(own, widened.cos_sentence, -1.0).astype(np.float32), owner, n),
        best_of_paper(literal.bigram_sentence, owner, n),
        lacking,
    ]
    return np.array(columns, dtype=np.float64).T


def impossible(widened: Signals, corpus: Corpus) -> NDArray[np.bool_]:
    """(n,): papers that can't qualify: they lack a name of the criterion, or nothing has a term that it needs.

    Who asks for MoE routing does not want routing without MoE.
    """
    n = len(corpus.view.papers)
    has = widened.hits_of_papers(corpus.view.sentence_paper, n)
    total = sum(concept.weight for concept in widened.concepts)
    out = np.zeros(n, dtype=bool)
    for concept, row in zip(widened.concepts, has, strict=True):
        needed = concept.named or (concept.term and not concept.known and concept.weight >= NEEDED_SHARE * total)
        if needed:
            out |= ~row
    return out


def cut(probability: Floats) -> NDArray[np.bool_]:
    """(n,): the set with the largest expected F1, 2 * sum(p in set) / (|set| + sum(p)) (Lewis 1995), above FLOOR."""
    order = np.argsort(-probability, kind="stable")
    ranked = probability[order]
    expected = 2.0 * np.cumsum(ranked) / (np.arange(1, len(ranked) + 1) + ranked.sum())
    kept = np.zeros(len(probability), dtype=bool)
    if len(ranked):
        kept[order[: int(np.argmax(expected)) + 1]] = True
    return kept & (probability >= FLOOR)
