"""The concepts that a question names, and every way in which an abstract may say them.

Three sources widen a word: the abbreviations that the corpus itself spells out, the thesaurus of the field
(`rag/thesaurus.toml`), and, for a word that the corpus does not have, its likely spelling. What the concepts weigh
is inverse document frequency in the corpus at hand.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.terms import AS_WRITTEN, TermIndex, content_words, is_name, stem, stems, words
from rag.word_lists import ASKING_WORDS, FUNCTION_WORDS, LIGHT_WORDS

Phrase = tuple[str, ...]
LONGEST_PHRASE = 6
LIGHT_WEIGHT = 0.35
SPELLING_CUTOFF = 0.88


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that a question names.

    `text` is how the question says it. Its own `words` occur in a sentence when all do, anywhere; a term of the field
    that has several words, and each of the `phrases` that say the same or imply it, only as neighbours.
    `weight` > 0 grows with rarity in the corpus. `named`
    tells that it is written like a name; `known` that the corpus has it; `term` that it is a term of the field;
    `light` that it is an everyday word.
    """

    text: str
    words: Phrase
    phrases: tuple[Phrase, ...]
    weight: float
    named: bool
    known: bool
    term: bool
    light: bool


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """`widened[phrase]` are the phrases that imply it or mean the same; `terms` are all that it has.

    `spelling` maps a word to its usual form, `clippings` an informal short form to the full one.
    """

    widened: dict[Phrase, tuple[Phrase, ...]]
    terms: frozenset[Phrase]
    spelling: dict[str, str]
    clippings: dict[str, str]


def phrase_of(text: str) -> Phrase:
    """The content stems of a term, in order."""
    return tuple(term for term in stems(text) if term not in FUNCTION_WORDS)


@lru_cache(maxsize=1)
def load_thesaurus() -> Thesaurus:
    """The packaged thesaurus, read once."""
    raw = tomllib.loads((files("rag") / "thesaurus.toml").read_text(encoding="utf-8"))
    spelling = {key.casefold(): value for key, value in raw.get("spelling", {}).items()}
    names: dict[Phrase, int] = {}
    for number, concept in enumerate(raw["concept"]):
        for name in concept["names"]:
            names.setdefault(phrase_of(name), number)
    exact = frozenset(term.casefold() for term in raw.get("exact", ()))
    own = [
        [_term(term, exact) for key in ("names", "narrower") for term in concept.get(key, ())]
        for concept in raw["concept"]
    ]
    closed = [_closure(number, own, names) for number in range(len(own))]
    widened = {phrase: closed[number] for phrase, number in names.items() if phrase}
    clippings = {key.casefold(): value for key, value in raw.get("prefixes", {}).items()}
    return Thesaurus(widened, frozenset(phrase for phrases in own for phrase in phrases), spelling, clippings)


def _term(text: str, exact: frozenset[str]) -> Phrase:
    """The phrase of a term; one whose stem means other things too is compared as written (`=identifiability`)."""
    # "we prove" and "our code" would shrink to one stem that means much more.
    shrinks = len(phrase_of(text)) == 1 and len(words(text)) > 1
    if text.casefold() in exact or shrinks:
        return tuple(f"{AS_WRITTEN}{word.casefold()}" for word in words(text))
    return phrase_of(text)


def _closure(start: int, own: Sequence[Sequence[Phrase]], names: dict[Phrase, int]) -> tuple[Phrase, ...]:
    found: dict[Phrase, None] = {}
    queue, seen = [start], {start}
    while queue:
        for phrase in own[queue.pop(0)]:
            if phrase:
                found.setdefault(phrase)
            below = names.get(
                tuple(stem(term.removeprefix(AS_WRITTEN)) for term in phrase) if _literal(phrase) else phrase
            )
            if below is not None and below not in seen:
                seen.add(below)
                queue.append(below)
    return tuple(found)


def find_concepts(text: str, index: TermIndex, widen: bool = True) -> tuple[Concept, ...]:
    """The concepts of a text, in order and each once. `widen` false leaves the thesaurus out."""
    thesaurus = load_thesaurus()
    kept = _spelled(_unclipped(text, thesaurus), index, thesaurus)
    only_asking = all(word.casefold() in ASKING_WORDS for word in kept)
    found: dict[tuple[Phrase, tuple[Phrase, ...]], Concept] = {}
    position = 0
    while position < len(kept):
        size, words, phrases = _longest(kept, position, index, thesaurus if widen else None)
        # A word about asking counts only inside a term of the field ("new benchmark", "method of moments").
        idle = size == 1 and kept[position].casefold() in ASKING_WORDS and not only_asking
        if words and not idle:
            concept = _concept(kept[position : position + size], words, phrases, index)
            found.setdefault((words, phrases), concept)
        position += size
    return tuple(found.values())


def _unclipped(text: str, thesaurus: Thesaurus) -> str:
    tidy = " ".join(text.split())
    for clipped, full in thesaurus.clippings.items():
        if clipped in tidy.casefold():
            tidy = re.sub(rf"(?<!\S){re.escape(clipped)}(?=[\s?!.,;:)]|$)", full, tidy, flags=re.IGNORECASE)
    return tidy


