"""The frozen types that the stages hand to each other, one per stage, in the order data flows.

This module knows nothing of files, databases, models or terminals.
All offsets are half-open ranges of code points in `Paper.abstract`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["supported", "unsupported", "unverified"]
Kind = Literal["question", "listing"]
Mode = Literal["quotes", "model"]
Reason = Literal["no_evidence", "low_support", "model_declined", "false_premise", "empty_library"]


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """Where a record was read: the file as the user knows it, and its 1-based position there."""

    file: str
    position: int


@dataclass(frozen=True, slots=True)
class Record:
    """One record as a reader of `rag/formats/` found it, decoded but not yet identified.

    `key` is the record's own identifier or None. `abstract` is stripped and otherwise untouched.
    """

    abstract: str
    source: Source
    key: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: int | None = None
    url: str | None = None
    doi: str | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that could not be read: where, why (one line), and what it looked like (<= 500 characters)."""

    file: str
    position: int
    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of the library. `id` is unique; `sources` is sorted and holds every place it was read from."""

    id: str
    abstract: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: int | None = None
    url: str | None = None
    doi: str | None = None
    keywords: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of an abstract: always `paper.abstract[start_char:end_char] == text`, never empty."""

    paper_id: str
    start_char: int
    end_char: int
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of an abstract, cut from it by their offsets."""

    start_char: int
    end_char: int
    quote: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper that a question retrieved. `score` is in 0..1, higher is better; `quotes` best first."""

    paper: Paper
    label: str
    score: float
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered quote: `n` counts from 1 in an answer; `quote` equals the abstract's words at the offsets."""

    n: int
    paper_id: str
    start_char: int
    end_char: int
    quote: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A citation marker that points at nothing, and why."""

    marker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer. `support` is in 0..1, or None when it was not scored."""

    text: str
    citations: tuple[Citation, ...] = ()
    support: float | None = None
    verdict: Verdict = "unverified"
    unresolved: tuple[Unresolved, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier message of a conversation."""

    role: Literal["user", "assistant", "system"]
    content: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` returns; see README for its JSON form.

    `papers` is ranked, best first. A refusal has `refused`, a `reason` and no sentences.
    `total_matches` is the number of qualifying papers of a listing, None for a question.
    `timings_s` maps stage names to seconds.
    """

    question: str
    standalone_question: str
    answer: str
    kind: Kind
    mode: Mode
    sentences: tuple[Sentence, ...]
    papers: tuple[Hit, ...]
    refused: bool = False
    reason: Reason | None = None
    total_matches: int | None = None
    generation: int = 0
    embedder: str = ""
    model: str | None = None
    usage: dict[str, int] | None = None
    timings_s: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    id: str | None = None
