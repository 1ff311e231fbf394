"""What a question takes for granted, against the words of an abstract."""

from __future__ import annotations

import pytest

from rag.premises import Premises, check_premises, numbers_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no digits", []),
        ("25% of 312 nests", ["25", "312"]),
        ("1,024 tokens and 1,000,000 more", ["1024", "1000000"]),
        ("at 0.5, 3.1, and 7.", ["0.5", "3.1", "7"]),
        ("12, 13", ["12", "13"]),
        ("-5 and +6", ["5", "6"]),
        ("$10 or 8x or 8×", ["10", "8", "8"]),
        ("Top-K2 and GPT4 and v1.2", []),
        ("from 2019 to 2021", ["2019", "2021"]),
    ],
)
def test_numbers(text: str, expected: list[str]) -> None:
    assert numbers_of(text) == expected


def checked(question: str, abstract: str) -> Premises:
    sentences = [f"{part}." for part in abstract.rstrip(".").split(". ")]
    return check_premises(question, sentences, abstract)


@pytest.mark.parametrize(
    ("question", "abstract", "missing"),
    [
        ("Why does it cut FLOPs by 25%?", "Ada-K cuts FLOPs by 25%.", ()),
        ("Why does it cut FLOPs by 40%?", "Ada-K cuts FLOPs by 25%.", ("40",)),
        ("Why are 1,000 tokens enough?", "It needs 1000 tokens.", ()),
        ("Why are 1000 tokens enough?", "It needs 1,000 tokens.", ()),
        ("Why 95.2 and 97.1?", "It reaches 95.2.", ("97.1",)),
        ("Is it true that 40% are cut?", "It cuts 25%.", ("40",)),
        ("Why does it take 2 steps?", "It takes steps.", ()),  # a lone digit may be a word there
        ("How does GPT4 do?", "It uses models.", ()),
        ("Why not?", "It uses 12 models.", ()),
    ],
)
def test_numbers_that_the_abstract_does_not_have(question: str, abstract: str, missing: tuple[str, ...]) -> None:
    assert checked(question, abstract).missing_numbers == missing


@pytest.mark.parametrize(
    ("question", "abstract", "conflicts"),
    [
        # a direction and its opposite, about the same thing
        (
            "Why does pruning increase memory use?",
            "We show that pruning reduces memory use.",
            (("increase", "reduces"),),
        ),
        ("How does the online variant learn?", "The offline variant learns from logs.", (("online", "offline"),)),
        ("Why is the routing static?", "The routing is dynamic for every token.", (("static", "dynamic"),)),
        ("Why is the supervised encoder good?", "We train an unsupervised encoder.", (("supervised", "unsupervised"),)),
        # the abstract has the asked direction too, or speaks of another thing: no conflict
        ("Why does pruning increase memory use?", "Pruning reduces memory use and may increase time.", ()),
        ("Why does pruning increase memory use?", "Caching reduces latency.", ()),
        ("Why does pruning reduce memory use?", "Pruning reduces memory use.", ()),
        # a denied word
        (
            "Why does gradient clipping help convergence?",
            "It converges without gradient clipping.",
            (("clipping", "without gradient clipping"),),
        ),
        ("Why is no clipping needed?", "It converges without gradient clipping.", ()),
        ("How does it converge without clipping?", "It converges without gradient clipping.", ()),
        # sides of "than" changed over
        (
            "Why is dense retrieval slower than sparse indexing?",
            "Sparse indexing takes more time than dense retrieval.",
            (("than", "the other way round"),),
        ),
        (
            "Why do large models generalize better than small models?",
            "We find that large models generalize better than small models.",
            (),
        ),
        # numbers changed over
        (
            "Why does the error go from 12 to 40?",
            "The error goes from 40 to 12.",
            (("12 to 40", "40 to 12"),),
        ),
        ("Why does the error go from 40 to 12?", "The error goes from 40 to 12.", ()),
        # open questions take nothing for granted
        ("Does pruning increase memory use?", "We show that pruning reduces memory use.", ()),
        ("Is gradient clipping necessary?", "It converges without gradient clipping.", ()),
        ("", "It converges without gradient clipping.", ()),
        ("Why does pruning help?", "", ()),
    ],
)
def test_contradictions(question: str, abstract: str, conflicts: tuple[tuple[str, str], ...]) -> None:
    assert checked(question, abstract).conflicts == conflicts


def test_a_contradiction_is_told_once_and_only_the_given_sentences_are_read() -> None:
    abstract = "Pruning reduces memory use. Pruning reduces memory use of models."
    question = "Why does pruning increase memory use?"
    assert checked(question, abstract).conflicts == (("increase", "reduces"),)
    assert check_premises(question, [], abstract) == Premises((), ())


def test_sides_changed_over_around_the_same_verb() -> None:
    question = "Why do large models generalize better than small models?"
    assert checked(question, "We find that small models generalize better than large models.").conflicts


@pytest.mark.parametrize(
    ("question", "abstract"),
    [
        ("How does pruning speed up models?", "Pruning speeds up models without pruning attention heads."),
        ("How does it improve accuracy?", "It improves accuracy without hurting accuracy elsewhere."),
    ],
)
def test_what_a_sentence_affirms_is_not_denied_by_it(question: str, abstract: str) -> None:
    assert checked(question, abstract).conflicts == ()
