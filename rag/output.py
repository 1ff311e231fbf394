"""Plain output of the command: JSON objects and lists of facts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any


def print_json(value: object, flush: bool = False) -> None:
    """One JSON object and a line end on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
    if flush:
        sys.stdout.flush()


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    """Facts as JSON, or a `name: value` line each."""
    if as_json:
        print_json(facts)
        return
    for name, value in _flat(facts):
        print(f"{name}: {value}")


def _flat(facts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
