"""A question -> every paper of the view with its score, best first: meaning, words and names together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.corpus import Corpus
from rag.filters import Clause, passes
from rag.named import Named
from rag.shortlist import fuse
from rag.signals import Signals

Floats = NDArray[np.float64]
# A name outweighs any similarity: who asks about Ada-K wants the paper that introduces Ada-K.
NAMED_WEIGHT = 1.0
CONTEXT_WEIGHT = 0.5
FOCUS_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Ranking:
    """`relevance` (n,): score in 0..1 of every paper. `order`: the allowed papers, best first, ties by paper id.

    `total` (n,) is what orders them: relevance, names, and what was talked of before, 0 or more.
    """

    relevance: Floats
    total: Floats
    order: NDArray[np.int64]

    @property
    def best(self) -> int:
        """The best paper's index."""
        return int(self.order[0])


def allowed_papers(corpus: Corpus, clauses: Sequence[Clause]) -> NDArray[np.bool_]:
    """(n,): which papers pass the filter."""
    if not clauses:
        return np.ones(len(corpus.view.papers), dtype=bool)
    return np.array([passes(paper, clauses) for paper in corpus.view.papers], dtype=bool)


def relevance_of(signals: Signals) -> Floats:
    """(n,): how well each paper fits a text, 0..1, by the fused signals alone."""
    return fuse(
        signals.cos_paper, signals.best_sentence, signals.bm25, signals.bm25_bound, signals.coverage_paper
    ).astype(np.float64)


def rank_papers(
    relevance: Floats,
    named: Named,
    allowed: NDArray[np.bool_],
    context: Floats | None = None,
    focus: Sequence[int] = (),
) -> Ranking:
    """The papers ranked by relevance and names; a follow-up also by the earlier talk (`context`) and its `focus`."""
    total = relevance + NAMED_WEIGHT * named.strength
    if context is not None:
        total = total + CONTEXT_WEIGHT * context
    if len(focus):
        total[list(focus)] += FOCUS_WEIGHT
    order = np.argsort(-total, kind="stable")
    shown = np.clip(np.where(total > relevance, total / 2.0, relevance), 0.0, 1.0)
    return Ranking(shown, total, order[allowed[order]])
