"""Stage 7 without a language model: quotations. A question gets the fewest verbatim sentences that answer it.

Nothing is worded here but refusals and headings; what an answer says is cut from the abstracts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.answerable import Judgement, judge
from rag.calibration import Calibration
from rag.comparison import Sides
from rag.corpus import Corpus
from rag.draft import Draft
from rag.evidence import Ranked, fewest, rank_sentences, sentence_features, together
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
# Where several papers are about as likely to answer, each is heard.
CONSIDERED = 4


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
    """The answer to a question from its best papers, or a refusal that says what is missing."""
    ranked = ranked_sentences(question, signals, corpus, ranking.best, calibration)
    judgement = judge(question, talk, named, corpus, ranked)
    papers = [int(paper) for paper in ranking.order[:top]]
    probability = calibration.answerable.probability(judgement.features[None, :])[0]
    scores = [float(ranking.relevance[paper]) for paper in papers]
    if judgement.unrelated or probability < calibration.answerable.threshold:
        nearest = {ranking.best: fewest(ranked, MASS, MOST_SENTENCES)}
        text, reason = refusal(judgement, corpus, ranking.best, papers[:NEAREST], nearest[ranking.best])
        return Draft("question", papers, scores, _quotes(papers, nearest, signals, corpus), refusal=text, reason=reason)
    cited = _cited(question, signals, ranking, ranked, corpus, calibration)
    labelled = len(cited) > 1
    sentences = [sentence for paper, numbers in cited.items() for sentence in _quoted(corpus, paper, numbers, labelled)]
    return Draft("question", papers, scores, _quotes(papers, cited, signals, corpus), sentences)


def _cited(
    question: Question, signals: Signals, ranking: Ranking, first: Ranked, corpus: Corpus, calibration: Calibration
) -> dict[int, list[int]]:
    """The sentences that answer, by paper, best paper first: the fewest that reach MASS over the likeliest papers."""
    likely = [int(paper) for paper in ranking.order[:CONSIDERED]]
    ranked = [first, *(ranked_sentences(question, signals, corpus, paper, calibration) for paper in likely[1:])]
    chosen = fewest(together(ranked, ranking.total[likely], calibration.paper.weights[0]), MASS, MOST_SENTENCES)
    of_paper = {
        paper: sorted(set(chosen) & set(one.numbers.tolist())) for paper, one in zip(likely, ranked, strict=True)
    }
    return {paper: numbers for paper, numbers in of_paper.items() if numbers}


def _quoted(corpus: Corpus, paper: int, numbers: Sequence[int], labelled: bool) -> list[Drafted]:
    """The sentences of one paper in its order; the first says whose they are where several papers are quoted."""
    return [
        Drafted(f"{corpus.labels[paper]}: {{quote}}" if labelled and position == 0 else "{quote}", (number,))
        for position, number in enumerate(sorted(numbers))
    ]


def answer_comparison(
    question: Question,
    sides: Sides,
    signals: Signals,
    ranking: Ranking,
    corpus: Corpus,
    calibration: Calibration,
    top: int,
) -> Draft:
    """Sentences from each side of a comparison, in the order of the sides; the sides' papers come first.

    A side that no paper is about is told; when that is so of all, the answer is a refusal.
    """
    lacking = ", ".join(f"“{side}”" for side in sides.unknown)
    if not sides.papers:
        nearest = [int(paper) for paper in ranking.order[:top]]
        names = "; ".join(corpus.labels[paper] for paper in nearest[:NEAREST])
        text = f"No abstract here is about {lacking}. Nearest, though not an answer: {names}."
        scores = [float(ranking.relevance[paper]) for paper in nearest]
        quotes = _quotes(nearest, {}, signals, corpus)
        return Draft("question", nearest, scores, quotes, refusal=text, reason="no_evidence")
    cited: dict[int, list[int]] = {}
    for paper in sides.papers:
        ranked = ranked_sentences(question, signals, corpus, paper, calibration)
        cited[paper] = fewest(ranked, MASS, MOST_SENTENCES_A_SIDE)
    others = (int(paper) for paper in ranking.order if int(paper) not in cited)
    papers = [*sides.papers, *others][: max(top, len(sides.papers))]
    best = max(float(ranking.relevance[paper]) for paper in sides.papers)
    scores = [
        max(best, float(ranking.relevance[paper])) if paper in cited else float(ranking.relevance[paper])
        for paper in papers
    ]
    sentences = [sentence for paper, numbers in cited.items() for sentence in _quoted(corpus, paper, numbers, True)]
    lead = f"No abstract here is about {lacking}; of the rest:" if lacking else ""
    return Draft("question", papers, scores, _quotes(papers, cited, signals, corpus), sentences, lead)


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
