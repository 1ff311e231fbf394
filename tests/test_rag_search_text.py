"""The cleaned text for searching, and its map back to the abstract."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.search_text import search_text

CLEANED = [
    ("", ""),
    ("plain text.", "plain text."),
    ("eﬃcient ﬂow of ﬁne ﬅuﬀ", "efficient flow of fine stuff"),
    ("atten\u00adtion\u200b", "attention"),
    ("a\u00a0b\u2009c\r\nd  e", "a b c d e"),
    ("cafe\u0301 nai\u0308ve", "café naïve"),
    ("the model’s “own” state‑of‑the‑art …", 'the model\'s "own" state-of-the-art ...'),
    ("``engines\" and ``k''", '"engines" and "k"'),
    ("recently gained at- tention", "recently gained attention"),
    (
        "reduced expres- sivity. Empirical ev- idence of archi- tectural exam- ples.",
        "reduced expressivity. Empirical evidence of architectural examples.",
    ),
    ("towards human- like dialogue", "towards human-like dialogue"),
    ("pre-trained, large- scale models", "pre-trained, large-scale models"),
    ("self- supervised and non- convex", "self-supervised and non-convex"),
    ("information- theoretic, widely- used", "information-theoretic, widely-used"),
    ("condition- ing on in- put and reinforce- ment", "conditioning on input and reinforcement"),
    ("trade- offs here and trade-offs there", "trade-offs here and trade-offs there"),
    ("pre- and post-training, short- or long-term", "pre- and post-training, short- or long-term"),
    ("GPT- based is left, as is 3- fold", "GPT- based is left, as is 3- fold"),
    ("a - b, x -- y", "a - b, x -- y"),
    ("**De**scription-free **Mul**ti-prompt", "Description-free Multi-prompt"),
    ("the *linear Bellman* setting, _prompt learning_, `code`", "the linear Bellman setting, prompt learning, code"),
    ("a * b * c and snake_case_name and 2*3*4", "a * b * c and snake_case_name and 2*3*4"),
    ("see [our page](https://x.org/a).", "see our page."),
    ("\\textit{token selection} and {\\em i.e.}", "token selection and i.e."),
    ("$\\mathbf{1.75}\\times$ and **16$\\times\\uparrow$**", "1.75× and 16×↑"),
    ("$n \\times d$, $k$-means, $\\alpha$-approximation", "n × d, k-means, alpha-approximation"),
    ("$\\tilde{O}(n\\cdot d_{avg})$ in $O(n^2 d)$", "O(n· davg) in O(n2 d)"),
    ("$\\varepsilon > 0$, $\\frac{a}{b}$", "epsilon > 0, a b"),
    ('na\\"ive Schr\\"{o}dinger caf\\\'e', "naïve Schrödinger café"),
    ("95\\% of $5 and Smith~et al.", "95% of 5 and Smith et al."),
    ("\\url{https://x.org/a_b}", "https://x.org/a_b"),
    ("ＡＢＣ 𝐱 𝓛", "ABC x L"),
    ("模型很好。👩‍👩‍👧", "模型很好。👩‍👩‍👧"),
]


@pytest.mark.parametrize(("original", "cleaned"), CLEANED)
def test_cleaning(original: str, cleaned: str) -> None:
    assert search_text(original).text == cleaned


@pytest.mark.parametrize(
    ("original", "word", "expected"),
    [
        ("gained at- tention now", "attention", "at- tention"),
        ("an eﬃcient one", "efficient", "eﬃcient"),
        ("**Mul**ti-prompt", "Multi-prompt", "Mul**ti-prompt"),
        ("$\\tilde{O}(n)$ time", "O(n) time", "O}(n)$ time"),
        ('so na\\"ive it', "naïve", 'na\\"ive'),
        ("a\u00a0\u2009b", "a b", "a\u00a0\u2009b"),
        ("cafe\u0301s", "café", "cafe\u0301"),
    ],
)
def test_words_map_back_to_the_original(original: str, word: str, expected: str) -> None:
    cleaned = search_text(original)
    at = cleaned.text.index(word)
    start, end = cleaned.original_span(at, at + len(word))
    assert original[start:end] == expected


@pytest.mark.parametrize(("start", "end"), [(0, 0), (2, 1), (0, 5), (-1, 1)])
def test_no_span_of_nothing(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no such range"):
        search_text("abc").original_span(start, end)


MARKS = r"\textit{ } $ \alpha \'e ** * _ ` ﬁ ~ [a](https://b.c) `` ’ \ { ^2 x 模 𝐱 \% é".split()
PIECES = st.sampled_from([*MARKS, "at- tention", "pre- and", "\u00ad", "e\u0301", "\u00a0", " ", "\r\n", "\\, "])


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=60).map("".join)))
def test_map_is_sound_for_any_text(text: str) -> None:
    cleaned = search_text(text)
    assert len(cleaned.text) == len(cleaned.offsets) == len(cleaned.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(cleaned.offsets, cleaned.ends, strict=True))
    assert list(cleaned.offsets) == sorted(cleaned.offsets)
    assert list(cleaned.ends) == sorted(cleaned.ends)
    if cleaned.text:
        assert 0 <= cleaned.original_span(0, len(cleaned.text))[0] < len(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("abc XYZ.,;0123456789()模é"), max_size=200))
def test_text_without_marks_keeps_its_characters(text: str) -> None:
    cleaned = search_text(text)
    assert cleaned.text == " ".join(text.split(" ")) or "  " in text
    assert all(text[offset] == char for char, offset in zip(cleaned.text, cleaned.offsets, strict=True))
