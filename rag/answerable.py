"""Does the corpus answer a question at all? Features of the best paper and its best sentences, and of what is missing.

A calibrated logistic model decides; the threshold trades refusals of what could be answered against answers to what
can't. A refusal names what is missing, not more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.concepts import Concept, find_concepts, phrase_of, respell, sentences_of
from rag.corpus import Corpus
from rag.evidence import Ranked
from rag.named import ADJECTIVAL, Named
from rag.premises import Premises, check_premises
from rag.question import Question
from rag.signals import Signals
from rag.terms import stem, words
from rag.word_lists import FUNCTION_WORDS, LIGHT_WORDS

Floats = NDArray[np.float64]
ANSWERABLE_FEATURES = ("off_topic", "missing_share", "contrary")
ON_TOPIC = 0.7
# A question that shares no concept with a paper and is no nearer to it than this is about something else.
OFF_TOPIC = 0.5
# What abstracts do not give, however well they fit the topic: bibliography, hardware, settings, terms of use.
_BIBLIOGRAPHIC = re.compile(
    r"\b(?:(?:who|which|what|how\s+many|how\s+much)\s+(?:\w+\s+){0,4}?(?:authors?|affiliat\w+|universit\w+|institut\w+|lab|gpus?|tpus?|"
    r"hardware|learning\s+rates?|batch\s+sizes?|hyper-?parameters?|epochs?|optimi[sz]ers?|seeds?|licen[cs]es?|pages?|appendix|"
    r"tables?|figures?|citations?|reviewers?|funding|dollars?|usd|carbon|electricity|seconds?|minutes?|days?|weeks?|watts?)\b|"
    r"who\s+(?:wrote|authored|funded|are\s+they)\b|(?:written|authored|funded)\s+by\s+whom\b|how\s+long\s+(?:did|does|do)\s+(?:it|the)\b)",
    re.IGNORECASE,
)
_DURATION = re.compile(r"\bhow\s+long\b", re.IGNORECASE)
_TIME = re.compile(r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?)\b", re.IGNORECASE)
_SLOT = re.compile(
    r"\b(?:how\s+many|how\s+much(?!\s+(?:\w+er|more|less)\b)|which|what(?:\s+(?:is|are|was|were))?(?:\s+the)?(?:\s+names?\s+of(?:\s+the)?)?)\s+((?:[\w-]+\s*){1,4})",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\bhow\s+many\s+((?:[\w-]+\s*){1,3})", re.IGNORECASE)
_NUMBER_WORD = re.compile(
    r"\d|^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?|single|couple|both)$",
    re.IGNORECASE,
)
_NAMED_SLOT = frozenset(
    map(
        stem,
        "dataset datasets benchmark model llm family simulator language library corpus corpora robot hospital company".split(),
    )
)
_STOP = frozenset("of in on at to for from with by as than that which who and or but when where per".split())
_GENERIC_SLOT = frozenset(
    "kinds kind exactly parts part applications application times sorts types type steps ways scores result results".split()
)
# "Why ...?" is answered by words of cause, of a difficulty, or of the means.
_WHY = re.compile(
    r"\bwhy\b|\bwhat\s+(?:is|was)\s+the\s+(?:reason|cause)\b|\bwhat\s+causes\b|\bhow\s+come\b", re.IGNORECASE
)
_BECAUSE = re.compile(
    r"\b(?:because|due\s+to|since|caus\w+|lead\w*\s+to|owing|stem\w*|reasons?|therefore|thus|hence|explain\w*|arise\w*|"
    r"primarily|as\s+(?:it|they|the)|driven|result\w*\s+(?:from|in)|by\s+\w+ing|attribut\w*|so\s+that|suffer\w*|fails?|"
    r"which\s+(?:makes?|hinders?|limits?|can|leads?)|limit\w*|challeng\w*|lack\w*|inability|cannot)\b",
    re.IGNORECASE,
)  # fmt: skip
_SENTENCE_START = re.compile(r"(?:^|[.?!:;]\s+|\()\W*$")
TOP_SENTENCES = 3
COUNT_WINDOW = 4
# A name that more papers have (LLM, GPU) is a word of the field and names nothing.
COMMON_NAME = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """The features of a question for its best paper, and the findings that a refusal can tell.

    `unrelated`: the paper has nothing of the question's concepts, and is far from it in meaning too.
    """

    features: Floats
    premises: Premises
    missing: tuple[str, ...]
    findings: tuple[str, ...]
    unrelated: bool


def slot_of(question: str) -> tuple[str, ...]:
    """The words for what a question wants filled in: `("learning", "rate")` of "which learning rate did they use"."""
    match = _SLOT.search(question)
    return _noun_run(match[1]) if match else ()


def _noun_run(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in words(text):
        if word.casefold() in FUNCTION_WORDS | _STOP:
            break
        found.append(word)
    return tuple(word for word in found if word.casefold() not in LIGHT_WORDS | _GENERIC_SLOT)


def proper_nouns(question: str) -> list[str]:
    """The capitalised words of a question that do not merely begin a sentence."""
    found = []
    for match in re.finditer(r"\b[A-Z][\w-]+", question):
        if not _SENTENCE_START.search(question[: match.start()]) and not match[0].endswith(ADJECTIVAL):
            found.append(match[0])
    return found


def judge(question: Question, signals: Signals, named: Named, corpus: Corpus, ranked: Ranked) -> Judgement:
    """Whether the paper of the `ranked` sentences can answer; the features follow ANSWERABLE_FEATURES."""
    paper = int(corpus.view.sentence_paper[ranked.numbers[0]])
    start, end = corpus.spans[paper]
    sentences = corpus.cleaned[start:end]
    total = float(signals.cos_paper[paper] + signals.best_sentence[paper])
    order = np.argsort(-ranked.probability, kind="stable")[:TOP_SENTENCES]
    best = [corpus.cleaned[int(number)] for number in ranked.numbers[order]]
    premises = check_premises(question.text, best, " ".join(sentences))
    known = set(phrase_of(" ".join(sentences)))
    in_paper = np.asarray(signals.hits[:, start:end].any(axis=1))
    weight = sum(concept.weight for concept in signals.concepts)
    lacking = [concept for concept, there in zip(signals.concepts, in_paper, strict=True) if not there]
    is_named = float(named.strength[paper])
    asked = question.text
    slot = slot_of(" ".join(respell(asked, corpus.index)))
    coverage = float(signals.coverage_paper[paper])
    contrary = {
        "unknown_name": bool(named.unknown),
        "term": any(_is_term(concept) and not concept.known for concept in lacking),
        "proper_noun": any(not set(phrase_of(word)) & known for word in proper_nouns(asked)),
        "number": bool(premises.missing_numbers),
        "conflict": bool(premises.conflicts),
        "bibliographic": _asks_bibliographic(asked, sentences, known),
        "slot": is_named == 1.0 and _missing(slot, corpus, start, end),
        "no_cause": bool(_WHY.search(asked)) and not any(_BECAUSE.search(sentence) for sentence in best),
        "uncounted": _uncounted(asked, sentences, known),
        "unnamed": question.wanted != "number" and _unnamed(slot, sentences, corpus, paper),
    }
    features = [
        max(0.0, ON_TOPIC - total - 0.5 * coverage),
        max((concept.weight for concept in lacking), default=0.0) / max(weight, 1e-9),
        float(sum(contrary.values())),
    ]
    findings = tuple(name for name, found in contrary.items() if found)
    unrelated = bool(signals.concepts) and coverage == 0.0 and total < OFF_TOPIC
    return Judgement(np.array(features), premises, tuple(concept.text for concept in lacking), findings, unrelated)


def _is_term(concept: Concept) -> bool:
    """A term of the field, so that its absence from the corpus says something; not an everyday word."""
    return bool(concept.phrases) and (" " in concept.text or concept.named)


def _missing(slot: tuple[str, ...], corpus: Corpus, start: int, end: int) -> bool:
    """Whether the sentences from `start` to `end` speak of nothing of what the question wants filled in."""
    concepts = find_concepts(" ".join(slot), corpus.index) if slot else ()
    return bool(concepts) and not any(sentences_of(concept, corpus.index)[start:end].any() for concept in concepts)


def _asks_bibliographic(question: str, sentences: Sequence[str], known: set[str]) -> bool:
    asked = _BIBLIOGRAPHIC.search(question)
    if asked is not None and _DURATION.search(asked[0]):
        return not any(_TIME.search(sentence) for sentence in sentences)
    return asked is not None and not set(phrase_of(asked[0].split()[-1])) & known


def _uncounted(question: str, sentences: Sequence[str], known: set[str]) -> bool:
    """Asks how many of something that the paper speaks of, but never with a number beside it."""
    match = _HOW_MANY.search(question)
    slot = set(phrase_of(" ".join(_noun_run(match[1])))) if match else set()
    if not slot & known:
        return False
    for sentence in sentences:
        told = words(sentence)
        for position, word in enumerate(told):
            if set(phrase_of(word)) & slot:
                near = told[max(0, position - COUNT_WINDOW) : position + COUNT_WINDOW]
                if any(_NUMBER_WORD.search(other) for other in near):
                    return False
    return True


def _unnamed(slot: tuple[str, ...], sentences: Sequence[str], corpus: Corpus, paper: int) -> bool:
    """Asks for the name of a dataset, model and the like, and no sentence that speaks of one has a name in it."""
    head = {term for word in slot for term in phrase_of(word)} & _NAMED_SLOT
    if not head:
        return False
    own = set(words(corpus.labels[paper]))
    for sentence in sentences:
        if head & set(phrase_of(sentence)) and any(
            word not in own and len(corpus.index.names.get(word.casefold(), ())) <= COMMON_NAME
            for word in proper_nouns(sentence)
        ):
            return False
    return True
