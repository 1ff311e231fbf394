from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from eval.ranking import Collection, bm25_scores, bootstrap_interval, measure, ndcg_at_10
from eval.scifact import rankings, read_collection, reciprocal_ranks
from eval.vector_cache import cached_vectors
from rag.embed import EmbedderInfo, Vectors, default_embedder


class CountingEmbedder:
    """Embeds a text as its length and 1, and keeps what it was asked."""

    info = EmbedderInfo("counting", "1", 2)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(-1, 2)


def collection() -> Collection:
    return Collection(
        ("q1", "q2"),
        ("aspirin lowers fever", "bees pollinate apple trees"),
        ("a", "b", "c"),
        ("", "Pollination", ""),
        ("Aspirin reduces fever in adults.", "Apple trees need bees. They carry pollen.", "Stars are hot."),
        {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}},
    )


def test_only_new_texts_are_embedded(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    first = cached_vectors(tmp_path, embedder, ["a", "bbb", "a"])
    np.testing.assert_array_equal(first, [[1, 1], [3, 1], [1, 1]])
    second = cached_vectors(tmp_path, embedder, ["cc", "bbb"])
    np.testing.assert_array_equal(second, [[2, 1], [3, 1]])
    assert embedder.asked == ["a", "bbb", "cc"]
    assert cached_vectors(tmp_path, embedder, []).shape == (0, 2)


def test_a_half_written_cache_is_mended(tmp_path: Path) -> None:
    cached_vectors(tmp_path, CountingEmbedder(), ["a", "bbb"])
    (floats,) = tmp_path.glob("*.f32")
    floats.write_bytes(floats.read_bytes()[:-3])
    embedder = CountingEmbedder()
    np.testing.assert_array_equal(cached_vectors(tmp_path, embedder, ["a", "bbb"]), [[1, 1], [3, 1]])
    assert embedder.asked == ["bbb"]


def test_ndcg_by_hand() -> None:
    # q1: the answer second, 1 / log2(3). q2: answers first and third, (1 + 1 / log2(4)) / (1 + 1 / log2(3)).
    scores = np.array([[0.5, 0.9, 0.1], [0.2, 0.9, 0.1]])
    np.testing.assert_allclose(ndcg_at_10(collection(), scores), [0.63093, 0.91972], atol=1e-5)


def test_reciprocal_ranks_by_hand() -> None:
    ranks = reciprocal_ranks(np.array([[0.1, 0.9, 0.9]], dtype=np.float32))
    np.testing.assert_allclose(ranks, [[1 / 63, 1 / 61, 1 / 62]])


def test_bm25_stays_below_its_bound() -> None:
    papers = collection().papers
    plain, weighted, bound = bm25_scores(papers, [*collection().queries, "", papers[0] * 3])
    assert plain.argmax(axis=1).tolist()[:2] == [0, 1]
    assert (weighted <= np.maximum(bound, 0)[:, None] + 1e-6).all()
    assert bound[2] == 0
    assert not weighted[2].any()


def test_every_ranking_finds_the_papers(tmp_path: Path) -> None:
    measured = measure(collection(), default_embedder(), tmp_path)
    for name, scores in rankings(measured).items():
        assert scores.argmax(axis=1).tolist() == [0, 1], name
    assert measured.best_sentence[1, 1] >= measured.cos_paper[1, 1] - 0.2


def test_the_bootstrap_holds_the_mean() -> None:
    values = np.array([0.0, 1.0] * 50)
    low, high = bootstrap_interval(values)
    assert low == pytest.approx(0.4, abs=0.02)
    assert high == pytest.approx(0.6, abs=0.02)


def test_reading_leaves_out_queries_without_an_answer(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\n1\t7\t1\n")
    queries = [{"_id": "1", "text": "claim"}, {"_id": "2", "text": "other"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as lines:
        lines.write(json.dumps({"_id": "7", "title": "T", "text": "An abstract."}))
    read = read_collection(tmp_path)
    assert (read.query_ids, read.papers, read.relevant) == (("1",), ["T\nAn abstract."], {"1": {"7": 1}})
