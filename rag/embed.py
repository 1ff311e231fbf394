"""Text -> unit vectors: the packaged MiniLM, or any endpoint that speaks OpenAI's embeddings API (`embed_remote`).

Every embedder here keeps three promises: vectors have length 1, so that a dot product is the cosine; the vector of a
text doesn't depend on the texts beside it; and no word of a long text is dropped (it is read in overlapping windows).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.onnx_model import MODEL_SHA256, load_session, load_tokenizer, run_batch, run_hidden

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from rag.passages import Window

Vectors = NDArray[np.float32]
Text = TypeVar("Text", str, list[int])

WINDOW_TOKENS = 254  # the model was trained on 256 tokens, two of which are [CLS] and [SEP]
OVERLAP_TOKENS = 32  # about one sentence, so that a statement cut by one window is whole in the next
BATCH_TOKENS = 512  # measured (`python -m eval.embed_bench`): more falls out of the cache, less starves the threads
MAX_THREADS = 8


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What a library must remember of the model that made its vectors; two that are equal share one space."""

    name: str
    revision: str
    dimension: int
    normalized: bool = True


class Embedder(Protocol):
    """Anything that maps texts to vectors."""

    @property
    def info(self) -> EmbedderInfo:
        """The model. Raises `EmbedderError` when it has to be asked and can't be reached."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text, float32, shape (len(texts), info.dimension), in the order given.

        A text's row is the same, within 1e-5 in each component, whatever it is embedded together with. Raises
        `EmbedderError`. Safe to call from several threads.
        """
        ...


def default_embedder() -> PackagedMiniLM:
    """Return the embedder that needs no configuration and no network. Nothing is loaded before its first use."""
    return PackagedMiniLM()


class PackagedMiniLM:
    """all-MiniLM-L6-v2, 384 dimensions, from two installed packages; runs on the processor, without a download.

    The file holds int8 weights, but the arithmetic is float32: no activation is quantised, hence a row doesn't depend
    on its batch. A text of more than 254 tokens is split into the fewest windows of equal length that overlap by 32
    tokens, and its vector is the normalised sum of theirs. An empty text has the vector of an empty sequence.
    """

    info = EmbedderInfo("all-MiniLM-L6-v2", f"int8-{MODEL_SHA256[:12]}-c1", 384)

    def __init__(self, threads: int | None = None) -> None:
        """`threads` bounds the processor threads of one call; None takes those this process may use, at most 8."""
        self.threads = threads or min(MAX_THREADS, _available_processors())
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Tokenizer] | None = None

    def load(self) -> None:
        """Load model and tokenizer now rather than at the first `embed`. Raises `EmbedderError`."""
        self._parts()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        owners, sequences = self._windows(texts)
        rows = np.empty((len(sequences), self.info.dimension), dtype=np.float32)
        for batch in length_batches([len(sequence) for sequence in sequences], BATCH_TOKENS):
            rows[batch] = run_batch(self._parts()[0], [sequences[i] for i in batch])
        sums = np.zeros((len(texts), self.info.dimension), dtype=np.float32)
        np.add.at(sums, owners, unit_rows(rows))
        return unit_rows(sums)

    def embed_parts(self, texts: Sequence[Sequence[str]]) -> list[Vectors]:
        """See `rag.passages.ContextEmbedder`. A part without a token has the vector of the first axis."""
        windows = self.context_windows(texts)
        sums = [np.zeros((1 + len(parts), self.info.dimension), dtype=np.float32) for parts in texts]
        for batch in length_batches([len(window.ids) for _, window in windows], BATCH_TOKENS):
            cls, sep = self._ends()
            hidden, _ = run_hidden(self._parts()[0], [[cls, *windows[i][1].ids, sep] for i in batch])
            for row, (text, window) in zip(hidden, (windows[i] for i in batch), strict=True):
                for part, start, stop in window.own:
                    sums[text][1 + part] += row[1 + start : 1 + stop].sum(axis=0)
        for rows in sums:
            rows[0] = rows[1:].sum(axis=0)
        return [unit_rows(rows) for rows in sums]

    def context_windows(self, texts: Sequence[Sequence[str]]) -> list[tuple[int, Window]]:
        """Return the windows in which texts, given as parts, are read, each with the number of its text."""
        from rag.passages import CONTEXT_TOKENS, context_windows

        tokenizer = self._parts()[1]
        found = []
        for number, parts in enumerate(texts):
            encoded = tokenizer.encode_batch([encodable(part) for part in parts], add_special_tokens=False)
            ids = [encoding.ids for encoding in encoded]
            found += [(number, window) for window in context_windows(ids, CONTEXT_TOKENS)]
        return found

    def sequences(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of the windows of all texts, in order, as the model gets them."""
        return self._windows(texts)[1]

    def _windows(self, texts: Sequence[str]) -> tuple[list[int], list[list[int]]]:
        tokenizer = self._parts()[1]
        cls, sep = self._ends()
        owners: list[int] = []
        sequences: list[list[int]] = []
        for owner, encoding in enumerate(
            tokenizer.encode_batch([encodable(text) for text in texts], add_special_tokens=False)
        ):
            for window in split_windows(encoding.ids, WINDOW_TOKENS, OVERLAP_TOKENS):
                owners.append(owner)
                sequences.append([cls, *window, sep])
        return owners, sequences

    def _ends(self) -> tuple[int, int]:
        cls, sep = self._parts()[1].encode("").ids
        return cls, sep

    def _parts(self) -> tuple[Any, Tokenizer]:
        with self._lock:  # two threads must not both load 90 MB
            if self._loaded is None:
                self._loaded = load_session(self.threads), load_tokenizer()
            return self._loaded


def split_windows(text: Text, size: int, overlap: int) -> Iterator[Text]:
    """Yield the fewest windows of at most `size` tokens (or characters) that cover `text`, in its order.

    Neighbours share at least `overlap`. Windows are as short and as equal as their number allows, since cost grows with
    their total length. An empty text gives one empty window. Requires 0 <= overlap < size.
    """
    count = max(1, -(-(len(text) - overlap) // (size - overlap)))
    length = -(-(len(text) + (count - 1) * overlap) // count)
    for number in range(count):
        start = (len(text) - length) * number // max(1, count - 1)
        yield text[start : start + length]


def unit_rows(rows: Vectors) -> Vectors:
    """Return the rows scaled to length 1, float32; a row of zeros becomes the first basis vector."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.where(norms > 0, rows, np.eye(1, rows.shape[1], dtype=np.float32))
    return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)


def length_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield batches of indices, longest first, so that count times longest is <= `budget` (or the batch is one)."""
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def encodable(text: str) -> str:
    """Return a text that the tokenizer can be handed: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _available_processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Windows and macOS
        return os.cpu_count() or 1
