"""Evaluation cases in BEIR layout: `queries.jsonl` with metadata, `qrels/*.tsv`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.errors import InputError, MissingPath
from rag.records import Turn

SUITES = Path(__file__).parent / "suites"


@dataclass(frozen=True, slots=True)
class GoldQuote:
    """Words of a paper that answer a case."""

    paper_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Case:
    """A question with what is known of its answer.

    `relevant` are the papers that answer (or qualify, or are compared); `borderline` may be listed or not; `about` are
    the papers that an unanswerable question is about.
    """

    id: str
    text: str
    kind: str
    style: str
    quotes: tuple[GoldQuote, ...]
    answer: str
    history: tuple[Turn, ...]
    relevant: frozenset[str]
    borderline: frozenset[str]
    about: frozenset[str]

    @property
    def answerable(self) -> bool:
        """Whether the corpus answers it."""
        return self.kind != "unanswerable"


def load_suite(folder: Path) -> list[Case]:
    """The cases of a suite in the order of its queries. Raises MissingPath or InputError naming file and line."""
    queries = folder / "queries.jsonl"
    if not queries.exists():
        raise MissingPath(f"no suite at {folder}: {queries.name} is missing")
    relevant = _qrels(sorted((folder / "qrels").glob("*.tsv")))
    cases = []
    for number, line in enumerate(queries.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            cases.append(_case(json.loads(line), relevant))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{queries}, line {number}: {error!r}") from None
    return cases


def _case(row: dict[str, object], relevant: dict[str, frozenset[str]]) -> Case:
    id_, metadata = str(row["_id"]), row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise TypeError("metadata is not an object")
    return Case(
        id=id_,
        text=str(row["text"]),
        kind=metadata.get("kind", "question"),
        style=metadata.get("style", ""),
        quotes=tuple(GoldQuote(quote["paper_id"], quote["quote"]) for quote in metadata.get("quotes", ())),
        answer=metadata.get("answer", ""),
        history=tuple(Turn(turn["role"], turn["content"]) for turn in metadata.get("history") or ()),
        relevant=relevant.get(id_, frozenset()),
        borderline=frozenset(metadata.get("borderline", ())),
        about=frozenset(metadata.get("about", ())),
    )


def _qrels(files: Sequence[Path]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            query, paper, score = line.split("\t")
            if int(score) > 0:
                found[query].add(paper)
    return {query: frozenset(papers) for query, papers in found.items()}
