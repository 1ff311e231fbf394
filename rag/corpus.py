"""A view made ready for questions: cleaned sentences, the term index, labels, and who owns which name.

Built once a generation and kept; everything here follows from the view alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag.concepts import Phrase, phrase_of
from rag.labels import label, own_name
from rag.search_text import search_text
from rag.terms import TermIndex, build_index, is_name, words

if TYPE_CHECKING:
    from rag.index import View

# Sentences in which authors speak of their own work, as against the work of others or the state of the field.
_OWN_WORK = re.compile(
    r"\b(?:we|our|ours|this (?:paper|work|study|article)|here we|in this (?:paper|work|study))\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Corpus:
    """A view with what is derived from it.

    `cleaned[i]` is sentence i as searched; `own_work` (s,) tells the sentences that speak of the paper's own work;
    `spans[p]` is the half-open range of sentence numbers of paper p; `owners` maps a casefolded name to the papers
    that introduce it, `long_names` the content stems of a longer name to its papers.
    """

    view: View
    index: TermIndex
    labels: tuple[str, ...]
    cleaned: tuple[str, ...]
    own_work: NDArray[np.bool_]
    spans: tuple[tuple[int, int], ...]
    owners: dict[str, frozenset[int]]
    long_names: dict[Phrase, frozenset[int]]


def build_corpus(view: View) -> Corpus:
    """The corpus of a view."""
    cleaned = tuple(search_text(chunk.text).text for chunk in view.sentences)
    index = build_index(cleaned, view.sentence_paper, [paper.title for paper in view.papers])
    names = [_names_of(position, view) for position in range(len(view.papers))]
    owners: dict[str, set[int]] = defaultdict(set)
    long_names: dict[Phrase, set[int]] = defaultdict(set)
    for number, name in enumerate(names):
        for word in words(name):
            if is_name(word):
                owners[word.casefold()].add(number)
        outside = re.sub(r"\([^)]*\)", "", name)
        if len(phrase_of(outside)) > 1:
            long_names[phrase_of(outside)].add(number)
        elif outside.strip():
            owners[outside.strip().casefold()].add(number)
    bounds = np.searchsorted(view.sentence_paper, np.arange(len(view.papers) + 1))
    return Corpus(
        view=view,
        index=index,
        labels=tuple(label(paper) for paper in view.papers),
        cleaned=cleaned,
        own_work=np.array([bool(_OWN_WORK.search(text)) for text in cleaned], dtype=bool),
        spans=tuple((int(start), int(end)) for start, end in pairwise(bounds)),
        owners={name: frozenset(papers) for name, papers in owners.items()},
        long_names={name: frozenset(papers) for name, papers in long_names.items()},
    )


def _names_of(number: int, view: View) -> str:
    return own_name(search_text(view.papers[number].abstract).text) or ""
