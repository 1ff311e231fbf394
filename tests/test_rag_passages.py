"""Passages: windows of whole parts, vectors in context, and what an embedder without tokens does instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_kit import HashingEmbedder

from rag.embed import EmbedderInfo, PackagedMiniLM, Vectors
from rag.errors import EmbedderError
from rag.passages import CONTEXT_TOKENS, Passage, context_windows, embed_passages

BEES = Passage("", "Bees dance. It tells where food is.", ("Bees dance.", "It tells where food is."))
LONG = "A sentence about the routing of tokens to experts in a sparse model. "


@pytest.fixture(scope="module")
def embedder() -> PackagedMiniLM:
    return PackagedMiniLM()


@pytest.mark.parametrize(
    ("parts", "size", "expected"),
    [
        ([], 4, []),
        ([[]], 4, []),
        ([[1, 2], [3]], 4, [([1, 2, 3], ((0, 0, 2), (1, 2, 3)))]),
        # The second window begins with the part before it, as context that isn't its own.
        ([[1, 2], [3, 4], [5]], 4, [([1, 2, 3, 4], ((0, 0, 2), (1, 2, 4))), ([3, 4, 5], ((2, 2, 3),))]),
        # No room for context.
        ([[1, 2, 3], [4, 5]], 4, [([1, 2, 3], ((0, 0, 3),)), ([4, 5], ((1, 0, 2),))]),
        # A part longer than a window is cut.
        ([[1, 2, 3, 4, 5]], 2, [([1, 2], ((0, 0, 2),)), ([3, 4], ((0, 0, 2),)), ([5], ((0, 0, 1),))]),
    ],
)
def test_windows(parts: list[list[int]], size: int, expected: list[tuple[list[int], tuple[object, ...]]]) -> None:
    assert [(window.ids, window.own) for window in context_windows(parts, size)] == expected


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=8), st.integers(1, 10))
def test_each_token_is_once_its_own(parts: list[list[int]], size: int) -> None:
    found: dict[int, list[int]] = {}
    for window in context_windows(parts, size):
        assert len(window.ids) <= size
        for part, start, stop in window.own:
            found.setdefault(part, []).extend(window.ids[start:stop])
        assert all(one[2] == other[1] for one, other in pairwise(window.own))
    assert found == {number: part for number, part in enumerate(parts) if part}


def test_vectors_in_context(embedder: PackagedMiniLM) -> None:
    (rows,) = embed_passages(embedder, [BEES])
    assert rows.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    alone = embedder.embed(BEES.sentences)
    about_bees = embedder.embed(["What do bees do?"])[0]
    # "It tells where food is" says nothing of bees by itself.
    assert rows[2] @ about_bees > alone[1] @ about_bees + 0.1


def test_the_whole_is_the_mean_of_its_tokens(embedder: PackagedMiniLM) -> None:
    (rows,) = embed_passages(embedder, [Passage("", "Bees dance.", ("Bees dance.",))])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)


def test_a_title_is_context_and_has_no_row(embedder: PackagedMiniLM) -> None:
    titled = Passage("Honeybee foraging", "Honeybee foraging\nIt tells where food is.", ("It tells where food is.",))
    with_title, without = embed_passages(embedder, [titled, Passage("", titled.sentences[0], titled.sentences)])
    assert with_title.shape == without.shape == (2, 384)
    bees = embedder.embed(["honeybees"])[0]
    assert with_title[1] @ bees > without[1] @ bees


def test_rows_do_not_depend_on_other_passages(embedder: PackagedMiniLM) -> None:
    long = Passage("", LONG * 60, (LONG,) * 60)
    assert len(embedder.context_windows([long.sentences])) > 1
    together = embed_passages(embedder, [long, BEES])
    for rows, passage in zip(together, [long, BEES], strict=True):
        np.testing.assert_allclose(rows, embed_passages(embedder, [passage])[0], atol=1e-5)


def test_odd_passages(embedder: PackagedMiniLM) -> None:
    odd = [Passage("", "", ()), Passage("", "\ud800", ("\ud800", "")), Passage("", "x" * 9000, ("x" * 9000,))]
    for rows, passage in zip(embed_passages(embedder, odd), odd, strict=True):
        assert rows.shape == (1 + len(passage.sentences), 384)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert embed_passages(embedder, []) == []
    assert CONTEXT_TOKENS + 2 <= 512


def test_an_embedder_without_tokens_embeds_each_text_once() -> None:
    hashing = HashingEmbedder()
    first, second = embed_passages(hashing, [BEES, Passage("", "Bees dance.", ("Bees dance.",))])
    assert hashing.texts == 3
    np.testing.assert_array_equal(first[1], second[0])
    np.testing.assert_array_equal(first, hashing.embed([BEES.whole, *BEES.sentences]))


class Broken:
    """Gives rows of another width, or undefined numbers."""

    info = EmbedderInfo("broken", "1", 4)

    def __init__(self, rows: Vectors) -> None:
        self._rows = rows

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._rows[: len(texts)]


@pytest.mark.parametrize("rows", [np.ones((3, 5), np.float32), np.ones((1, 4), np.float32), np.full((3, 4), np.nan)])
def test_an_embedder_that_breaks_its_promise(rows: Vectors) -> None:
    with pytest.raises(EmbedderError, match="broken gave an array of shape"):
        embed_passages(Broken(rows), [BEES])
