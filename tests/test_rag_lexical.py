from __future__ import annotations

import math
from pathlib import Path

import pytest

from rag.lexical import Lexical, WordIndex

TEXTS = [
    (11, "Mixture of experts: routing tokens to experts."),
    (12, "Routed networks."),
    (13, "Pruning networks."),
]


def index_of(folder: Path | None, tmp_path: Path) -> WordIndex:
    words = WordIndex(folder, tmp_path)
    words.write(TEXTS)
    return words


WORDS = {
    "Routing ROUTED routes": ["rout", "rout", "rout"],
    "Müller's façade": ["muller", "s", "facad"],
    "": [],
    "$$ -- !!": [],
    "a\ud800b": ["a", "b"],
    "x" * 100: [],
    "GPT-4o 自然 100%": ["gpt", "4o", "自然", "100"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words_are_stemmed_folded_and_never_fail(tmp_path: Path, text: str) -> None:
    assert WordIndex(None, tmp_path).words(text) == WORDS[text]


@pytest.mark.parametrize("on_disk", [True, False])
def test_bm25_is_the_formula(tmp_path: Path, on_disk: bool) -> None:
    """Three texts of 7, 2 and 2 words; "network" is in two of them, once."""
    words = index_of(tmp_path / "words" if on_disk else None, tmp_path)
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    length = 1 - 0.75 + 0.75 * 2 / (11 / 3)
    expected = idf * (1.2 + 1) / (1 + 1.2 * length)
    found = words.searcher().scores("network", 10)
    assert [n for n, _ in found] == [12, 13]
    assert [score for _, score in found] == pytest.approx([expected] * 2, rel=1e-5)


QUERIES: dict[str, tuple[object, int | None, list[int]]] = {
    "text": ("which network is pruned?", None, [2, 1]),
    "words": (["pruned", "networks"], None, [2, 1]),
    "weights": ({"pruned": 1.0, "networks": 10.0, "routing": 30.0}, None, [1, 0, 2]),
    "no weight": ({"pruned": 0.0}, None, []),
    "the best": ("network", 1, [1]),
    "none asked for": ("network", 0, []),
    "unknown word": ("zebra", None, []),
    "no word": ("?!", None, []),
    "syntax means nothing": ('text:"pruning" AND (NOT networks) +[* *] ^9 ~', None, [2, 1]),
}


@pytest.mark.parametrize("case", QUERIES)
def test_queries(tmp_path: Path, case: str) -> None:
    terms, top, expected = QUERIES[case]
    lexical = Lexical(index_of(None, tmp_path).searcher(), {11: 0, 12: 1, 13: 2})
    assert list(lexical.bm25(terms, top)) == expected  # type: ignore[arg-type]


def test_a_repeated_word_counts_once(tmp_path: Path) -> None:
    lexical = Lexical(index_of(None, tmp_path).searcher(), {11: 0, 12: 1, 13: 2})
    assert lexical.bm25("network networks network") == lexical.bm25("network")


def test_papers_that_the_view_lacks_are_left_out(tmp_path: Path) -> None:
    searcher = index_of(None, tmp_path).searcher()
    assert list(Lexical(searcher, {13: 0}).bm25("network", 1)) == [0]


def test_writing_replaces_and_a_snapshot_stays(tmp_path: Path) -> None:
    words = index_of(tmp_path / "words", tmp_path)
    before = words.searcher()
    words.write([(13, "Quantization."), (14, "Distillation of networks.")])
    after = words.searcher()
    assert after.papers == 4
    assert [n for n, _ in after.scores("network", 9)] == [12, 14]
    assert [n for n, _ in before.scores("network", 9)] == [12, 13]
    words.write([(15, "Alone.")], replace_all=True)
    assert [n for n, _ in words.searcher().scores("alone networks", 9)] == [15]


def test_another_handle_sees_a_commit_after_reload(tmp_path: Path) -> None:
    words = index_of(tmp_path / "words", tmp_path)
    other = WordIndex(tmp_path / "words", tmp_path)
    words.write([(14, "Zebra.")])
    other.reload()
    assert [n for n, _ in other.searcher().scores("zebra", 9)] == [14]


def test_ten_thousand_words_are_one_query(tmp_path: Path) -> None:
    lexical = Lexical(index_of(None, tmp_path).searcher(), {11: 0, 12: 1, 13: 2})
    assert lexical.bm25(" ".join(f"w{n}" for n in range(10_000))) == {}
