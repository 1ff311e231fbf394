"""Sentence boundaries where texts are put together: known sentences, formulas, links and brackets.

That spans are exact, ordered and complete for any text, and single boundaries, is tested in `test_rag_chunks.py`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.sentences import sentence_spans

KNOWN = (
    "We study graphs, e.g. Trees, and their limits.",
    "Doikov et al. (2023) assume it.",
    "This holds, i.e. Theorem 2 applies to all.",
    "We show it in Fig. 3 and in Eq. (4).",
    "Accuracy rises from 95.2 to 97.1.",
    "Let $x. Y$ be a point of $f(a.b)$.",
    "D. E. Knuth and J. R. R. Tolkien wrote it.",
    "Is it so?",
    "They win!",
    "She has a Ph.D. in physics.",
    "It uses GPT-3.5 (cf. Sec. 2.1).",
    "We call it “Ada-K.”",
    "Its code is at https://x.org/a.b?c=D.E.",
    "The e\u0301tude has 12 parts, resp. Twelve chapters.",
    "Dr. Smith, Prof. Jones and Mr. Wu agree w.r.t. Lemma 1.",
    "Models such as LLaMA vs. Mistral differ.",
)
BLANKS = (" ", "  ", "\n", "\r\n", "\u00a0", "\u2009", "\u202f", "\u3000", "\t", " \n ", "\n\n", "\r\n\r\n")


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("sentence", KNOWN)
def test_a_sentence_is_one(sentence: str) -> None:
    assert cut(sentence) == [sentence]
    assert cut(f"\n {sentence}\u00a0") == [sentence]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KNOWN), st.sampled_from(BLANKS)), max_size=8))
def test_sentences_put_together_come_apart_again(parts: list[tuple[str, str]]) -> None:
    assert cut("".join(f"{sentence}{blank}" for sentence, blank in parts)) == [sentence for sentence, _ in parts]


WHOLE = (
    "$x. Y$",
    "$$a. B$$",
    r"\(p. Q\)",
    r"\[u. V\]",
    r"\begin{align}a. B\end{align}",
    "(see there. It works! Does it? Yes.)",
    "[as in A. We know. 12]",
    "{a. We. B}",
    "https://a.org/We.The?It.x=1",
    "www.x.org/A.B",
    "（模型。很好）",
    "GPT-3.5",
    "e.g. Trees",
    "i.e. We",
    "0.5",
    "Fig. 3",
    "et al. (2023)",
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from((*WHOLE, "word", "and", "we see", "the end. We", "is? The")), min_size=1, max_size=12))
def test_formulas_links_brackets_and_abbreviations_are_never_cut(parts: list[str]) -> None:
    text = " ".join(parts)
    spans = sentence_spans(text)
    at = 0
    for part in parts:
        if part in WHOLE:
            assert any(start <= at and at + len(part) <= end for start, end in spans), (part, cut(text))
        at += len(part) + 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is (open. We go on.", ["It is (open.", "We go on."]),
        ("It costs $5. We pay.", ["It costs $5.", "We pay."]),
        ("It is $x$. We see $y$.", ["It is $x$.", "We see $y$."]),
        ("A) It is so. B) We see.", ["A) It is so.", "B) We see."]),
        ("It is (so). We (see.) They go.", ["It is (so).", "We (see.)", "They go."]),
        ("模型（很好。真的）。我们提出！", ["模型（很好。真的）。", "我们提出！"]),
        ("He asked “why?” and left. We stayed.", ["He asked “why?” and left.", "We stayed."]),
        ("Yahoo! is old. We use it.", ["Yahoo! is old.", "We use it."]),
        ("We met at 5 p.m. on Monday.", ["We met at 5 p.m. on Monday."]),
        ("See Smith, A. and Jones, B. for it.", ["See Smith, A. and Jones, B. for it."]),
        ("This uses Algorithm 2. We show why.", ["This uses Algorithm 2.", "We show why."]),
        ("We won by 3.5. Then 2.1 fell.", ["We won by 3.5.", "Then 2.1 fell."]),
        ("Results (Tab. 2, Fig. 3b) hold. Cf. App. A.", ["Results (Tab. 2, Fig. 3b) hold.", "Cf. App. A."]),
    ],
)
def test_boundaries(text: str, expected: list[str]) -> None:
    assert cut(text) == expected
