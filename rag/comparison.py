"""Which papers a comparison compares: the best paper of each side, every paper once; and what it finds no paper for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.corpus import Corpus
from rag.named import Named, find_named
from rag.question import Question
from rag.retrieve import Ranking, relevance_of
from rag.signals import Signals, compute_signals

Floats = NDArray[np.float64]
MOST_PAPERS = 4
# A side whose best paper has less than this, of cosines 0..2 and half the share of its concepts, is not in the corpus.
KNOWN_SIDE = 0.75
# A clause that describes no paper ("what does each propose") fits its best paper by so much less than the best clause.
WEAK_SIDE = 0.8


@dataclass(frozen=True, slots=True)
class Sides:
    """The papers compared, in the order of their sides, and the sides (as asked) that no paper is about."""

    papers: tuple[int, ...]
    unknown: tuple[str, ...] = ()


def find_sides(
    question: Question,
    vectors: NDArray[np.float32],
    named: Named,
    ranking: Ranking,
    allowed: NDArray[np.bool_],
    corpus: Corpus,
) -> Sides:
    """The sides of a question; `vectors` (sides, dimension) are those of `question.sides`."""
    if not question.explicit_sides and len(named.papers) > 1:
        return Sides(tuple([paper for paper in named.papers if allowed[paper]][:MOST_PAPERS]))
    if not question.explicit_sides and len(set(question.sides)) == 1:
        return Sides(tuple(int(paper) for paper in ranking.order[:2]))
    scores: list[Floats] = []
    unknown = []
    for side, vector in dict(zip(question.sides, vectors, strict=True)).items():
        signals, names = compute_signals(corpus.view, corpus.index, side, vector), find_named(side, corpus)
        total = np.where(allowed, relevance_of(signals) + names.strength, -1.0)
        if question.explicit_sides and not _is_known(signals, names, int(np.argmax(total))):
            unknown.append(side)
        else:
            scores.append(total)
    papers = papers_of_sides(scores, ranking.relevance, question.explicit_sides) if scores else []
    return Sides(tuple(paper for paper in papers if allowed[paper]), tuple(unknown))


def _is_known(signals: Signals, named: Named, paper: int) -> bool:
    if named.strength[paper] > 0:
        return True
    near = signals.cos_paper[paper] + signals.best_sentence[paper] + 0.5 * signals.coverage_paper[paper]
    return not named.unknown and float(near) >= KNOWN_SIDE


def papers_of_sides(sides: Sequence[Floats], whole: Floats, explicit: bool) -> list[int]:
    """The papers compared, in the order of their sides.

    `sides` are the scores (n,) of every paper for each side, `whole` for the whole question. Explicit sides give a
    paper each; clauses are weighed first, and only those that fit a paper well count.
    """
    chosen: list[int] = []
    found = []
    for position, scores in enumerate(sides):
        total = scores + 0.25 * whole
        for paper in np.argsort(-total, kind="stable"):
            if int(paper) not in chosen:
                chosen.append(int(paper))
                found.append((float(total[paper]), position, int(paper)))
                break
    if explicit or len(found) <= 2:
        return [paper for _, _, paper in found][:MOST_PAPERS]
    strongest = max(score for score, _, _ in found)
    ranked = sorted(found, key=lambda item: (-item[0], item[1]))
    kept = [item for number, item in enumerate(ranked) if number < 2 or item[0] >= WEAK_SIDE * strongest]
    return [paper for _, _, paper in sorted(kept[:MOST_PAPERS], key=lambda item: item[1])]
