"""Words, stems, names and abbreviations; the inverted index over sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.terms import (
    abbreviations,
    build_index,
    content_bigrams,
    content_words,
    is_name,
    plain_parts,
    stem,
    stems,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" .,;!? ", []),
        ("Ada-K routes tokens.", ["Ada-K", "routes", "tokens"]),
        ("state-of-the-art", ["state-of-the-art"]),
        ("the model's cost", ["the", "model", "cost"]),
        ("the model’s cost", ["the", "model", "cost"]),
        ("don't", ["don't"]),
        ("GPT-3.5 at 2.7 points", ["GPT-3.5", "at", "2.7", "points"]),
        ("x_i and y", ["x", "i", "and", "y"]),
        ("(LoRA), [MoS]/top-k", ["LoRA", "MoS", "top-k"]),
        ("a--b", ["a", "b"]),
        ("naïve Gödel", ["naïve", "Gödel"]),
        ("扩散 模型", ["扩散", "模型"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("routing", "rout"),
        ("routes", "rout"),
        ("Experts", "expert"),
        ("experts", "expert"),
        ("LLMs", "llm"),
        ("LLM", "llm"),
        ("GPUs", "gpu"),
        ("BERT", "bert"),
        ("learning", "learn"),
        ("learned", "learn"),
        ("", ""),
        ("25", "25"),
    ],
)
def test_stem(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class-conditional models", ["class", "condit", "model"]),
        ("GPT-3.5", ["gpt", "3", "5"]),
        ("InfoMax", ["infomax", "info", "max"]),
        ("MoE", ["moe", "mo"]),
        ("LLMs learn", ["llm", "learn"]),
        ("the model's experts", ["the", "model", "expert"]),
    ],
)
def test_stems(text: str, expected: list[str]) -> None:
    assert stems(text) == expected


def test_plain_parts() -> None:
    assert plain_parts("state-of-the-art") == ["state", "of", "the", "art"]
    assert plain_parts("GPT-3.5") == ["GPT", "3", "5"]
    assert plain_parts("model") == ["model"]
    assert plain_parts("-") == []


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("BERT", True),
        ("LoRA", True),
        ("Ada-K", True),
        ("GPT-4", True),
        ("T5", True),
        ("iVideo", True),
        ("arXiv", True),
        ("eX", True),
        ("Norway", False),
        ("model", False),
        ("top-k", False),
        ("3d", False),
        ("2024", False),
        ("A", False),
        ("", False),
        ("模型", False),
    ],
)
def test_words_that_are_written_like_names(word: str, expected: bool) -> None:
    assert is_name(word) is expected


def test_content_words() -> None:
    question = "Which papers propose a method for the routing of experts?"
    assert content_words(question) == ["routing", "experts"]
    assert content_words(question, drop_asking=False) == ["papers", "propose", "method", "routing", "experts"]
    assert content_words("what is it about?") == []
    assert content_words("Papers, PAPERS and Experts") == ["Experts"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We study Mixture of Experts (MoE) models.", [("MoE", "Mixture of Experts")]),
        ("Large Language Models (LLMs) are large.", [("LLM", "Large Language Models")]),
        (
            "the evidence lower bound (ELBO) and a partial differential equation (PDE)",
            [("ELBO", "evidence lower bound"), ("PDE", "partial differential equation")],
        ),
        ("It is cheap (USD) for all.", []),
        ("We saw it (Smith) there.", []),
        ("see (a) and (B2)", []),
        ("", []),
    ],
)
def test_abbreviations_that_a_text_spells_out(text: str, expected: list[tuple[str, str]]) -> None:
    assert abbreviations(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Reinforcement learning (RL) is hard.", [("RL", "Reinforcement learning")]),
        ("Mixture of Experts (MoE) models are large.", [("MoE", "Mixture of Experts")]),
    ],
)
def test_abbreviations_of_a_long_form_that_begins_the_text(text: str, expected: list[tuple[str, str]]) -> None:
    assert abbreviations(text) == expected


def test_neighbours_pass_over_function_words() -> None:
    assert content_bigrams(["rout", "of", "the", "expert", "help"]) == [("rout", "expert"), ("expert", "help")]
    assert content_bigrams(["rout"]) == []


SENTENCES = (
    "Experts are routed by LoRA.",  # paper 0
    "Routing of experts uses LoRA and routed tokens.",  # paper 0
    "We study Mixture of Experts (MoE) models.",  # paper 1
    "Nothing here.",  # paper 2
)


def test_the_index_by_hand() -> None:
    index = build_index(SENTENCES, np.array([0, 0, 1, 2], dtype=np.int32), [None, "Sparse GPT-4 experts", None])
    assert (index.n_papers, index.n_sentences) == (3, 4)
    assert index.sentences_with("rout").tolist() == [0, 1]
    assert index.sentences_with("expert").tolist() == [0, 1, 2]
    assert index.sentences_with("absent").tolist() == []
    assert index.sentences_with("gpt").tolist() == []  # a title belongs to no sentence
    assert index.sentences_with("=routing").tolist() == [1]
    assert index.sentences_with("=routed").tolist() == [0, 1]
    assert index.sentences_with_pair(("rout", "expert")).tolist() == [1]
    assert index.sentences_with_pair(("expert", "rout")).tolist() == [0]
    assert index.sentences_with_pair(("model", "expert")).tolist() == []
    assert index.papers_with("expert").tolist() == [0, 1]
    assert index.df["expert"] == 2
    assert index.df["gpt"] == 1
    assert index.names["lora"] == {0}
    assert index.names["gpt-4"] == {1}
    assert index.names["moe"] == {1}
    assert "sparse" not in index.names
    assert index.long_forms == {"moe": ("Mixture of Experts",)}
    assert index.short_forms == {("mixtur", "of", "expert"): "moe"}
    assert index.vocabulary == ("experts", "models", "routed", "study", "tokens")


def test_idf_by_hand() -> None:
    index = build_index(SENTENCES, np.array([0, 0, 1, 2], dtype=np.int32), [None, None, None])
    assert index.idf("rout") == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert index.idf("expert") == pytest.approx(math.log(1 + 1.5 / 2.5))
    assert index.idf("absent") == pytest.approx(math.log(1 + 3.5 / 0.5))
    empty = build_index([], np.zeros(0, dtype=np.int32), [])
    assert empty.idf("rout") == pytest.approx(math.log(2))
    assert empty.papers_with("rout").tolist() == []


def test_the_commonest_long_form_comes_first() -> None:
    texts = ["A mean shift (MS) step.", "A model score (MS) is it.", "The model score (MS) is it."]
    index = build_index(texts, np.array([0, 1, 2], dtype=np.int32), [None] * 3)
    assert index.long_forms["ms"] == ("model score", "mean shift")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_texts_are_indexed(texts: list[str]) -> None:
    index = build_index(texts, np.arange(len(texts), dtype=np.int32), texts)
    for number, text in enumerate(texts):
        for term in stems(text):
            assert number in index.sentences_with(term)
            assert 1 <= index.df[term] <= len(texts)
            assert index.idf(term) > 0
