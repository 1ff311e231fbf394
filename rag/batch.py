"""`--batch FILE.jsonl`: one question a line, one JSON line each; a line that fails does not end the run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import CitewiseError, InputError, MissingPath
from rag.output import clean_text, print_json
from rag.records import Turn

ROLES = ("user", "assistant", "system")


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A question of a batch, or the error of a line that can't be read as one. `id` is any JSON value."""

    id: Any
    question: str
    history: tuple[Turn, ...] = ()
    error: CitewiseError | None = None

    def answered_by(self, answer: Callable[[BatchLine], dict[str, Any]]) -> dict[str, Any]:
        """The answer's JSON, or `{"id","error":{"code","message"}}`; never raises."""
        try:
            if self.error is not None:
                raise self.error
            return {**answer(self), "id": self.id}
        except CitewiseError as error:
            return {"id": self.id, "error": {"code": error.code, "message": str(error)}}
        except Exception as error:
            return {
                "id": self.id,
                "error": {"code": "internal", "message": " ".join(f"{type(error).__name__}: {error}".split())},
            }


def run_batch(path: Path, answer: Callable[[BatchLine], dict[str, Any]]) -> None:
    """Print a JSON line for each line of the file as soon as it is answered. Raises as `read_batch` does."""
    for line in read_batch(path):
        print_json(line.answered_by(answer), flush=True)


def read_batch(path: Path) -> Iterator[BatchLine]:
    """The lines of a batch file in order, blank ones passed over. Raises MissingPath or InputError for the file."""
    if not path.exists():
        raise MissingPath(f"no such file: {path}")
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            for number, text in enumerate(file, start=1):
                if text.strip():
                    yield _line(text, number)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from None


def _line(text: str, number: int) -> BatchLine:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return BatchLine(None, "", error=InputError(f"line {number} is not valid JSON: {error}"))
    if not isinstance(value, dict):
        return BatchLine(None, "", error=InputError(f"line {number} is not a JSON object with id and question"))
    id_ = _printable(value.get("id"))
    try:
        question = value.get("question")
        if not isinstance(question, str):
            raise InputError(f'line {number} has no "question" text')
        return BatchLine(id_, clean_text(question), _history(value.get("history"), number))
    except InputError as error:
        return BatchLine(id_, "", error=error)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _printable(id_: Any) -> Any:
    """The id as it is, or as text where a number in it is too large to be written back."""
    try:
        json.dumps(id_, allow_nan=False)
    except ValueError:
        return str(id_)
    return id_


def _history(turns: object, number: int) -> tuple[Turn, ...]:
    if turns is None:
        return ()
    usage = f'line {number}: history must be a list of {{"role": "user" or "assistant", "content": text}}'
    if not isinstance(turns, list):
        raise InputError(usage)
    for turn in turns:
        if not (isinstance(turn, dict) and turn.get("role") in ROLES and isinstance(turn.get("content"), str)):
            raise InputError(usage)
    return tuple(Turn(turn["role"], clean_text(turn["content"])) for turn in turns)
