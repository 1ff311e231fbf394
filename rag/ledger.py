"""What a batch of records does to a library: which are new, known, changed, the same paper again, or unreadable.

Reads a `Store`, writes nothing, embeds nothing. Every record gets exactly one of the five outcomes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from rag import rows
from rag.abstracts import paper_id, same_text_key, variant_id
from rag.chunks import sentence_chunks
from rag.records import Paper, Record, Reject, Source
from rag.store import Row, SourceClaim, Store

_METADATA = ("title", "authors", "venue", "year", "url", "doi", "keywords")


@dataclass(slots=True)
class Outcomes:
    """How many records had each outcome; `read` is their sum.

    added: a new paper. merged: the text of a known paper, at a source not yet known for it. updated: at a known
    source, its metadata gained or changed. unchanged: nothing new. rejected: unreadable.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    merged: int = 0
    rejected: int = 0

    @property
    def read(self) -> int:
        """All records."""
        return self.added + self.updated + self.unchanged + self.merged + self.rejected

    def add(self, other: Outcomes) -> None:
        """Count another batch too."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(slots=True)
class Plan:
    """What to write: papers new or changed, sources, aliases, rejects; `generation` is the one it was made for.

    Of `papers`, those in `to_embed` are new, or have another title than when they were embedded.
    """

    generation: int
    papers: dict[str, Row] = field(default_factory=dict)
    to_embed: dict[str, None] = field(default_factory=dict)
    claims: dict[Source, SourceClaim] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    outcomes: Outcomes = field(default_factory=Outcomes)

    @property
    def writes(self) -> bool:
        """Is there anything to write?"""
        return bool(self.papers or self.claims or self.aliases or self.rejects)


def plan(store: Store, batch: Sequence[Record | Reject]) -> Plan:
    """Decide for each record of a batch, in order, given what the library holds now."""
    return _Planner(store).run(batch)


class _Planner:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._plan = Plan(generation=store.generation())
        self._by_text: dict[str, str] = {}
        self._next_number: int | None = None
        self._known_rejects: set[Reject] | None = None

    def run(self, batch: Sequence[Record | Reject]) -> Plan:
        outcomes = self._plan.outcomes
        for item in batch:
            if isinstance(item, Reject):
                self._reject(_storable_reject(item))
                outcomes.rejected += 1
            else:
                outcome = self._record(_storable(item))
                setattr(outcomes, outcome, getattr(outcomes, outcome) + 1)
        return self._plan

    def _reject(self, reject: Reject) -> None:
        if self._known_rejects is None:
            self._known_rejects = set(rows.rejects(self._store))
        if reject not in self._known_rejects:
            self._known_rejects.add(reject)
            self._plan.rejects.append(reject)

    def _record(self, record: Record) -> str:
        content = _digest(record)
        before = self._plan.claims.get(record.source) or rows.paper_at(self._store, record.source)
        if before is not None and before.content == content:
            return "unchanged"
        text_key = same_text_key(record.abstract)
        row = self._row_by_text(text_key)
        if row is None:
            row = self._add(record, text_key)
            self._claim(record, row.paper.id, content)
            return "added"
        known_source = self._is_known(record.source, row.paper.id)
        same_key = self._remember_key(record, row.paper)
        self._claim(record, row.paper.id, content)
        changed = self._fold(row, record, overwrite=known_source or same_key)
        if not known_source:
            return "merged"
        return "updated" if changed else "unchanged"

    def _row_by_text(self, text_key: str) -> Row | None:
        if text_key in self._by_text:
            return self._plan.papers[self._by_text[text_key]]
        row = rows.row_by_text(self._store, text_key)
        if row is not None and row.paper.id in self._plan.papers:
            return self._plan.papers[row.paper.id]
        return row

    def _is_known(self, source: Source, known_id: str) -> bool:
        claim = self._plan.claims.get(source)
        if claim is not None and claim.paper_id == known_id:
            return True
        return rows.has_source(self._store, source, known_id)

    def _resolve(self, wanted: str) -> str | None:
        if wanted in self._plan.papers:
            return wanted
        return self._plan.aliases.get(wanted) or rows.resolve(self._store, wanted)

    def _remember_key(self, record: Record, paper: Paper) -> bool:
        """Is the record's key one that names this paper? A key that named nothing becomes its alias."""
        if not (record.key or record.doi):
            return False
        wanted = paper_id(record)
        found = self._resolve(wanted)
        if found is None:
            self._plan.aliases[wanted] = paper.id
        return found == paper.id or variant_id(wanted, paper.abstract) == paper.id

    def _add(self, record: Record, text_key: str) -> Row:
        wanted = paper_id(record)
        while self._resolve(wanted) is not None:
            wanted = variant_id(wanted, record.abstract)
        if self._next_number is None:
            self._next_number = rows.next_number(self._store)
        paper = Paper(id=wanted, abstract=record.abstract, **{name: getattr(record, name) for name in _METADATA})
        spans = [(chunk.start_char, chunk.end_char) for chunk in sentence_chunks(paper)]
        row = Row(
            n=self._next_number,
            paper=paper,
            text_key=text_key,
            offsets=np.array(spans, dtype=np.int32).reshape(len(spans), 2),
            vectors=np.zeros((0, 0), dtype=np.float32),
            text_generation=self._plan.generation + 1,
            generation=self._plan.generation + 1,
        )
        self._next_number += 1
        self._plan.papers[wanted] = row
        self._plan.to_embed[wanted] = None
        self._by_text[text_key] = wanted
        return row

    def _claim(self, record: Record, known_id: str, content: str) -> None:
        self._plan.claims[record.source] = SourceClaim(record.source, known_id, content)

    def _fold(self, row: Row, record: Record, *, overwrite: bool) -> bool:
        """Give the paper what the record knows; of two values the newer wins if `overwrite`, else the older stays."""
        paper = row.paper
        gained = {
            name: getattr(record, name)
            for name in _METADATA
            if getattr(record, name) and (overwrite or not getattr(paper, name))
        }
        folded = replace(paper, **gained)
        if folded == paper:
            return False
        generation = self._plan.generation + 1
        retitled = folded.title != paper.title
        if retitled:
            self._plan.to_embed.setdefault(paper.id)
        self._plan.papers[paper.id] = replace(
            row,
            paper=folded,
            generation=generation,
            text_generation=generation if retitled else row.text_generation,
        )
        return True


def _digest(record: Record) -> str:
    """16 hex digits that change with anything the record says, its source aside."""
    said = [record.abstract, record.key, *(getattr(record, name) for name in _METADATA)]
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()[:16]


def _text(value: str) -> str:
    """Lone surrogates, which neither SQLite nor Chroma can store, become U+FFFD, one for one."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in value)
    return value


def _storable(record: Record) -> Record:
    values: dict[str, object] = {}
    for one in fields(record):
        value = getattr(record, one.name)
        if isinstance(value, str):
            values[one.name] = _text(value)
        elif isinstance(value, tuple):
            values[one.name] = tuple(_text(item) for item in value)
    values["source"] = Source(_text(record.source.file), record.source.position)
    return replace(record, **values)  # type: ignore[arg-type]


def _storable_reject(reject: Reject) -> Reject:
    return Reject(_text(reject.file), reject.position, _text(reject.reason), _text(reject.raw))
