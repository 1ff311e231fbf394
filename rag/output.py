"""What leaves the command: JSON objects, lists of facts, and the one line and exit code of an error."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rag.errors import CitewiseError

INTERRUPTED = 130  # what shells report for Ctrl-C
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def run(command: Callable[[], object]) -> int:
    """Call `command` and return its exit code; an error becomes one line on stderr that begins with "citewise: ".

    0 done (also when the reader of the output went away), 1 an error, 2 wrong usage, 130 interrupted.
    """
    # onnxruntime reports to its maker unless told not to, and makes a folder for it, before its own switch can be set.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    _prepare_streams()
    try:
        code = _exit_code(command)
        sys.stdout.flush()
    except CitewiseError as error:
        return _failed(str(error))
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except OSError as error:
        _silence_stdout()
        where = error.filename or "the output"
        return _failed(f"{where} can't be read or written: {error.strerror or error}; check it, then run this again")
    except Exception as error:
        return _failed(f"unexpected {type(error).__name__}: {str(error)[:300]}; please report this as a fault")
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        _failed("interrupted; what an ingest had added by then is kept, the same command goes on from there")
    return code


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


def clean_text(text: str) -> str:
    """The text with each lone surrogate, which UTF-8 can't hold, as U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def print_version(wanted: bool) -> None:
    """What `--version` does."""
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"citewise {version('citewise')}")
        except PackageNotFoundError:
            print("citewise (run from its source, not installed)")
        raise SystemExit(0)


def _exit_code(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # typer makes an exit of it, with a code of its own
            raise stop.__context__ from None
        return stop.code if isinstance(stop.code, int) else 0
    return 0


def _failed(message: str) -> int:
    print(f"citewise: {' '.join(message.split())}", file=sys.stderr)
    return 1


def _prepare_streams() -> None:
    """What other programs read is UTF-8 in every locale; what a terminal can't show does not end the command."""
    if sys.stdout is None:  # closed by the caller, as by >&-
        sys.stdout = io.StringIO()
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="replace")
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="")


def _silence_stdout() -> None:
    """Let Python's own flush at exit go nowhere: it would complain of the same failure again."""
    if isinstance(sys.__stdout__, io.TextIOWrapper):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.__stdout__.fileno())
        os.close(nowhere)
