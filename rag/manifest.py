"""What a library must remember of how it was made, and what counts as a library's folder.

Knows the manifest's keys and the names of the files; opens none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag.chunks import CHUNKING_VERSION
from rag.embed import EmbedderInfo
from rag.errors import EmbedderMismatch, InputError
from rag.failures import corrupt, unreadable
from rag.store import FILE_NAME

_NOT_CONTENT = ("writer.lock", "writer.json", ".DS_Store", "desktop.ini", "Thumbs.db")
_PARTS = ("chroma-", "words-")


@dataclass(frozen=True, slots=True)
class Status:
    """A library at a glance. `chunks` counts sentences; `bytes_on_disk` all files of the folder."""

    folder: str
    papers: int
    chunks: int
    sources: int
    rejects: int
    generation: int
    embedder: EmbedderInfo
    chunking_version: str
    bytes_on_disk: int

    def as_json(self) -> dict[str, Any]:
        """The object that `citewise status --json` prints."""
        return asdict(self)


def embedder_manifest(info: EmbedderInfo) -> dict[str, str]:
    """Model, revision, dimension, normalisation and chunking: vectors are comparable only if all agree."""
    return {
        "embedder_name": info.name,
        "embedder_revision": info.revision,
        "embedder_dimension": str(info.dimension),
        "embedder_normalized": str(int(info.normalized)),
        "chunking_version": str(CHUNKING_VERSION),
    }


def embedder_info(manifest: Mapping[str, str]) -> EmbedderInfo:
    """The model that made the library's vectors."""
    return EmbedderInfo(
        manifest["embedder_name"],
        manifest["embedder_revision"],
        int(manifest["embedder_dimension"]),
        manifest["embedder_normalized"] == "1",
    )


def refuse_other_embedder(folder: Path, manifest: Mapping[str, str], info: EmbedderInfo) -> None:
    """Raise EmbedderMismatch unless everything that makes vectors comparable agrees."""
    here, wanted = _described(manifest), _described(embedder_manifest(info))
    if here != wanted:
        raise EmbedderMismatch(
            f"the library {folder} was made with {here}, now it is {wanted}; use the same model, or make its "
            f"vectors anew with `citewise ingest PATH --library {folder} --rebuild`"
        )


def has_library(folder: Path) -> bool:
    """Is there a library? Raises LibraryError where this user may not look."""
    try:
        return (folder / FILE_NAME).is_file()
    except OSError as exc:
        raise unreadable(folder) from exc


def refuse_half_library(folder: Path) -> None:
    """Raise CorruptLibrary where the SQLite file is gone and what was derived from it is still there."""
    if any(name.startswith(_PARTS) for name in _names(folder)):
        raise corrupt(folder, f"{FILE_NAME} is missing")


def refuse_other_folder(folder: Path) -> None:
    """Raise InputError for a file, or a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the library with --library")
    others = [n for n in _names(folder) if n not in _NOT_CONTENT and not n.startswith(f"{FILE_NAME}.new-")]
    if others:
        raise InputError(
            f"{folder} is not a library and holds other files ({others[0]}); name a new or empty folder with --library"
        )


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    except OSError as exc:
        raise unreadable(folder) from exc


def _described(manifest: Mapping[str, str]) -> str:
    normalized = "unit vectors" if manifest["embedder_normalized"] == "1" else "vectors of any length"
    return (
        f"{manifest['embedder_name']} revision {manifest['embedder_revision']} "
        f"({manifest['embedder_dimension']} dimensions, {normalized}, chunking {manifest['chunking_version']})"
    )
