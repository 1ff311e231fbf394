"""What a question takes for granted, checked against the words of one paper: numbers, names, directions, negations.

A check finds a contradiction in the words; it does not understand the sentence. What it can't see it does not claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from rag.terms import stem, words
from rag.word_lists import FUNCTION_WORDS

_QUANTITY = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_GROUPS = (
    # Words of one group say the same direction; the two groups of a pair oppose each other.
    (
        "better improve improves improved improvement gain gains outperform outperforms surpass surpasses exceed superior",
        "worse degrade degrades degraded degradation deteriorate underperform underperforms inferior hurt hurts harm harms",
    ),
    (
        "faster speed speeds speedup accelerate accelerates accelerated acceleration quicker speeding",
        "slow slower slows slowdown slowing slowed",
    ),
    (
        "increase increases increased raise raises raised grow grows rise rises higher larger enhance enhances boost boosts",
        "decrease decreases decreased reduce reduces reduced reduction lower lowers drop drops dropped fall falls shrink",
    ),
    ("same identical equal shared", "different distinct"),
    ("necessary required requires", "unnecessary"),
    ("more additional extra", "less fewer"),
    ("online", "offline"),
    ("static fixed", "dynamic dynamically adaptive adaptively"),
    ("supervised", "unsupervised"),
    ("linear linearly", "nonlinear nonlinearly"),
    ("robust", "fragile vulnerable brittle"),
    ("always", "never rarely"),
)
_OPPOSITES: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
for _first, _second in _GROUPS:
    for _one, _other in ((_first, _second), (_second, _first)):
        _same, _against = frozenset(map(stem, _one.split())), frozenset(map(stem, _other.split()))
        for _word in _one.split():
            _OPPOSITES.setdefault(stem(_word), (_same, _against))
_NEGATORS = frozenset(
    "no not without never neither nor cannot can't don't doesn't didn't isn't aren't unable none fails fail".split()
)
_OPEN = re.compile(r"\s*(?:is|are|was|were|do|does|did|can|could|will|would|has|have|should|whether)\b", re.IGNORECASE)
NEAR_WORDS = 4
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Premises:
    """What a paper says against a question: `missing_numbers` it does not have, `conflicts` as (asked, told) words."""

    missing_numbers: tuple[str, ...]
    conflicts: tuple[tuple[str, str], ...]


def numbers_of(text: str) -> list[str]:
    """The numbers written in digits, in order, without thousands separators; parts of names (`Top-K2`) are left out."""
    return [match[0].rstrip(",").replace(",", "") for match in _QUANTITY.finditer(text)]


def check_premises(question: str, sentences: list[str], abstract: str) -> Premises:
    """What the `sentences` (best first) and the whole cleaned abstract say against a question's premises."""
    asked_numbers = numbers_of(question)
    known = set(numbers_of(abstract))
    missing = tuple(number for number in asked_numbers if number not in known and len(number) > 1)
    conflicts: list[tuple[str, str]] = []
    # "Is clipping really necessary?" takes nothing for granted: either answer is an answer.
    if _OPEN.match(question):
        return Premises(missing, ())
    for sentence in sentences:
        conflicts += _opposed(question, sentence, abstract)
        conflicts += _negated(question, sentence)
        conflicts += _swapped(question, sentence)
        conflicts += _reversed_numbers(asked_numbers, sentence)
    return Premises(missing, tuple(dict.fromkeys(conflicts)))


def _opposed(question: str, sentence: str, abstract: str) -> list[tuple[str, str]]:
    """A direction word of the question whose opposite the sentence has, about the same thing.

    "About the same thing": a content word stands near both; and the abstract never has the question's own direction.
    """
    asked, told = words(question), words(sentence)
    ever = {stem(word) for word in words(abstract)}
    found = []
    for at, word in enumerate(asked):
        same, against = _OPPOSITES.get(stem(word), (frozenset(), frozenset()))
        if not against or same & ever:
            continue
        near = _near(asked, at)
        found += [(word, other) for to, other in enumerate(told) if stem(other) in against and near & _near(told, to)]
    return found[:1]


def _near(told: list[str], at: int) -> set[str]:
    around = (*told[max(0, at - NEAR_WORDS) : at], *told[at + 1 : at + 1 + NEAR_WORDS])
    return {stem(word) for word in around if word.casefold() not in FUNCTION_WORDS}


def _negated(question: str, sentence: str) -> list[tuple[str, str]]:
    """A content word of the question that the sentence denies ("without gradient clipping"), never affirmed by it."""
    if any(word.casefold() in _NEGATORS for word in words(question)):
        return []
    asked = {stem(word) for word in words(question) if word.casefold() not in FUNCTION_WORDS and len(word) > 3}
    told = words(sentence)
    found = []
    for position, word in enumerate(told):
        if word.casefold() != "without" and word.casefold() != "no":
            continue
        elsewhere = {stem(other) for other in (*told[:position], *told[position + 4 :])}
        denied = [near for near in told[position + 1 : position + 4] if stem(near) in asked - elsewhere]
        if denied:
            found.append((denied[-1], f"{word} {' '.join(told[position + 1 : position + 4])}"))
    return found


def _swapped(question: str, sentence: str) -> list[tuple[str, str]]:
    """The two sides of "... than ..." stand the other way round in the sentence."""
    asked, told = _THAN.split(question), _THAN.split(sentence)
    if len(asked) != 2 or len(told) != 2:
        return []
    q_before, q_after, s_before, s_after = (_content(part) for part in (*asked, *told))
    only_before, only_after = q_before - q_after, q_after - q_before
    # What stands before "than" in both may be the verb ("generalize better"); only the other side tells.
    straight = len(only_after & (s_after - s_before))
    one, other = len(only_before & (s_after - s_before)), len(only_after & (s_before - s_after))
    return [("than", "the other way round")] if one + other > straight and one and other else []


def _reversed_numbers(asked: list[str], sentence: str) -> list[tuple[str, str]]:
    told = numbers_of(sentence)
    both = [number for number in dict.fromkeys(asked) if number in told]
    return [
        (f"{one} to {other}", f"{other} to {one}")
        for one, other in combinations(both, 2)
        if told.index(one) > told.index(other)
    ]


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word.casefold() not in FUNCTION_WORDS}
