"""Which sentences of a paper answer a question: features of each, turned into a probability within the paper.

The probability is a softmax over the paper's sentences (a conditional logit), so that "the fewest sentences that
answer" has a meaning: the smallest set whose probabilities reach a given mass. Weights: `rag/calibration.json`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.corpus import Corpus
from rag.question import Question
from rag.signals import Signals

Floats = NDArray[np.float64]
# Kinds of sentences in an abstract, and the words of a question that ask for each.
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|halve[sd]?|double[sd]?|twice|thrice|"
    r"magnitudes?|hundreds?|thousands?|millions?|billions?)\b",
    re.IGNORECASE,
)
_KINDS: tuple[tuple[str, str, str], ...] = (
    (
        "result",
        r"results?|perform\w*|better|best|improv\w*|gain\w*|outperform\w*|beat\w*|accura\w*|speed\w*|faster|sav\w+|reduc\w*|cut\w*|"
        r"help\w*|effect\w*|how\s+(?:well|good|much)|pays?|cost\w*|find|found|show\w*",
        r"experiment\w*|results?|outperform\w*|achiev\w*|show\w*|demonstrat\w*|improv\w*|reduc\w*|find\w*|found|reveal\w*|"
        r"empirical\w*|evaluat\w*|surpass\w*|exceed\w*|accelerat\w*",
    ),
    (
        "method",
        r"how\s+(?:do|does|did|is|are|can|to|might|could|should)|(?:what|which)\s+(?:technique|method|trick|idea|approach|mechanism|"
        r"component|strateg)\w*|instead|work|replace\w*|propos\w*|use[ds]?|remedy|solv\w*",
        r"we\s+(?:propose|introduce|present|develop|design|devise|address|formulate|define)|our\s+(?:method|approach|framework|key|strategy)|"
        r"novel|consists?|leverag\w+|by\s+\w+ing|this\s+paper|replac\w+|instead|us(?:es|ing)",
    ),
    (
        "problem",
        r"problem\w*|limit\w*|weak\w*|challeng\w*|wrong|why|fail\w*|difficult\w*|hard\w*|struggl\w*|issue\w*|drawback\w*|shortcoming\w*|"
        r"gaps?|bad|miss\w*|carry\s+over|motivat\w*",
        r"however|challeng\w*|limit\w*|despite|struggl\w*|fail\w*|lacks?|issues?|problems?|overlook\w*|unclear|remain\w*|suffer\w*|"
        r"hinder\w*|difficult\w*|gaps?|nevertheless|bottleneck\w*",
    ),
    (
        "data",
        r"data\s?sets?|benchmarks?|tested|evaluated|tried|tasks?|where|domains?|data|applications?|corpus|trained\s+on|images?|videos?",
        r"data\s?sets?|benchmarks?|tasks?|trained\s+on|evaluat\w+|corpus|including|such\s+as|e\.g|experiments?\s+on|collect\w*|suite",
    ),
    (
        "cause",
        r"why|causes?|caused|reasons?|explains?|because|due|come\s+from",
        r"because|due\s+to|since|caus\w+|lead\w*\s+to|owing|stem\w*|reasons?|therefore|thus|hence|explain\w*|root|arise\w*|primarily",
    ),
)  # fmt: skip
_COMPILED = tuple(
    (name, re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), re.compile(rf"\b(?:{told})\b", re.IGNORECASE))
    for name, asked, told in _KINDS
)
_AVAILABILITY = re.compile(
    r"\b(?:code|repository|github|project\s+page|publicly|checkpoints?)\b|https?:", re.IGNORECASE
)
PAPER_FEATURES = ("total",)
SENTENCE_FEATURES = (
    "cosine",
    "coverage",
    "local_coverage",
    "bigrams",
    "neighbour",
    "number",
    *(name for name, _, _ in _COMPILED),
    "first",
    "position",
    "length",
    "availability",
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A paper's sentences with the probability (sum 1) that each is the one that answers, in the view's order."""

    numbers: NDArray[np.int64]
    probability: Floats


def sentence_features(question: Question, signals: Signals, corpus: Corpus, paper: int) -> Floats:
    """(m, f): the features of the m sentences of a paper, each column less its mean over the paper."""
    start, end = corpus.spans[paper]
    cosine = signals.cos_sentence[start:end].astype(np.float64)
    hits = signals.hits[:, start:end]
    texts = corpus.cleaned[start:end]
    asked = question.text
    columns = [
        cosine,
        signals.coverage_sentence[start:end],
        _local_coverage(hits),
        signals.bigram_sentence[start:end],
        _neighbour(cosine),
        [float(question.wanted == "number" and bool(_NUMBER.search(text))) for text in texts],
    ]
    for _, asks, tells in _COMPILED:
        wanted = bool(asks.search(asked))
        columns.append([float(wanted and bool(tells.search(text))) for text in texts])
    columns += [
        [float(number == 0) for number in range(end - start)],
        [number / max(1, end - start - 1) for number in range(end - start)],
        [np.log(max(20, len(text)) / 150.0) for text in texts],
        [float(bool(_AVAILABILITY.search(text)) and not _AVAILABILITY.search(asked)) for text in texts],
    ]
    features = np.array(columns, dtype=np.float64).T
    return np.asarray(features - features.mean(axis=0, keepdims=True), dtype=np.float64)


def rank_sentences(features: Floats, weights: Floats, first: int) -> Ranked:
    """The probabilities of a paper's sentences; `first` is the number of its first sentence in the view."""
    logits = features @ weights
    exponentials = np.exp(logits - logits.max()) if len(logits) else logits
    return Ranked(first + np.arange(len(logits)), exponentials / max(float(exponentials.sum()), 1e-12))


def together(ranked: Sequence[Ranked], scores: Floats, weight: float) -> Ranked:
    """The sentences of several papers with the probability that each answers: its paper's times its own within it.

    `scores` (p,) order the papers; a paper's probability is the softmax of `weight` times them.
    """
    chances = np.exp(weight * (scores - scores.max()))
    chances /= chances.sum()
    numbers = np.concatenate([one.numbers for one in ranked])
    return Ranked(numbers, np.concatenate([p * one.probability for p, one in zip(chances, ranked, strict=True)]))


def fewest(ranked: Ranked, mass: float, most: int) -> list[int]:
    """The numbers of the fewest sentences whose probabilities reach `mass`, at most `most`, best first."""
    order = np.argsort(-ranked.probability, kind="stable")
    reached = np.cumsum(ranked.probability[order])
    count = min(most, int(np.searchsorted(reached, mass)) + 1, len(order))
    return [int(number) for number in ranked.numbers[order[:count]]]


def _local_coverage(hits: NDArray[np.bool_]) -> Floats:
    """(m,): coverage with weights that count how rare a concept is within this paper: what sets a sentence apart."""
    total = hits.shape[1]
    df = hits.sum(axis=1)
    weights = np.where(df > 0, np.log(1.0 + (total - df + 0.5) / (df + 0.5)), 0.0)
    covered: Floats = weights @ hits / max(float(weights.sum()), 1e-9)
    return covered


def _neighbour(cosine: Floats) -> Floats:
    before = np.concatenate([[0.0], cosine[:-1]])
    after = np.concatenate([cosine[1:], [0.0]])
    return np.asarray(np.maximum(before, after), dtype=np.float64)
