"""What a question asks for: a listing, a comparison or a fact; its topic, its sides, the kind of answer it wants.

Reads the question alone; knows no corpus.
Instructions in a question ("ignore the abstracts ...") have no reader here: they are words like any others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rag.comparison_question import parse_sides
from rag.listing_question import parse_criterion

Form = Literal["question", "listing", "comparison"]
Wanted = Literal["number", "name", "cause", "yes_no", "any"]

_NUMBER = re.compile(
    r"\b(?:how\s+(?:many|much|large|big|long|often|fast|far|few|small|deep)|what\s+(?:percentage|percent|fraction|share|number|"
    r"proportion|speed-?\s?up|factor|accuracy|score|size|amount|improvement|gain|reduction|ratio|rate|margin|rank|order)|by\s+what|"
    r"number\s+of|percentage|how\s+high|up\s+to\s+what)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:why|what\s+(?:causes?|caused|explains?|reasons?|makes)|reasons?\s+for|because\s+of\s+what|due\s+to\s+what)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b(?:(?:which|what)\s+(?:\w+\s+){0,2}?(?:data\s?sets?|benchmarks?|corpus|corpora|models?|baselines?|optimi[sz]ers?|"
    r"algorithms?|metrics?|languages?|libraries|library|framework|architectures?|environments?|simulators?|tasks?|domains?|"
    r"licen[cs]e|university|institution|company|conference|journal|hardware|gpus?|loss|method\s+name)|who|where)\b",
    re.IGNORECASE,
)  # fmt: skip
_YES_NO = re.compile(r"\s*(?:is|are|was|were|does|do|did|can|could|has|have|will|would|should)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as understood.

    `topic` is what is searched for: the whole question, or a listing's criterion without its framing.
    `alternatives` are the criterion's parts joined by "or" (one when there is none); `excluded` what follows "but not".
    `sides` are the things compared (two or more), else empty; `explicit_sides` when the text sets them against each other,
    and does not only describe them in its clauses.
    """

    text: str
    form: Form
    topic: str
    wanted: Wanted
    alternatives: tuple[str, ...] = ()
    excluded: str | None = None
    sides: tuple[str, ...] = ()
    explicit_sides: bool = False


def parse_question(text: str) -> Question:
    """The question's form, topic and the kind of answer it wants; never fails, whatever the text."""
    flat = " ".join(text.split())
    listing = parse_criterion(flat)
    if listing is not None:
        return Question(text, "listing", listing.topic, "any", listing.alternatives, listing.excluded)
    sides, explicit = parse_sides(flat)
    form: Form = "comparison" if sides else "question"
    return Question(text, form, flat, _wanted(flat), (flat,), None, sides, explicit)


def _wanted(text: str) -> Wanted:
    if _NUMBER.search(text):
        return "number"
    if _CAUSE.search(text):
        return "cause"
    if _NAME.search(text):
        return "name"
    return "yes_no" if _YES_NO.match(text) else "any"
