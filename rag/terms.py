"""Words for matching: stems, names and abbreviations, and a small inverted index over the sentences of a view.

Offsets here are into cleaned search text and never leave this package.
The index serves coverage and phrase signals; the BM25 ranking of whole papers is `rag/lexical.py`.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rag.abbreviations import expansion_start
from rag.word_lists import ASKING_WORDS, FUNCTION_WORDS

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\W_]")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s$")
# Marks a word that is compared as written instead of by its stem.
AS_WRITTEN = "="
_PARTS = re.compile(r"[-'’.]")
_PLURAL_ACRONYM = re.compile(r"[A-Z][A-Z0-9]+s")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ABBREVIATION = re.compile(r"\s\(\s*([A-Z][\w-]{1,9})\s*\)")


def words(text: str) -> list[str]:
    """The words of a text in order, as written; compounds such as `Ada-K` stay whole, a possessive `'s` goes."""
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(text)]


@lru_cache(maxsize=1)
def _stemmer() -> object:
    import Stemmer

    return Stemmer.Stemmer("english", 50_000)


def stem(word: str) -> str:
    """The English (Snowball) stem of a word, in lower case; a plural acronym such as `LLMs` gives its singular."""
    singular = word[:-1] if _PLURAL_ACRONYM.fullmatch(word) else word
    return str(_stemmer().stemWord(singular.casefold()))  # type: ignore[attr-defined]


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[str, ...]:
    parts = plain_parts(word)
    if len(parts) > 1:
        return tuple(stem(part) for part in parts)
    split = _CAMEL.split(word)
    joined = stem(word)
    return (joined,) if len(split) == 1 else (joined, *(stem(part) for part in split if len(part) > 1))


def stems(text: str) -> list[str]:
    """The stems of a text in order: compounds give their parts, so that `class-conditional` meets `conditional`."""
    return [piece for word in words(text) for piece in _pieces(word)]


def plain_parts(word: str) -> list[str]:
    """The parts of a compound as written, without hyphens, apostrophes and stops."""
    return [part for part in _PARTS.split(word) if part]


def is_name(word: str) -> bool:
    """Whether a word is written like a name: two capitals, a capital with a digit, or an inner capital."""
    letters = [char for char in word if char.isalpha()]
    capitals = sum(char.isupper() for char in letters)
    has_digit = any(char.isdigit() for char in word)
    return (
        len(word) > 1
        and bool(letters)
        and (capitals >= 2 or (has_digit and capitals >= 1) or word[1:] != word[1:].lower())
    )


def content_words(text: str, drop_asking: bool = True) -> list[str]:
    """The words that carry meaning, in order; function words and, if asked for, words about asking are left out."""
    dropped = FUNCTION_WORDS | ASKING_WORDS if drop_asking else FUNCTION_WORDS
    return [word for word in words(text) if word.casefold() not in dropped]


def abbreviations(text: str) -> list[tuple[str, str]]:
    """The pairs (short form, long form) that a text spells out as `Long Form (LF)`."""
    found = []
    for match in _ABBREVIATION.finditer(text):
        end = match.start()
        start = expansion_start(text, max(0, end - 120), end, match[1])
        if start is not None and text[start:end].strip():
            found.append(
                (
                    match[1].removesuffix("s") if _PLURAL_ACRONYM.fullmatch(match[1]) else match[1],
                    text[start:end].strip(),
                )
            )
    return found


@dataclass(frozen=True)
class TermIndex:
    """An inverted index over sentences.

    `postings` and `bigrams` map a stem, or two neighbouring content stems, to sorted sentence numbers;
    `df` counts papers; `names` maps a casefolded name to the papers whose text has it; `vocabulary` holds the
    lower-case words as written, five letters or longer, sorted.
    """

    n_papers: int
    n_sentences: int
    sentence_paper: NDArray[np.int32]
    postings: dict[str, NDArray[np.int32]]
    bigrams: dict[tuple[str, str], NDArray[np.int32]]
    df: dict[str, int]
    names: dict[str, frozenset[int]]
    long_forms: dict[str, tuple[str, ...]]
    short_forms: dict[tuple[str, ...], str]
    vocabulary: tuple[str, ...]

    def idf(self, term: str) -> float:
        """ln(1 + (N - df + .5) / (df + .5)), as in BM25 (Robertson & Zaragoza 2009), never negative."""
        df = self.df.get(term, 0)
        return math.log(1.0 + (self.n_papers - df + 0.5) / (df + 0.5))

    def sentences_with(self, term: str) -> NDArray[np.int32]:
        """The sorted numbers of the sentences that have the stem."""
        return self.postings.get(term, _NONE)

    def sentences_with_pair(self, pair: tuple[str, str]) -> NDArray[np.int32]:
        """The sorted numbers of the sentences in which the two content stems are neighbours."""
        return self.bigrams.get(pair, _NONE)

    def papers_with(self, term: str) -> NDArray[np.int32]:
        """The sorted numbers of the papers that have the stem."""
        return np.unique(self.sentence_paper[self.sentences_with(term)])


_NONE: NDArray[np.int32] = np.empty(0, dtype=np.int32)


def build_index(sentences: Sequence[str], sentence_paper: NDArray[np.int32], titles: Sequence[str | None]) -> TermIndex:
    """The index of cleaned sentences; `sentence_paper[i]` is the paper of sentence i, `titles[p]` belongs to paper p.

    Words of a title count for the paper's names and document frequency, not for any sentence.
    """
    postings: dict[str, list[int]] = defaultdict(list)
    bigrams: dict[tuple[str, str], list[int]] = defaultdict(list)
    of_paper: list[set[str]] = [set() for _ in titles]
    names: dict[str, set[int]] = defaultdict(set)
    forms: Counter[tuple[str, str]] = Counter()
    vocabulary: set[str] = set()
    for number, text in enumerate(sentences):
        paper = int(sentence_paper[number])
        sequence = stems(text)
        written = (f"{AS_WRITTEN}{word.casefold()}" for word in words(text) if word.isalpha())
        for term in dict.fromkeys((*sequence, *written)):
            postings[term].append(number)
        for pair in dict.fromkeys(content_bigrams(sequence)):
            bigrams[pair].append(number)
        of_paper[paper].update(sequence)
        _note_names(text, paper, names)
        forms.update(abbreviations(text))
        vocabulary.update(word for word in words(text) if len(word) >= 5 and word.islower())
    _note_titles(titles, of_paper, names)
    long_forms = _long_forms(forms)
    return TermIndex(
        n_papers=len(titles),
        n_sentences=len(sentences),
        sentence_paper=sentence_paper,
        postings={term: np.array(found, dtype=np.int32) for term, found in postings.items()},
        bigrams={pair: np.array(found, dtype=np.int32) for pair, found in bigrams.items()},
        df=Counter(term for terms in of_paper for term in terms),
        names={name: frozenset(papers) for name, papers in names.items()},
        long_forms={short: tuple(found) for short, found in long_forms.items()},
        short_forms={tuple(stems(form)): short for short, found in sorted(long_forms.items()) for form in found},
        vocabulary=tuple(sorted(vocabulary)),
    )


_FUNCTION_STEMS = frozenset(FUNCTION_WORDS)


def content_bigrams(sequence: Iterable[str]) -> list[tuple[str, str]]:
    """Neighbouring stems with function words passed over, so that `routing of experts` has (rout, expert)."""
    kept = [term for term in sequence if term not in _FUNCTION_STEMS]
    return list(pairwise(kept))


def _note_titles(titles: Sequence[str | None], of_paper: list[set[str]], names: dict[str, set[int]]) -> None:
    for paper, title in enumerate(titles):
        if title:
            of_paper[paper].update(stems(title))
            _note_names(title, paper, names)


def _long_forms(forms: Counter[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for (short, long_form), _ in sorted(forms.items(), key=lambda item: (-item[1], item[0])):
        found[short.casefold()].append(long_form)
    return found


def _note_names(text: str, paper: int, names: dict[str, set[int]]) -> None:
    for word in words(text):
        if is_name(word):
            names[word.casefold()].add(paper)
