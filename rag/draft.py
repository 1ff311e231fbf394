"""What a synthesizer hands to `verify`: sentences with what they quote, the papers shown, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.records import Kind, Reason
from rag.verify import Drafted


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before verification.

    `papers` are the papers shown, best first, with `scores` in 0..1 and for each the sentence numbers of its `quotes`.
    `lead` is the line above a listing; `refusal` the text of a refusal, with its `reason`.
    """

    kind: Kind
    papers: Sequence[int]
    scores: Sequence[float]
    quotes: Sequence[Sequence[int]]
    sentences: Sequence[Drafted] = ()
    lead: str = ""
    total_matches: int | None = None
    refusal: str | None = None
    reason: Reason | None = None
    warnings: tuple[str, ...] = ()
