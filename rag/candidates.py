"""For a library too large to compare every sentence: the papers worth a look, from Chroma and tantivy.

Knows nothing of fusion or ranking; what it returns is ranked exactly later.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rag import rows
from rag.derived import part_folder, require_current
from rag.errors import CorruptLibrary
from rag.lexical import Searcher
from rag.store import Store
from rag.vectors import VectorStore

# Several sentences of one paper are often near together: more are asked for than papers are wanted.
_SENTENCES_PER_PAPER = 3


class Candidates:
    """A reader's Chroma client, kept open as long as nobody has written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: tuple[str, str, VectorStore] | None = None

    def close(self) -> None:
        """Release Chroma's files."""
        opened, self._open = self._open, None
        if opened is not None:
            opened[2].close()

    def ids(
        self, manifest: Mapping[str, str], query_vector: np.ndarray, searcher: Searcher, text: str, n: int
    ) -> list[str]:
        """Ids of `n` papers by whole text, up to 3 * `n` by sentences and `n` by words, sorted, each once.

        Raises LibraryError when Chroma can't be read or does not hold this generation.
        """
        vectors = self._vectors(manifest)
        near = vectors.nearest(query_vector, "paper", n) + vectors.nearest(
            query_vector, "sentence", n * _SENTENCES_PER_PAPER
        )
        worded = rows.ids_by_number(self._store, [number for number, _ in searcher.scores(text, n)])
        return sorted({paper_id for paper_id, _ in near} | set(worded))

    def _vectors(self, manifest: Mapping[str, str]) -> VectorStore:
        folder = self._store.folder
        key = (manifest.get("chroma_epoch", "1"), manifest["text_generation"])
        if self._open is not None and self._open[:2] != key:
            # `query` of an open client does not find what another process has added.
            self.close()
        if self._open is None:
            require_current(folder, manifest, "chroma")
            vectors = VectorStore(part_folder(folder, manifest, "chroma"), folder, create=False)
            self._open = (*key, vectors)
            held = rows.counts(self._store)
            if vectors.count() < held.papers + held.sentences:
                self.close()
                raise CorruptLibrary(f"the vector store of {folder} is incomplete")
        return self._open[2]
