from __future__ import annotations

import math

import numpy as np
import pytest

from rag.shortlist import W_COVERAGE, W_PAPER, W_SENTENCE, W_WORDS, fuse, word_weights

TOTAL = W_PAPER + W_SENTENCE + W_WORDS + W_COVERAGE


def row(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def test_word_weights_by_hand() -> None:
    # n = 3: idf is ln(1 + 3.5 / .5) = ln 8 of a word in no paper, ln(1 + 1.5 / 2.5) = ln 1.6 of a word in two.
    weights, bound = word_weights({"routing": 0, "model": 2}, 3)
    assert weights == {"routing": 1.0, "model": pytest.approx(math.sqrt(math.log(1.6) / math.log(8)))}
    assert bound == pytest.approx(2.2 * (math.log(8) + math.log(1.6) ** 1.5 / math.log(8) ** 0.5))


def test_a_rare_word_weighs_more_and_every_weight_is_in_range() -> None:
    weights, _ = word_weights({"a": 0, "b": 1, "c": 50, "d": 100}, 100)
    assert list(weights.values()) == sorted(weights.values(), reverse=True)
    assert 0 < weights["d"] < weights["a"] == 1


@pytest.mark.parametrize("n_papers", [0, 1])
def test_no_words_and_tiny_libraries(n_papers: int) -> None:
    assert word_weights({}, n_papers) == ({}, 0.0)
    assert word_weights({"a": 0}, n_papers)[0] == {"a": 1.0}


@pytest.mark.parametrize(
    ("cosine", "sentence", "bm25", "bound", "coverage", "expected"),
    [
        (1.0, 1.0, 5.0, 5.0, 1.0, 1.0),
        (0.0, 0.0, 0.0, 5.0, 0.0, 0.0),
        (-1.0, -1.0, 0.0, 5.0, 0.0, 0.0),
        (0.6, 0.0, 0.0, 5.0, 0.0, 0.6 * W_PAPER / TOTAL),
        (0.0, 0.6, 0.0, 5.0, 0.0, 0.6 * W_SENTENCE / TOTAL),
        (0.0, 0.0, 2.0, 5.0, 0.0, 0.4 * W_WORDS / TOTAL),
        (0.0, 0.0, 9.0, 5.0, 0.0, W_WORDS / TOTAL),
        (0.0, 0.0, 0.0, 5.0, 0.4, 0.4 * W_COVERAGE / TOTAL),
        (0.6, 0.6, 0.0, 0.0, 0.0, 0.6 * (W_PAPER + W_SENTENCE) / TOTAL),
    ],
)
def test_the_score_of_one_paper(
    cosine: float, sentence: float, bm25: float, bound: float, coverage: float, expected: float
) -> None:
    fused = fuse(row(cosine), row(sentence), row(bm25), bound, row(coverage))
    assert fused.dtype == np.float32
    assert fused == pytest.approx([expected], abs=1e-6)


def test_a_score_does_not_depend_on_the_other_papers() -> None:
    both = fuse(row(0.3, 0.9), row(0.2, 0.8), row(1.0, 4.0), 5.0, row(0.1, 0.5))
    assert both[0] == fuse(row(0.3), row(0.2), row(1.0), 5.0, row(0.1))[0]
    assert both[1] > both[0]


def test_no_papers() -> None:
    assert fuse(row(), row(), row(), 5.0, row()).shape == (0,)
