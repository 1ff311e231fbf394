from __future__ import annotations

import hashlib
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag.embed import EmbedderInfo, PackagedMiniLM, default_embedder, length_batches, split_windows, unit_rows
from rag.errors import EmbedderError
from rag.onnx_model import MODEL_FILE, MODEL_SHA256, checked_file

SENTENCE = "A mixture of experts routes each token to a few of its expert networks. "


@pytest.fixture(scope="module")
def embedder() -> PackagedMiniLM:
    return default_embedder()


@pytest.mark.parametrize(
    ("length", "size", "overlap", "expected"),
    [
        (0, 10, 3, [""]),
        (10, 10, 3, ["abcdefghij"]),
        (11, 10, 3, ["abcdefg", "efghijk"]),
        (17, 10, 3, ["abcdefghij", "hijklmnopq"]),
        (18, 10, 3, ["abcdefgh", "fghijklm", "klmnopqr"]),
        (3, 2, 0, ["ab", "bc"]),
        (4, 2, 1, ["ab", "bc", "cd"]),
    ],
)
def test_windows_cover_the_text_and_overlap(length: int, size: int, overlap: int, expected: list[str]) -> None:
    text = "abcdefghijklmnopqrstuvwxyz"[:length]
    assert list(split_windows(text, size, overlap)) == expected


@pytest.mark.parametrize("length", range(0, 400, 7))
def test_no_token_is_lost_for_any_length(length: int) -> None:
    tokens = list(range(length))
    windows = list(split_windows(tokens, 50, 8))
    assert sorted({token for window in windows for token in window}) == tokens
    assert all(len(window) <= 50 for window in windows)
    assert len({len(window) for window in windows}) == 1
    assert all(len(set(left) & set(right)) >= 8 for left, right in itertools.pairwise(windows))


@pytest.mark.parametrize(
    ("lengths", "budget", "expected"),
    [
        ([], 10, []),
        ([3, 9, 4, 4], 9, [[1], [2, 3], [0]]),
        ([20, 2, 2, 2], 8, [[0], [1, 2, 3]]),
        ([0, 0], 1, [[0], [1]]),
    ],
)
def test_batches_are_by_length_within_the_budget(lengths: list[int], budget: int, expected: list[list[int]]) -> None:
    assert list(length_batches(lengths, budget)) == expected


def test_unit_rows() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(rows), [[0.6, 0.8], [1.0, 0.0], [0.0, -1.0]], rtol=1e-6)
    assert unit_rows(rows).dtype == np.float32


def test_info_names_the_model_and_its_revision(embedder: PackagedMiniLM) -> None:
    assert embedder.info == EmbedderInfo("all-MiniLM-L6-v2", "int8-8199be6f699a-c1", 384, True)


def test_rows_are_unit_float32_in_order(embedder: PackagedMiniLM) -> None:
    vectors = embedder.embed(["a dog", "protein folding", "", "x" * 20_000, "\ud800 lone", "\0", "蛋白质"])
    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert embedder.embed([]).shape == (0, 384)


def test_meaning_decides_and_not_words(embedder: PackagedMiniLM) -> None:
    vectors = embedder.embed(["How do cells divide?", "Mitosis splits one nucleus in two.", "The stock market fell."])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_a_row_does_not_depend_on_its_batch(embedder: PackagedMiniLM) -> None:
    texts = [SENTENCE * n for n in (1, 2, 3, 5, 8, 13, 40)] + ["MoE", "", "Which papers study routing?"]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    together = embedder.embed(texts[::-1])[::-1]
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_threads_do_not_change_the_vectors() -> None:
    one, two = (PackagedMiniLM(threads).embed([SENTENCE, SENTENCE * 20]) for threads in (1, 2))
    np.testing.assert_allclose(one, two, atol=1e-5)


def test_the_end_of_a_long_text_counts(embedder: PackagedMiniLM) -> None:
    long = SENTENCE * 25
    plain, ended, about = embedder.embed([long, long + "Bees pollinate apple trees. " * 20, "bees and apple trees"])
    assert ended @ about > plain @ about + 0.1


def test_a_missing_package_or_file_is_said() -> None:
    with pytest.raises(EmbedderError, match="pip install no-such-model"):
        checked_file("no-such-model", "model.onnx", MODEL_SHA256)
    with pytest.raises(EmbedderError, match=r"no_such\.onnx is missing"):
        checked_file(MODEL_FILE[0], "no_such.onnx", MODEL_SHA256)


def test_a_changed_file_is_refused() -> None:
    assert hashlib.sha256(checked_file(*MODEL_FILE, MODEL_SHA256)).hexdigest() == MODEL_SHA256
    with pytest.raises(EmbedderError, match="damaged or another version"):
        checked_file(*MODEL_FILE, "0" * 64)


def test_import_loads_no_model_and_no_runtime() -> None:
    code = "import sys, rag.embed, rag.embed_remote; print({'onnxruntime', 'tokenizers', 'openai'} & set(sys.modules))"
    root = Path(__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
