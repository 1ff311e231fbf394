"""Stage 7 without a language model: quotations. A question gets the fewest verbatim sentences that answer it.

Nothing is worded here but refusals and headings; what an answer says is cut from the abstracts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.answerable import Judgement, judge
from rag.calibration import Calibration
from rag.corpus import Corpus
from rag.draft import Draft
from rag.evidence import Ranked, fewest, rank_sentences, sentence_features
from rag.named import Named
from rag.question import Question
from rag.records import Reason
from rag.retrieve import Ranking
from rag.signals import Signals
from rag.verify import Drafted

MASS = 0.8
MOST_SENTENCES = 3
MOST_SENTENCES_A_SIDE = 2
NEAREST = 3


def ranked_sentences(
    question: Question, signals: Signals, corpus: Corpus, paper: int, calibration: Calibration
) -> Ranked:
    """The sentences of a paper with the probability that each answers the question."""
    features = sentence_features(question, signals, corpus, paper)
    return rank_sentences(features, np.array(calibration.sentence.weights), corpus.spans[paper][0])


def answer_question(
    question: Question,
    signals: Signals,
    talk: Signals,
    named: Named,
    ranking: Ranking,
    corpus: Corpus,
    calibration: Calibration,
    top: int,
) -> Draft:
    """The answer to a question from its best paper, or a refusal that says what is missing."""
    ranked = ranked_sentences(question, signals, corpus, ranking.best, calibration)
    judgement = judge(question, talk, named, corpus, ranked)
    papers = [int(paper) for paper in ranking.order[:top]]
    probability = calibration.answerable.probability(judgement.features[None, :])[0]
    cited = fewest(ranked, MASS, MOST_SENTENCES)
    quotes = _quotes(papers, {ranking.best: cited}, signals, corpus)
    scores = [float(ranking.relevance[paper]) for paper in papers]
    if probability < calibration.answerable.threshold:
        text, reason = refusal(judgement, corpus, ranking.best, papers[:NEAREST], cited)
        return Draft("question", papers, scores, quotes, refusal=text, reason=reason)
    sentences = [Drafted("{quote}", (number,)) for number in sorted(cited)]
    return Draft("question", papers, scores, quotes, sentences)


def answer_comparison(
    question: Question,
    sides: Sequence[int],
    signals: Signals,
    ranking: Ranking,
    corpus: Corpus,
    calibration: Calibration,
    top: int,
) -> Draft:
    """Sentences from each side of a comparison, in the order of the sides; the sides' papers come first."""
    cited: dict[int, list[int]] = {}
    for paper in sides:
        ranked = ranked_sentences(question, signals, corpus, paper, calibration)
        cited[paper] = fewest(ranked, MASS, MOST_SENTENCES_A_SIDE)
    papers = [*sides, *(int(paper) for paper in ranking.order if int(paper) not in cited)][: max(top, len(sides))]
    best = max(float(ranking.relevance[paper]) for paper in sides)
    scores = [
        max(best, float(ranking.relevance[paper])) if paper in cited else float(ranking.relevance[paper])
        for paper in papers
    ]
    sentences = [
        Drafted(f"{corpus.labels[paper]}: {{quote}}" if position == 0 else "{quote}", (number,))
        for paper, numbers in cited.items()
        for position, number in enumerate(sorted(numbers))
    ]
    return Draft("question", papers, scores, _quotes(papers, cited, signals, corpus), sentences)


def refusal(
    judgement: Judgement, corpus: Corpus, best: int, nearest: Sequence[int], cited: Sequence[int]
) -> tuple[str, Reason]:
    """The words of a refusal and its reason: what contradicts, what is missing, and the nearest papers as no answer."""
    label = corpus.labels[best]
    premises = judgement.premises
    said = corpus.view.sentences[cited[0]].text if cited else ""
    if premises.conflicts:
        asked, told = premises.conflicts[0]
        text = f"The question takes “{asked}” for granted; {label} says otherwise (“{told}”): “{said}”"
        return text, "false_premise"
    if premises.missing_numbers:
        numbers = ", ".join(premises.missing_numbers)
        return f"No {numbers} stands in {label}, the nearest abstract. It says: “{said}”", "false_premise"
    names = "; ".join(corpus.labels[paper] for paper in nearest)
    lacking = ", ".join(f"“{word}”" for word in judgement.missing[:4])
    if set(judgement.findings) & {"bibliographic", "slot", "uncounted", "unnamed", "proper_noun"}:
        what = f" It says nothing of {lacking}." if lacking else ""
        return f"The nearest abstract, {label}, does not give this.{what}", "low_support"
    what = f" None of them speaks of {lacking}." if lacking else ""
    return f"No abstract here answers this.{what} Nearest, though not an answer: {names}.", "no_evidence"


def _quotes(papers: Sequence[int], cited: dict[int, list[int]], signals: Signals, corpus: Corpus) -> list[list[int]]:
    """For each paper the sentences cited from it, else its nearest sentence."""
    found = []
    for paper in papers:
        start, end = corpus.spans[paper]
        nearest = [start + int(np.argmax(signals.cos_sentence[start:end]))] if end > start else []
        found.append(cited.get(paper, nearest))
    return found
