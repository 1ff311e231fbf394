"""Quotes are cut at their offsets and numbered; what an abstract says can't act in Markdown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from corpus_kit import ABSTRACTS, corpus_of

from rag.corpus import Corpus
from rag.records import Chunk, Citation, Quote, Sentence
from rag.verify import Drafted, hits, markdown, quote_of, verified

CJK = "e\u0301 模型很好。👩‍👩‍👧 We\u00a0win; “x”.\r\n\r\nIt costs $x. y$ only."
# The sentences of the library in order: ada 0-2, birds 3-4, cjk 5-7, eeg 8-9, mos 10-12, rain 13-14, zeta 15-16.
FIRST_OF = {"ada": 0, "birds": 3, "cjk": 5, "eeg": 8, "mos": 10, "rain": 13, "zeta": 15}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of(tmp_path_factory.mktemp("verify") / "lib", {**ABSTRACTS, "cjk": CJK})


def test_every_sentence_is_cut_from_its_abstract(corpus: Corpus) -> None:
    abstracts = {**ABSTRACTS, "cjk": CJK}
    for number, chunk in enumerate(corpus.view.sentences):
        quote = quote_of(corpus, number)
        assert quote.quote == chunk.text == abstracts[chunk.paper_id][quote.start_char : quote.end_char] != ""


def test_offsets_count_code_points(corpus: Corpus) -> None:
    assert quote_of(corpus, FIRST_OF["ada"]) == Quote(0, 39, "Experts of a sparse model cost compute.")
    assert quote_of(corpus, FIRST_OF["cjk"]) == Quote(0, 8, "e\u0301 模型很好。")
    assert quote_of(corpus, FIRST_OF["cjk"] + 1) == Quote(8, 26, "👩‍👩‍👧 We\u00a0win; “x”.")
    assert quote_of(corpus, FIRST_OF["cjk"] + 2) == Quote(30, 51, "It costs $x. y$ only.")


@pytest.mark.parametrize(
    "wrong",
    [Chunk("ada", 0, 38, "Experts of another model cost compute"), Chunk("mos", 0, 39, "Experts of a sparse model")],
)
def test_offsets_that_lie_are_not_believed(wrong: Chunk, corpus: Corpus) -> None:
    lying = replace(corpus, view=replace(corpus.view, sentences=(wrong, *corpus.view.sentences[1:])))
    with pytest.raises(AssertionError, match="chunk 0 is not the words of paper ada"):
        quote_of(lying, 0)
    with pytest.raises(AssertionError):
        verified([Drafted("{quote}", (0,))], lying)


def test_citations_are_numbered_from_one_and_a_quote_keeps_its_number(corpus: Corpus) -> None:
    birds, rain = FIRST_OF["birds"], FIRST_OF["rain"]
    drafts = [Drafted("{quote}", (rain,)), Drafted("Birds: “{quote}”", (birds, rain)), Drafted("No quote.", ())]
    one = Citation(1, "rain", 0, 36, "Forecasts of rain matter to farmers.")
    two = Citation(2, "birds", 0, 24, "Birds migrate in autumn.")
    assert verified(drafts, corpus) == (
        Sentence(one.quote, (one,), 1.0, "supported"),
        Sentence(f"Birds: “{two.quote}”", (two, one), 1.0, "supported"),
        Sentence("No quote.", (), 1.0, "supported"),
    )
    assert verified([], corpus) == ()


def test_hits_carry_papers_labels_scores_and_quotes(corpus: Corpus) -> None:
    found = hits(corpus, [4, 0], [0.9, 0.25], [[FIRST_OF["mos"] + 1, FIRST_OF["mos"]], []])
    assert [hit.paper.id for hit in found] == ["mos", "ada"]
    assert [hit.label for hit in found] == ["MoS", "Ada-K"]
    assert [hit.score for hit in found] == [0.9, 0.25]
    assert [quote.quote for quote in found[0].quotes] == [
        "We propose MoS, which shares shards of adapters across layers.",
        "Adapters such as LoRA are rigid.",
    ]
    assert found[1].quotes == ()
    assert hits(corpus, [], [], []) == ()
    with pytest.raises(ValueError, match="shorter"):
        hits(corpus, [4, 0], [0.9], [[], []])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, $5 and $x_i$ & *stars*", "plain, $5 and $x_i$ & *stars*"),
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("a < b", "a &lt; b"),
        ("![pixel](https://x.y/z.png)", "!\\[pixel]\\(https://x.y/z.png)"),
        ("[click](javascript:x)", "[click]\\(javascript:x)"),
        ("![a](b) ![c](d)", "!\\[a]\\(b) !\\[c]\\(d)"),
        ("see [1] and f(x)", "see [1] and f(x)"),
        ("", ""),
    ],
)
def test_markup_of_an_abstract_stays_text(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_a_line_of_an_abstract_defines_no_link() -> None:
    line = markdown("[1]: https://x.y/z\nWe win.").splitlines()[0]
    assert not re.match(r" {0,3}\[[^\]]+\]:", line)
