"""A library of the seeds in a temporary folder, for measuring."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag.abstracts import read_paths
from rag.embed import default_embedder
from rag.index import Library

if TYPE_CHECKING:
    from rag.embed import Embedder

SEEDS = Path(__file__).parent.parent / "seeds"


@contextmanager
def seeds_library() -> Iterator[tuple[Library, Embedder]]:
    """A fresh library of the seeds and the embedder that made it."""
    embedder = default_embedder()
    with tempfile.TemporaryDirectory() as folder, Library.create(Path(folder) / "library", embedder.info) as library:
        library.ingest(read_paths([SEEDS]), embedder)
        yield library, embedder