def _spelled(text: str, index: TermIndex, thesaurus: Thesaurus) -> list[str]:
    kept = content_words(text, drop_asking=False)
    return [_spelled_word(thesaurus.spelling.get(word.casefold(), word), index) for word in kept]


def respell(text: str, index: TermIndex) -> list[str]:
    """All words of a text, those that the corpus does not have in the spelling that it has."""
    spelling = load_thesaurus().spelling
    return [_spelled_word(spelling.get(word.casefold(), word), index) for word in words(text)]


def _spelled_word(word: str, index: TermIndex) -> str:
    own = stems(word)
    # A word with a capital may be a name that the corpus does not have, and must not be taken for another.
    if len(own) != 1 or own[0] in index.df or len(word) < 5 or word != word.casefold() or any(map(str.isdigit, word)):
        return word
    if word in index.vocabulary:
        return word
    near = get_close_matches(word, index.vocabulary, n=1, cutoff=SPELLING_CUTOFF)
    return near[0] if near and near[0][0] == word[0] else word


def _longest(
    kept: Sequence[str], position: int, index: TermIndex, thesaurus: Thesaurus | None
) -> tuple[int, Phrase, tuple[Phrase, ...]]:
    for size in range(min(LONGEST_PHRASE, len(kept) - position), 0, -1):
        words = tuple(term for word in kept[position : position + size] for term in stems(word))
        phrases = list(_widened(words, thesaurus)) if thesaurus else []
        short = index.short_forms.get(words)
        if short:
            phrases.append(phrase_of(short))
        if size == 1 and kept[position].casefold() in index.long_forms and _may_abbreviate(kept[position]):
            phrases += [phrase_of(form) for form in index.long_forms[kept[position].casefold()]]
        if phrases:
            return size, words, tuple(dict.fromkeys(phrase for phrase in phrases if phrase and phrase != words))
        if size > 1 and thesaurus and words in thesaurus.terms and _mask((), (words,), index).any():
            return size, words, (words,)
    own = tuple(stems(kept[position]))
    if len(own) > 2 and own[0] == "".join(own[1:]):  # CamelCase: the joined form, or its parts side by side
        return 1, (own[0],), (own[1:],)
    return 1, own, ()


def _widened(words: Phrase, thesaurus: Thesaurus) -> tuple[Phrase, ...]:
    """The phrases of a term; two words are also looked up the other way round ("inference faster")."""
    found = thesaurus.widened.get(words, ())
    return found or (thesaurus.widened.get(words[::-1], ()) if len(words) == 2 else ())


def _may_abbreviate(word: str) -> bool:
    return is_name(word) or len(word) <= 5


def _concept(written: Sequence[str], words: Phrase, phrases: tuple[Phrase, ...], index: TermIndex) -> Concept:
    df = int(np.unique(index.sentence_paper[np.flatnonzero(_mask(words, phrases, index))]).size)
    light = len(written) == 1 and words[0] in _light_stems() and not phrases
    rarity = math.log(1.0 + (index.n_papers - df + 0.5) / (df + 0.5)) * (LIGHT_WEIGHT if light else 1.0)
    named = any(is_name(word) for word in written)
    return Concept(
        text=" ".join(written),
        words=words,
        phrases=phrases,
        weight=rarity * (1.0 + 0.5 * (len(written) - 1)),
        named=named,
        known=df > 0,
        term=bool(phrases) or named or words in load_thesaurus().terms,
        light=light,
    )


@lru_cache(maxsize=1)
def _light_stems() -> frozenset[str]:
    return frozenset(term for word in LIGHT_WORDS for term in stems(word))


def sentences_of(concept: Concept, index: TermIndex) -> NDArray[np.bool_]:
    """(s,): which sentences say the concept."""
    return _mask(concept.words, concept.phrases, index)


def _literal(phrase: Phrase) -> bool:
    return phrase[:1] != () and phrase[0].startswith(AS_WRITTEN)


def _mask(words: Phrase, phrases: Iterable[Phrase], index: TermIndex) -> NDArray[np.bool_]:
    mask = np.zeros(index.n_sentences, dtype=bool)
    if words and (len(words) == 1 or not phrases):
        mask[_intersection([index.sentences_with(term) for term in words])] = True
        own: tuple[Phrase, ...] = ()
    else:
        own = (words,) if words else ()
    for phrase in (*own, *phrases):
        if len(phrase) == 1 or _literal(phrase):
            mask[_intersection([index.sentences_with(term) for term in phrase])] = True
        else:
            mask[_intersection([index.sentences_with_pair(pair) for pair in pairwise(phrase)])] = True
    return mask


def _intersection(postings: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    first, *rest = sorted(postings, key=len)
    for more in rest:
        if not len(first):
            break
        first = np.intersect1d(first, more, assume_unique=True)
    return first
