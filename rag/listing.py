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
# Against the cosine's weight of 1, in the ratios that a conditional logit found on the gold quotes of the listings.
COVERAGE_WEIGHT = 0.35
LITERAL_WEIGHT = 0.15
OWN_WORK_WEIGHT = 0.15
PRESENTS_WEIGHT = 0.1
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
    if not criteria:
        return _every_paper(question, excluded, allowed, corpus, calibration)
    each = np.array([membership(criterion, corpus, calibration) for criterion in criteria])
    probability = np.where(allowed, each.max(axis=0), 0.0)
    best_of = each.argmax(axis=0)
    kept = cut(probability)
    if excluded is not None:
        kept &= ~excludes(excluded, corpus, calibration)
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


def _every_paper(
    question: Question,
    excluded: Criterion | None,
    allowed: NDArray[np.bool_],
    corpus: Corpus,
    calibration: Calibration,
) -> Draft:
    """The listing that asks for no topic: every paper, but for what is excluded, each with what it says of its work."""
    kept = allowed & ~excludes(excluded, corpus, calibration) if excluded is not None else allowed
    shown = [int(paper) for paper in np.flatnonzero(kept)]
    quotes = [_introduction(corpus, paper) for paper in shown]
    but = f", without “{question.excluded}”" if question.excluded else ""
    if not shown:
        text = f"No paper is left{but}."
        return Draft("listing", [], [], [], total_matches=0, refusal=text, reason="no_evidence")
    sentences = [
        Drafted(f"{corpus.labels[paper]}: “{{quote}}”" if numbers else corpus.labels[paper], tuple(numbers))
        for paper, numbers in zip(shown, quotes, strict=True)
    ]
    noun = "paper" if len(shown) == 1 else "papers"
    return Draft("listing", shown, [1.0] * len(shown), quotes, sentences, f"{len(shown)} {noun}{but}:", len(shown))


def _introduction(corpus: Corpus, paper: int) -> list[int]:
    """The first sentence that presents the paper's own work, else its first."""
    start, end = corpus.spans[paper]
    presents = [number for number in range(start, end) if _PRESENTS.search(corpus.cleaned[number])]
    return [presents[0] if presents else start] if end > start else []


def excludes(criterion: Criterion, corpus: Corpus, calibration: Calibration) -> NDArray[np.bool_]:
    """(n,): the papers that are about what is excluded, or that say all of it in one sentence."""
    out = membership(criterion, corpus, calibration) >= EXCLUDED_ABOVE
    out[corpus.view.sentence_paper[criterion.widened.full]] = True
    return np.asarray(out)


def best_quote(criterion: Criterion, corpus: Corpus, paper: int) -> list[int]:
    """The number of the sentence that shows best why a paper belongs: it says the criterion, about its own work."""
    start, end = corpus.spans[paper]
    if start == end:
        return []
    signals = criterion.widened
    score = (
        signals.cos_sentence[start:end]
        + COVERAGE_WEIGHT * signals.coverage_sentence[start:end]
        + LITERAL_WEIGHT * criterion.literal.coverage_sentence[start:end]
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
