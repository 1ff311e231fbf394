"""`--filter`: which papers of the library a question may use, by year, venue, source or keyword.

Grammar: `FIELD OP VALUE`, several joined by `;` or given as several options; all must hold.
FIELD is year, venue, source or keyword; OP is = or !=, for year also < <= > >=.
Text matches case-insensitively, anywhere in the field; `*` and `?` make VALUE a pattern for the whole field.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rag.errors import InputError
from rag.records import Paper

FIELDS = ("year", "venue", "source", "keyword")
_CLAUSE = re.compile(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition of a filter."""

    field: str
    op: str
    value: str

    def holds(self, paper: Paper) -> bool:
        """Whether the paper meets the condition; a paper without the field meets only `!=`."""
        if self.field == "year":
            return self.op == "!=" if paper.year is None else _ORDER[self.op](paper.year, int(self.value))
        found = any(_matches(self.value, text) for text in _texts(paper, self.field))
        return found if self.op == "=" else not found


def parse_filter(expressions: Iterable[str]) -> tuple[Clause, ...]:
    """The clauses of `--filter` options. Raises InputError with the grammar when one can't be read."""
    parts = [part for text in expressions for part in text.split(";") if part.strip()]
    return tuple(_clause(part) for part in parts)


def passes(paper: Paper, clauses: Iterable[Clause]) -> bool:
    """Whether the paper meets every clause."""
    return all(clause.holds(paper) for clause in clauses)


def _clause(text: str) -> Clause:
    match = _CLAUSE.fullmatch(text)
    usage = "write e.g. --filter 'year>=2024; venue=ICLR' (year, venue, source, keyword; = != and, for year, < <= > >=)"
    if match is None or match[1].lower() not in FIELDS or not match[3]:
        raise InputError(f"filter {text.strip()!r} can't be read: {usage}")
    field, op, value = match[1].lower(), match[2], match[3]
    if field == "year" and not re.fullmatch(r"\d{1,4}", value):
        raise InputError(f"filter {text.strip()!r}: a year is a whole number; {usage}")
    if field != "year" and op not in ("=", "!="):
        raise InputError(f"filter {text.strip()!r}: {field} takes = or !=; {usage}")
    return Clause(field, op, value)


def _texts(paper: Paper, field: str) -> Iterable[str]:
    if field == "venue":
        return (paper.venue,) if paper.venue else ()
    return tuple(source.file for source in paper.sources) if field == "source" else paper.keywords


def _matches(value: str, text: str) -> bool:
    wanted, given = value.casefold(), text.casefold()
    return fnmatchcase(given, wanted.replace("[", "[[]")) if any(sign in wanted for sign in "*?") else wanted in given
