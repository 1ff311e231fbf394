"""Chunks: exact offsets over any text, and sentence boundaries where a reader sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.abstracts import read_paths
from rag.chunks import sentence_chunks, sentence_spans
from rag.long_sentences import MAX_CHUNK_CHARS
from rag.records import Paper, Record

SEEDS = Path(__file__).parent.parent / "seeds"

# "|" marks the boundary that a reader sees; it stands for the white space there, or for none.
BOUNDARIES = [
    "We study X, e.g. Graphs, and i.e. Trees.| It works.",
    "Doikov et al. (2023) assume it.| We do not.",
    "We follow Smith et al.| The method is new.",
    "See Fig. 3 and Figs. 4 and 5.| See Eq. 2 and Sec. 4.1.| Done.",
    "A vs. B, cf. Table 2, w.r.t. Theorem 3.| Next.",
    "Dr. Jones and Prof. Smith met Mrs. Hall.| They agreed.",
    "It is No. 5 of the list.| The answer is No.",
    "Accuracy is 95.2 % at 0.5.| Then 3.1 falls.",
    "Let $x. y$ be it.| For $\\{a. B\\}$ too.| Here $f(x) = 1.$| We are done.",
    "J. K. Rowling and D. E. Knuth wrote it.| We read it.",
    "In the U.S. Senate it passed.| The U.S. House agreed.| It left the U.S.| The end.",
    "Code: https://x.org/a.b?c=d.E.| We thank all.",
    "Shown before (Von Oswald et al., 2023a; Bai et al., 2024).| This is new.",
    "It does three things.| 1) We add.| 2) We cut.| 3) We test.",
    "Aims: (i) it is fast.| (ii) it is small.",
    "He said “it works.”| She said 'no.'| They left.",
    "Is it so?| (Perhaps.)| Is it?| Yes!| Good.",
    "Good results.|We propose more.| See torch.nn.Linear for it.",
    "模型很好。|我们提出新方法！|为什么？|“因为如此。”|结束",
    "No-break\u00a0space.|\u00a0Thin space.|\u2009The end.",
    "And so on...| We stop… and go on.| Stop…| Then go.",
    "Is it possible to win, i.e., at all?| We think so.",
    "Recall drops (e.g. experiment. Simulation), too.| We task.",
    "The occurrence of CF.| Through analyses, we see.",
    "We use i.i.d. examples.| This is crucial e.g. in safety.",
    "Results improve.| iVideoGPT is faster.| pFedMe is not.",
    "It is version 2.| However, version 3. 5 is odd.",
    "Group S5.| For models, it runs 3x faster.",
    "A line\r\nwrapped here.| New one.\r\n\r\n|A paragraph without a stop\r\n\r\n|The last",
    "Points:\n|- one thing\n|- another thing\n|- the last",
    "Trained in 2021.| 5 models did well.",
    "It costs $5.| Then it costs $10 million.| We pay.",
    "A question [12].| As shown.[13]| We know.",
    "We built an app.| It works, see Sec. A and Ref. 3.| It says no.| The end.",
    "**It is bold.**| *It is slanted.*| Plain.",
    "यह ठीक है।| यह भी।| هل هذا جيد؟| نعم.",
    "Smith Inc. reports gains.| We sold to Acme Corp.| The second fell.",
]


def _cut(marked: str) -> list[str]:
    return [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("marked", BOUNDARIES)
def test_sentences_end_where_a_reader_sees_them(marked: str) -> None:
    text = marked.replace("|", "")
    assert [text[start:end] for start, end in sentence_spans(text)] == _cut(marked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\u2003 ", []),
        ("word", [(0, 4)]),
        ("  A b.  ", [(2, 6)]),
        ("...", [(0, 3)]),
        ("It is so. ...", [(0, 13)]),
    ],
)
def test_spans_of_texts_without_sentences(text: str, expected: list[tuple[int, int]]) -> None:
    assert sentence_spans(text) == expected


def test_long_sentence_is_cut_at_the_clause_nearest_its_middle() -> None:
    left, right = "a" * 10 + " b" * 190, "c" * 10 + " d" * 190
    text = f"{left}; {right}."
    assert [text[start:end] for start, end in sentence_spans(text)] == [f"{left};", f"{right}."]


def test_sentence_of_600_characters_stays_whole() -> None:
    text = "a; " * 199 + "ab."
    assert len(text) == 600
    assert sentence_spans(text) == [(0, 600)]


def test_text_without_blanks_is_cut_between_characters_that_do_not_join() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = family * 500
    spans = sentence_spans(text)
    assert all((end - start) % len(family) == 0 and end - start <= MAX_CHUNK_CHARS for start, end in spans)
    assert "".join(text[start:end] for start, end in spans) == text


@pytest.mark.parametrize("word", ["a", "a ", "; ", "(", "$", "🇫🇷", "\u0301"])
def test_a_million_characters_without_sentences(word: str) -> None:
    text = word * (1_000_000 // len(word))
    spans = sentence_spans(text)
    assert all(0 < end - start <= MAX_CHUNK_CHARS for start, end in spans)
    assert sum(end - start for start, end in spans) <= len(text)


WORDS = r"中文。 👩‍👩‍👧 🇫🇷 \frac{a}{b} ( ) [1] $ \( … ” https://a.b/c.".split()
BLANKS = [
    "e\u0301",
    "$x. y$",
    "\u00a0",
    "\u2009",
    "\r\n",
    "\r",
    "\n\n",
    ". ",
    "? ",
    "e.g. ",
    "; ",
    "We propose ",
    "1) ",
]
FRAGMENTS = st.sampled_from([*WORDS, *BLANKS, "et al. ", "x" * 300])
TEXTS = st.one_of(st.text(max_size=400), st.lists(st.one_of(FRAGMENTS, st.text(max_size=5)), max_size=60).map("".join))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_offsets_are_exact_for_any_text(text: str) -> None:
    chunks = sentence_chunks(Paper(id="p", abstract=text))
    at = 0
    for chunk in chunks:
        assert text[chunk.start_char : chunk.end_char] == chunk.text == chunk.text.strip() != ""
        assert len(chunk.text) <= MAX_CHUNK_CHARS
        assert chunk.start_char >= at
        assert not text[at : chunk.start_char].strip()
        at = chunk.end_char
    assert not text[at:].strip()


@settings(max_examples=20, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab .;$(\u0301"), min_size=1100, max_size=3000))
def test_long_texts_keep_the_bound(text: str) -> None:
    assert all(0 < end - start <= MAX_CHUNK_CHARS for start, end in sentence_spans(text))


def test_seeds_have_the_sentences_that_were_read_in_them() -> None:
    records = [item for item in read_paths([SEEDS]) if isinstance(item, Record)]
    abstracts = dict.fromkeys(record.abstract for record in records)
    sentences = [abstract[start:end] for abstract in abstracts for start, end in sentence_spans(abstract)]
    assert len(sentences) == 743
    assert [s for s in sentences if s[-1] not in ".?!”" and not s.endswith(("/", ")"))] == []
    assert max(map(len, sentences)) <= 600
    assert (
        "To this end, our method first samples an initial set of i.i.d. examples from a black box generative model."
        in (sentences)
    )
