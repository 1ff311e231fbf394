"""Question and view -> the numbers that rank papers and sentences; no fitted weight is known here.

Everything is an array over the papers (n,) or the sentences (s,) of one view, in the view's order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag.concepts import Concept, find_concepts, sentences_of
from rag.shortlist import word_weights
from rag.terms import TermIndex, content_bigrams, content_words, plain_parts, stem, stems

if TYPE_CHECKING:
    from rag.index import View

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Signals:
    """What one text asked of one view.

    `cos_paper`, `best_sentence` (n,), `cos_sentence` (s,): cosine similarity, -1..1.
    `bm25` (n,): BM25 of the weighted content words, 0..`bm25_bound`.
    `hits` (c, s): whether concept c occurs in sentence s.
    `coverage_sentence` (s,), `coverage_paper` (n,): idf-weighted share of the concepts that occur, 0..1.
    `full` (s,): whether all concepts but everyday words occur.
    `bigram_sentence` (s,): share of the question's neighbouring content stems that are neighbours there too, 0..1.
    """

    concepts: tuple[Concept, ...]
    cos_paper: Floats
    cos_sentence: Floats
    best_sentence: Floats
    bm25: Floats
    bm25_bound: float
    hits: NDArray[np.bool_]
    coverage_sentence: Floats
    coverage_paper: Floats
    bigram_sentence: Floats
    full: NDArray[np.bool_]

    def hits_of_papers(self, sentence_paper: NDArray[np.int32], n_papers: int) -> NDArray[np.bool_]:
        """(c, n): whether concept c occurs anywhere in paper p."""
        found = np.zeros((len(self.concepts), n_papers), dtype=bool)
        for number, row in enumerate(self.hits):
            found[number, sentence_paper[row]] = True
        return found


def best_of_paper(values: Floats, sentence_paper: NDArray[np.int32], n_papers: int) -> Floats:
    """(n,): the largest value among the sentences of each paper; 0 for a paper without sentences."""
    best = np.full(n_papers, -np.inf, dtype=np.float32)
    np.maximum.at(best, sentence_paper, values)
    return np.where(np.isfinite(best), best, 0.0).astype(np.float32)


def compute_signals(view: View, index: TermIndex, text: str, vector: Floats, widen: bool = True) -> Signals:
    """The signals of a text with its unit vector (dim,) over a view and the term index of that view."""
    n_papers, n_sentences = len(view.papers), len(view.sentences)
    cos_sentence = view.sentence_vectors @ vector
    concepts = find_concepts(text, index, widen)
    hits = np.array([sentences_of(concept, index) for concept in concepts], dtype=bool).reshape(-1, n_sentences)
    weights = np.array([concept.weight for concept in concepts], dtype=np.float32)
    total = float(weights.sum()) or 1.0
    in_paper = np.zeros((len(concepts), n_papers), dtype=bool)
    for number, row in enumerate(hits):
        in_paper[number, view.sentence_paper[row]] = True
    pairs = [pair for pair in content_bigrams(stems(text)) if pair in index.bigrams]
    bigrams = np.zeros(n_sentences, dtype=np.float32)
    for pair in pairs:
        bigrams[index.bigrams[pair]] += 1.0
    bm25, bound = _bm25(view, index, text)
    return Signals(
        concepts=concepts,
        cos_paper=view.paper_vectors @ vector,
        cos_sentence=cos_sentence,
        best_sentence=best_of_paper(cos_sentence, view.sentence_paper, n_papers),
        bm25=bm25,
        bm25_bound=bound,
        hits=hits,
        coverage_sentence=(weights @ hits / total).astype(np.float32),
        coverage_paper=(weights @ in_paper / total).astype(np.float32),
        full=_full(concepts, hits),
        bigram_sentence=(bigrams / max(1, len(content_bigrams(stems(text))))).astype(np.float32),
    )


def _full(concepts: tuple[Concept, ...], hits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    heavy = np.array([not concept.light for concept in concepts], dtype=bool)
    kept = hits[heavy] if heavy.any() else hits
    return np.asarray(kept.all(axis=0)) if len(kept) else np.zeros(hits.shape[1], dtype=bool)


def _bm25(view: View, index: TermIndex, text: str) -> tuple[Floats, float]:
    """BM25 of the content words, weighted by rarity, of every paper (n,), and the most that they could give."""
    asked = content_words(text) or content_words(text, drop_asking=False)
    parts = dict.fromkeys(part for word in asked for part in plain_parts(word))
    weights, bound = word_weights({part: index.df.get(stem(part), 0) for part in parts}, max(1, index.n_papers))
    scores = np.zeros(len(view.papers), dtype=np.float32)
    for paper, score in view.lexical.bm25(weights).items():
        scores[paper] = score
    return scores, bound
