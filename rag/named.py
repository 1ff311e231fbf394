"""Names in a question: which papers own them, and which names the corpus does not know at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.concepts import phrase_of
from rag.corpus import Corpus
from rag.terms import is_name, words
from rag.word_lists import FUNCTION_WORDS

RARE_PAPERS = 2
RARE_STRENGTH = 0.6
# `Newton-like`, `NP-hard`: they describe, and name nothing that a corpus would have to know.
ADJECTIVAL = ("-like", "-style", "-based", "-type", "-hard", "-complete", "-free")


@dataclass(frozen=True, slots=True)
class Named:
    """What the names of a text point at.

    `strength` (n,): 1 for papers that introduce a name of the text, .6 for papers that have a name which at most two
    papers have, else 0. `unknown` are names that no paper has; `papers` those that alone introduce a name of the
    text, in its order.
    """

    strength: NDArray[np.float32]
    unknown: tuple[str, ...]
    papers: tuple[int, ...] = ()


def find_named(text: str, corpus: Corpus) -> Named:
    """The names of a text, looked up in a corpus. Lower-case words count only where a paper owns just that name."""
    strength = np.zeros(len(corpus.view.papers), dtype=np.float32)
    unknown = []
    alone: dict[int, None] = {}
    for word in dict.fromkeys(words(text)):
        key = word.casefold()
        owners = corpus.owners.get(key, frozenset())
        holders = corpus.index.names.get(key, frozenset())
        if owners and (is_name(word) or key not in corpus.index.vocabulary):
            strength[list(owners)] = 1.0
            alone.update(dict.fromkeys(owners if len(owners) == 1 else ()))
        elif is_name(word) and 0 < len(holders) <= RARE_PAPERS:
            strength[list(holders)] = np.maximum(strength[list(holders)], RARE_STRENGTH)
        elif is_name(word) and key not in FUNCTION_WORDS and not word.endswith(ADJECTIVAL) and not _has(word, corpus):
            unknown.append(word)
    content = phrase_of(text)
    for name, papers in corpus.long_names.items():
        if _contains(content, name):
            strength[list(papers)] = 1.0
            alone.update(dict.fromkeys(papers if len(papers) == 1 else ()))
    return Named(strength, tuple(unknown), tuple(alone))


def _has(word: str, corpus: Corpus) -> bool:
    """Whether the corpus has a name in another form: another case, a plural, or as parts side by side."""
    parts = phrase_of(word)
    singular = word.casefold().removesuffix("s")
    return singular in corpus.index.names or (bool(parts) and all(part in corpus.index.df for part in parts))


def _contains(sequence: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return any(sequence[at : at + size] == part for at in range(len(sequence) - size + 1))
