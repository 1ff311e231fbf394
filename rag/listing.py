"""Stage 7 for listings: the complete set of the papers that qualify, each with its best quote and why it matched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.calibration import Calibration
from rag.corpus import Corpus
from rag.draft import Draft
from rag.membership import cut, impossible, is_term_criterion, membership_features
from rag.question import Question
from rag.signals import Signals
from rag.verify import Drafted

Floats = NDArray[np.float64]
EXCLUDED_ABOVE = 0.5
COVERAGE_WEIGHT = 0.6
OWN_WORK_WEIGHT = 0.08
PRESENTS_WEIGHT = 0.12
_PRESENTS = re.compile(
    r"\b(?:we|paper|work|study)\s+(?:\w+\s+)?(?:propos|introduc|present|develop|stud|investigat)\w*", re.IGNORECASE
)
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Criterion:
    """One alternative of a listing's criterion: its signals with the thesaurus (`widened`) and without (`literal`)."""

    widened: Signals
    literal: Signals


def membership(criterion: Criterion, corpus: Corpus, calibration: Calibration) -> Floats:
    """(n,): the probability that each paper belongs in the listing of one criterion."""
    term = is_term_criterion(criterion.widened)
    features = membership_features(criterion.widened, criterion.literal, corpus, term)
    model = calibration.membership_term if term else calibration.membership_open
    probability = model.probability(features)
    return np.where(impossible(criterion.widened, corpus), 0.0, probability)


def answer_listing(
    question: Question,
    criteria: Sequence[Criterion],
    excluded: Criterion | None,
    allowed: NDArray[np.bool_],
    corpus: Corpus,
    calibration: Calibration,
    top: int,
) -> Draft:
    """The papers that qualify under any alternative, and not under what is excluded; a refusal when none does."""
    each = np.array([membership(criterion, corpus, calibration) for criterion in criteria])
    probability = np.where(allowed, each.max(axis=0), 0.0)
    best_of = each.argmax(axis=0)
    kept = cut(probability)
    if excluded is not None:
        kept &= membership(excluded, corpus, calibration) < EXCLUDED_ABOVE
    order = [int(paper) for paper in np.argsort(-probability, kind="stable") if allowed[paper]]
    listed = [paper for paper in order if kept[paper]]
    shown = listed or order[:top]
    quotes = [best_quote(criteria[int(best_of[paper])], corpus, paper) for paper in shown]
    scores = [float(probability[paper]) for paper in shown]
    if not listed:
        names = "; ".join(corpus.labels[paper] for paper in shown[:NEAREST])
        text = f"No abstract here is about “{question.topic}”. Nearest, though not about it: {names}."
        return Draft("listing", shown, scores, quotes, total_matches=0, refusal=text, reason="no_evidence")
    sentences = [
        Drafted(
            f"{corpus.labels[paper]} ({why(criteria[int(best_of[paper])], numbers)}): “{{quote}}”",
            tuple(numbers),
        )
        for paper, numbers in zip(shown, quotes, strict=True)
    ]
    noun = "paper matches" if len(listed) == 1 else "papers match"
    but = f", without “{question.excluded}”" if question.excluded else ""
    lead = f"{len(listed)} {noun} “{question.topic}”{but}:"
    return Draft("listing", shown, scores, quotes, sentences, lead, len(listed))


def best_quote(criterion: Criterion, corpus: Corpus, paper: int) -> list[int]:
    """The number of the sentence that shows best why a paper belongs: it says the criterion, about its own work."""
    start, end = corpus.spans[paper]
    if start == end:
        return []
    signals = criterion.widened
    score = (
        signals.cos_sentence[start:end]
        + COVERAGE_WEIGHT * signals.coverage_sentence[start:end]
        + OWN_WORK_WEIGHT * corpus.own_work[start:end]
        + PRESENTS_WEIGHT * np.array([bool(_PRESENTS.search(text)) for text in corpus.cleaned[start:end]])
    )
    return [start + int(np.argmax(score))]


def why(criterion: Criterion, numbers: Sequence[int]) -> str:
    """Why a paper matched: the concepts that its quote says, or else that it is close in meaning."""
    said = [
        concept.text
        for concept, row in zip(criterion.widened.concepts, criterion.widened.hits, strict=True)
        if any(row[number] for number in numbers)
    ]
    return "matches " + ", ".join(said) if said else "close in meaning"
