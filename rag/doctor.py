"""`citewise doctor`: can this machine run citewise, and if not, what to do."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.config import library_folder
from rag.errors import CitewiseError, MissingLibrary

if TYPE_CHECKING:
    from rag.config import Settings

ROOM_BYTES = 200_000_000


def examine(settings: Settings) -> list[dict[str, Any]]:
    """The checks in order, each `{"name", "ok", "detail"}`; a failed check's detail says what to do."""
    folder = library_folder(settings)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("python", lambda: f"{sys.version.split()[0]} at {sys.executable}"),
        ("sqlite", lambda: sqlite3.sqlite_version),
        ("embedding model", _embedder),
        ("library", lambda: _library(folder)),
        ("disk", lambda: _room(folder)),
    ]
    return [_checked(name, check) for name, check in checks]


def _checked(name: str, check: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"name": name, "ok": True, "detail": check()}
    except CitewiseError as error:
        return {"name": name, "ok": False, "detail": str(error)}
    except Exception as error:  # a diagnosis must not end with the first illness
        return {"name": name, "ok": False, "detail": " ".join(f"{type(error).__name__}: {error}".split())}


def _embedder() -> str:
    from rag.embed import default_embedder

    embedder = default_embedder()
    embedder.embed(["a sentence to try it"])
    return f"{embedder.info.name} {embedder.info.revision}, {embedder.info.dimension} dimensions, files as published"


def _library(folder: Path) -> str:
    from rag.embed import default_embedder
    from rag.index import Library

    try:
        with Library.open(folder) as library:
            library.check_embedder(default_embedder().info)
            status = library.status()
            return f"{status.papers} papers in {folder}"
    except MissingLibrary:
        return f"none yet at {folder}; `citewise ingest PATH` makes it"


def _room(folder: Path) -> str:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < ROOM_BYTES:
        raise CitewiseError(f"only {free / 1e6:.0f} MB free at {existing}: make room before ingesting")
    return f"{free / 1e9:.1f} GB free at {existing}"
