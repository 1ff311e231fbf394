"""Comparisons: the sides that a question sets against each other, or the clauses that describe them."""

from __future__ import annotations

import pytest

from rag.comparison_question import MAX_SIDES, parse_sides
from rag.question import parse_question

SIDES = [
    ("How does Ada-K differ from Top-K?", ("Ada-K", "Top-K")),
    ("How is RLHF different from DPO?", ("RLHF", "DPO")),
    ("How does Ada-K compare with dense models?", ("Ada-K", "dense models")),
    ("how do LoRA and full fine-tuning differ?", ("LoRA", "full fine-tuning")),
    ("In what ways do BERT and GPT differ?", ("BERT", "GPT")),
    ("Ada-K vs Mixture of Shards", ("Ada-K", "Mixture of Shards")),
    ("Ada-K vs. LoRA", ("Ada-K", "LoRA")),
    ("SGD versus Adam?", ("SGD", "Adam")),
    ("Compare BERT with GPT", ("BERT", "GPT")),
    ("please compare BERT and GPT", ("BERT", "GPT")),
    ("compare BERT, GPT and T5", ("BERT", "GPT", "T5")),
    ("contrast SGD and Adam in terms of speed", ("SGD", "Adam")),
    ("Compare Ada-K with LoRA: which is faster?", ("Ada-K", "LoRA")),
    ("What is the difference between dropout and weight decay?", ("dropout", "weight decay")),
    ("What are the main differences in speed between Ada-K and LoRA?", ("Ada-K", "LoRA")),
    ("trade-offs between early and late fusion", ("early", "late fusion")),
    ("What do LoRA and MoS have in common?", ("LoRA", "MoS")),
]


@pytest.mark.parametrize(("text", "sides"), SIDES)
def test_sides_that_a_comparison_names(text: str, sides: tuple[str, ...]) -> None:
    assert parse_sides(text) == (sides, True)
    question = parse_question(text)
    assert (question.form, question.sides, question.explicit_sides) == ("comparison", sides, True)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        (
            "One paper prunes experts, another shares their weights; what does each gain?",
            ("One paper prunes experts", "another shares their weights", "what does each gain"),
        ),
        (
            "Routing adapts to tokens whereas pruning is static: why?",
            ("Routing adapts to tokens", "pruning is static"),
        ),
    ],
)
def test_clauses_of_a_comparison_without_named_sides(text: str, sides: tuple[str, ...]) -> None:
    assert parse_sides(text) == (sides, False)


@pytest.mark.parametrize(
    "text", ["", "What is routing?", "Why are speed and accuracy at odds?", "Is Ada-K different?", "the difference"]
)
def test_texts_that_compare_nothing(text: str) -> None:
    assert parse_sides(text) == ((), False)


def test_sides_have_a_limit() -> None:
    sides, explicit = parse_sides("compare a, b, c, d, e, f, g and h")
    assert (sides, explicit) == (("a", "b", "c", "d", "e", "f"), True)
    assert len(sides) == MAX_SIDES
