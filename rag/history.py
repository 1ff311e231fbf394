"""A follow-up with the conversation before it, understood without a model: the papers and the topic it leans on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.corpus import Corpus
from rag.named import find_named
from rag.records import Turn
from rag.terms import content_words

_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|former|latter|first|second|third|last|other|one|ones|same|"
    r"then|there|the\s+(?:method|paper|papers|authors?|approach|model|system|technique|framework|dataset|benchmark|study|work))\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*(?:and|but|so|also|what\s+about|how\s+about|then|why|ok(?:ay)?\W+(?:and|but|so))\b", re.IGNORECASE
)
_ANOTHER = re.compile(
    r"\b(?:another\s+(?:matter|question|topic|thing)|different\s+(?:question|topic)|unrelated|new\s+topic|changing)\b",
    re.IGNORECASE,
)
_SECOND = re.compile(r"\b(?:second|latter|last\s+one|other\s+one)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:first|former)\b", re.IGNORECASE)
SHORT_WORDS = 4
MOST_TURNS = 6
MOST_CHARS = 1500


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question as it stands alone. `text` is shown to the user.

    `context` is the earlier talk it leans on, or None; `focus` are the papers (indices) that talk was about, if named.
    """

    text: str
    context: str | None = None
    focus: tuple[int, ...] = ()


def stand_alone(question: str, history: Sequence[Turn], corpus: Corpus) -> Standalone:
    """The standalone form of a question; without history, or on a new topic, the question itself."""
    turns = [turn for turn in history if turn.role != "system"][-MOST_TURNS:]
    if not turns or not _leans(question, corpus):
        return Standalone(question)
    mentioned = _mentioned(turns, corpus)
    focus = _focus(question, mentioned)
    asked = [turn.content for turn in turns if turn.role == "user"]
    told = [turn.content for turn in turns if turn.role == "assistant"]
    context = " ".join([*asked[-1:], *told[-1:]])[:MOST_CHARS]
    about = " and ".join(corpus.labels[paper] for paper in focus) if focus else " ".join((asked or told)[-1].split())
    return Standalone(f"{question.strip()} (about {about[:200]})", context, focus)


def _leans(question: str, corpus: Corpus) -> bool:
    if _ANOTHER.search(question) or find_named(question, corpus).strength.max(initial=0.0) >= 1.0:
        return False
    few = len(content_words(question, drop_asking=False)) <= SHORT_WORDS
    return few or bool(_GOES_ON.match(question)) or bool(_POINTS_BACK.search(_without_idioms(question)))


def _without_idioms(question: str) -> str:
    """The question without words that only look as if they point back: `is there any`, `papers that ...`."""
    text = re.sub(r"\b(?:is|are|was|were)\s+there\b", " ", question, flags=re.IGNORECASE)
    return re.sub(
        r"(?<=\w)\s+that\s+(?=\w)|\bone\s+(?:of|can|could|should|may)\b|\b(?:at\s+)?first\s+\w+ly\b",
        " ",
        text,
        flags=re.IGNORECASE,
    )


def _mentioned(turns: Sequence[Turn], corpus: Corpus) -> list[tuple[int, ...]]:
    """The papers that each turn names, in the order of the turns; within a turn in the order of their names."""
    found = []
    for turn in turns:
        strength = find_named(turn.content, corpus).strength
        papers = [paper for paper in range(len(strength)) if strength[paper] >= 1.0]
        place = {paper: _place(turn.content, corpus.labels[paper]) for paper in papers}
        found.append(tuple(sorted(papers, key=lambda paper, place=place: (place[paper], paper))))  # type: ignore[misc]
    return found


def _place(text: str, label: str) -> int:
    lowered = text.casefold()
    places = [lowered.find(word.casefold()) for word in re.findall(r"[\w-]{3,}", label)]
    return min((place for place in places if place >= 0), default=len(text))


def _focus(question: str, mentioned: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    named = [papers for papers in mentioned if papers]
    if not named:
        return ()
    order = list(dict.fromkeys(paper for papers in named for paper in papers))
    if len(order) > 1 and _FIRST.search(question):
        return (order[0],)
    if len(order) > 1 and _SECOND.search(question):
        return (order[1] if "second" in question.lower() else order[-1],)
    return named[-1]
