"""The main path: a question (and the conversation before it) -> Answer, the stages called in order.

view -> understand -> embed -> signals -> rank -> draft (question | comparison | listing) -> verify -> Answer
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag.calibration import Calibration, default_calibration
from rag.comparison import find_sides
from rag.corpus import Corpus, build_corpus
from rag.draft import Draft
from rag.errors import BadQuestion, InputError
from rag.filters import Clause
from rag.history import Standalone, stand_alone
from rag.listing import Criterion, answer_listing
from rag.named import Named, find_named
from rag.question import Question, parse_question
from rag.records import Answer, Hit, Turn
from rag.retrieve import Ranking, allowed_papers, rank_papers, relevance_of
from rag.signals import Signals, compute_signals
from rag.synthesize import answer_comparison, answer_question
from rag.verify import hits, markdown, verified

if TYPE_CHECKING:
    from rag.embed import Embedder
    from rag.index import Library

MAX_QUESTION_CHARS = 8_000
CANDIDATES = 400
EMPTY = "The library is empty: add abstracts with `citewise ingest PATH`."


@dataclass(frozen=True, slots=True)
class Read:
    """A question as read against a corpus: `signals` of it alone, `talk` of it with the talk it leans on."""

    alone: Standalone
    question: Question
    corpus: Corpus
    signals: Signals
    talk: Signals
    named: Named
    ranking: Ranking
    allowed: NDArray[np.bool_]


class Engine:
    """Answers questions from one library; holds the library, the embedder and what is derived from the library."""

    def __init__(self, library: Library, embedder: Embedder, calibration: Calibration | None = None) -> None:
        library.check_embedder(embedder.info)
        self._library = library
        self._embedder = embedder
        self._calibration = calibration or default_calibration()
        self._corpus: Corpus | None = None

    def recalibrated(self, calibration: Calibration) -> Engine:
        """An engine with other calibrated numbers over the same library, sharing what was derived from it."""
        other = Engine(self._library, self._embedder, calibration)
        other._corpus = self._corpus
        return other

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.close()

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        clauses: Sequence[Clause] = (),
        top: int = 10,
        strict: bool = False,  # noqa: ARG002
        id_: str | None = None,
    ) -> Answer:
        """The answer to a question, by quotations. Raises BadQuestion, InputError (a filter that no paper passes).

        `strict` drops unsupported sentences; quotations have none.
        """
        watch = _Watch()
        text = checked(question)
        corpus = self._current(text)
        if not corpus.view.papers:
            empty = Draft("question", (), (), (), refusal=EMPTY, reason="empty_library")
            return self._finish(question, Standalone(text), empty, corpus, watch, id_)
        read = self._read(text, history, clauses, corpus, watch)
        draft = self._draft(read, top)
        watch.lap("answer")
        return self._finish(question, read.alone, draft, corpus, watch, id_)

    def search(
        self, query: str, clauses: Sequence[Clause] = (), top: int = 10, history: Sequence[Turn] = ()
    ) -> tuple[list[Hit], int, dict[str, float]]:
        """The papers ranked for a query with their nearest sentence, how many passed the filter, and the timings."""
        watch = _Watch()
        text = checked(query)
        corpus = self._current(text)
        if not corpus.view.papers:
            return [], 0, watch.timings_s
        read = self._read(text, history, clauses, corpus, watch)
        shown = [int(paper) for paper in read.ranking.order[:top]]
        nearest = [_nearest(read.signals, corpus, paper) for paper in shown]
        scores = [float(read.ranking.relevance[paper]) for paper in shown]
        return list(hits(corpus, shown, scores, nearest)), len(read.ranking.order), watch.timings_s

    def read(self, question: str, history: Sequence[Turn] = (), clauses: Sequence[Clause] = ()) -> Read:
        """A question as understood and ranked, before anything is answered."""
        text = checked(question)
        return self._read(text, history, clauses, self._current(text), _Watch())

    def criterion(self, text: str, corpus: Corpus) -> Criterion:
        """The signals of one criterion of a listing."""
        return self._criterion(text, self._embedder.embed([text])[0], corpus)

    def _current(self, text: str) -> Corpus:
        if self._library.is_exact():
            view = self._library.view()
        else:  # too large to hold: Chroma and the words find the papers worth a closer look
            view = self._library.candidates(self._embedder.embed([text])[0], text, CANDIDATES)
        if self._corpus is not None and self._corpus.view is view:
            return self._corpus
        corpus = build_corpus(view)
        self._corpus = corpus if view.complete else None
        return corpus

    def _read(
        self, text: str, history: Sequence[Turn], clauses: Sequence[Clause], corpus: Corpus, watch: _Watch
    ) -> Read:
        allowed = allowed_papers(corpus, clauses)
        if not allowed.any():
            raise InputError("no paper of the library passes the filter: see `citewise status` and `citewise export`")
        alone = stand_alone(text, history, corpus)
        question = parse_question(text)
        watch.lap("understand")
        whole = f"{alone.context} {text}" if alone.context else text
        vectors = self._embedder.embed([text, *([whole] if alone.context else [])])
        watch.lap("embed")
        signals = compute_signals(corpus.view, corpus.index, text, vectors[0])
        named = find_named(text, corpus)
        talk = compute_signals(corpus.view, corpus.index, whole, vectors[1]) if alone.context else signals
        context = relevance_of(talk) if alone.context else None
        ranking = rank_papers(relevance_of(signals), named, allowed, context, alone.focus)
        if alone.focus:
            strength = named.strength.copy()
            strength[list(alone.focus)] = 1.0
            named = replace(named, strength=strength)
        watch.lap("rank")
        return Read(alone, question, corpus, signals, talk, named, ranking, allowed)

    def _draft(self, read: Read, top: int) -> Draft:
        question, corpus = read.question, read.corpus
        if question.form == "listing":
            parts = [*question.alternatives, *([question.excluded] if question.excluded else [])]
            criteria = [
                self._criterion(part, vector, corpus)
                for part, vector in zip(parts, self._embedder.embed(parts), strict=True)
            ]
            excluded = criteria.pop() if question.excluded else None
            return answer_listing(question, criteria, excluded, read.allowed, corpus, self._calibration, top)
        if question.sides or len(read.named.papers) > 1:
            vectors = self._embedder.embed(question.sides)
            sides = find_sides(question, vectors, read.named, read.ranking, read.allowed, corpus)
            if sides.unknown or len(sides.papers) > 1:
                return answer_comparison(question, sides, read.signals, read.ranking, corpus, self._calibration, top)
        return answer_question(
            question, read.signals, read.talk, read.named, read.ranking, corpus, self._calibration, top
        )

    def _criterion(self, text: str, vector: NDArray[np.float32], corpus: Corpus) -> Criterion:
        widened = compute_signals(corpus.view, corpus.index, text, vector)
        return Criterion(widened, compute_signals(corpus.view, corpus.index, text, vector, widen=False))

    def _finish(
        self, question: str, alone: Standalone, draft: Draft, corpus: Corpus, watch: _Watch, id_: str | None
    ) -> Answer:
        sentences = verified(draft.sentences, corpus)
        marked = [
            f"{markdown(sentence.text)} " + "".join(f"[{citation.n}]" for citation in sentence.citations)
            for sentence in sentences
        ]
        items = [f"{n}. {line}" for n, line in enumerate(marked, start=1)] if draft.kind == "listing" else marked
        body = "\n\n".join(items) if draft.kind == "question" else "\n".join(items)
        watch.lap("verify")
        return Answer(
            question=question,
            standalone_question=alone.text,
            answer=markdown(draft.refusal) if draft.refusal else f"{markdown(draft.lead)}\n\n{body}".strip(),
            kind=draft.kind,
            mode="quotes",
            sentences=sentences,
            papers=hits(corpus, draft.papers, draft.scores, draft.quotes),
            refused=draft.refusal is not None,
            reason=draft.reason,
            total_matches=draft.total_matches,
            generation=corpus.view.generation,
            embedder=f"{self._embedder.info.name}@{self._embedder.info.revision}",
            timings_s=watch.finished(),
            warnings=draft.warnings,
            id=id_,
        )


def checked(question: str) -> str:
    """The question with its blanks tidied. Raises BadQuestion when there is nothing to ask, or far too much."""
    text = " ".join(question.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8").split())
    if not any(char.isalnum() for char in text):
        raise BadQuestion(
            'the question is empty: ask something, such as citewise ask "which papers study MoE routing?"'
        )
    if len(text) > MAX_QUESTION_CHARS:
        raise BadQuestion(f"the question has {len(text):,} characters, the limit is {MAX_QUESTION_CHARS:,}: shorten it")
    return text


def _nearest(signals: Signals, corpus: Corpus, paper: int) -> list[int]:
    start, end = corpus.spans[paper]
    return [start + int(np.argmax(signals.cos_sentence[start:end]))] if end > start else []


class _Watch:
    """Seconds by stage, in the order of the stages, and their total."""

    def __init__(self) -> None:
        self.timings_s: dict[str, float] = {}
        self._start = self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.timings_s[stage] = now - self._last
        self._last = now

    def finished(self) -> dict[str, float]:
        return {**self.timings_s, "total": time.perf_counter() - self._start}
