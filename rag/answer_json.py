"""Answers, search results and summaries as the JSON objects that other programs read (see README, "JSON")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rag.records import Answer, Hit, Sentence


def hit_json(hit: Hit) -> dict[str, Any]:
    """A ranked paper: id, label, title, score in 0..1, quotes with offsets, sources."""
    return {
        "paper_id": hit.paper.id,
        "label": hit.label,
        "title": hit.paper.title,
        "score": round(hit.score, 4),
        "quotes": [asdict(quote) for quote in hit.quotes],
        "sources": [asdict(source) for source in hit.paper.sources],
    }


def _sentence_json(sentence: Sentence) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "verdict": sentence.verdict,
        "support": None if sentence.support is None else round(sentence.support, 4),
        "citations": [asdict(citation) for citation in sentence.citations],
        "unresolved": [asdict(marker) for marker in sentence.unresolved],
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as one JSON object; every undefined number is None."""
    return {
        "id": answer.id,
        "question": answer.question,
        "standalone_question": answer.standalone_question,
        "answer": answer.answer,
        "refused": answer.refused,
        "reason": answer.reason,
        "mode": answer.mode,
        "kind": answer.kind,
        "sentences": [_sentence_json(sentence) for sentence in answer.sentences],
        "papers": [hit_json(hit) for hit in answer.papers],
        "total_matches": answer.total_matches,
        "library": {"generation": answer.generation, "embedder": answer.embedder},
        "model": answer.model,
        "timings_s": {stage: round(seconds, 6) for stage, seconds in answer.timings_s.items()},
        "usage": answer.usage,
        "warnings": list(answer.warnings),
    }


def search_json(
    question: str, hits: Iterable[Hit], total_matches: int, timings_s: dict[str, float], id_: str | None = None
) -> dict[str, Any]:
    """The ranked papers of `citewise search`; `total_matches` counts the papers that the filter lets through."""
    return {
        "id": id_,
        "question": question,
        "papers": [hit_json(hit) for hit in hits],
        "total_matches": total_matches,
        "timings_s": {stage: round(seconds, 6) for stage, seconds in timings_s.items()},
        "warnings": [],
    }
