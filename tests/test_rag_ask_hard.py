"""Questions that lead an answer astray: filters, comparisons of what is not there, the whole library, negation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus_kit import ABSTRACTS, engine_over, records_of

from rag.ask import Engine
from rag.embed import PackagedMiniLM
from rag.filters import parse_filter
from rag.records import Answer, Record, Source


@pytest.fixture(scope="module")
def embedder() -> PackagedMiniLM:
    return PackagedMiniLM(threads=1)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, embedder: PackagedMiniLM) -> Iterator[Engine]:
    with engine_over(tmp_path_factory.mktemp("hard") / "lib", records_of(ABSTRACTS), embedder) as engine:
        yield engine


def cited(answer: Answer) -> set[str]:
    return {citation.paper_id for sentence in answer.sentences for citation in sentence.citations}


# ada, eeg and rain are of 2020; birds, mos and zeta of 2021.
@pytest.mark.parametrize("question", ["What does MoS share?", "Which papers propose adapters?", "birds", "And LoRA?"])
def test_no_paper_that_the_filter_leaves_out_is_shown(question: str, engine: Engine) -> None:
    answer = engine.ask(question, clauses=parse_filter(["year=2020"]))
    assert {hit.paper.year for hit in answer.papers} == {2020}
    assert cited(answer) <= {"ada", "eeg", "rain"}


def test_a_comparison_keeps_to_the_filter(engine: Engine) -> None:
    answer = engine.ask("compare Ada-K, MoS, storks and rain", clauses=parse_filter(["year=2020"]))
    assert {hit.paper.year for hit in answer.papers} == {2020}
    assert cited(answer) <= {"ada", "eeg", "rain"}


@pytest.mark.parametrize(
    "question",
    [
        "Compare blockchain consensus with tungsten carbide mining",
        "What is the difference between sourdough and rye bread?",
        "compare Ada-K with GPT-4",
    ],
)
def test_a_comparison_of_what_is_not_there_quotes_nothing_for_it(question: str, engine: Engine) -> None:
    answer = engine.ask(question)
    assert answer.refused or cited(answer) == {"ada"}
    assert "ada" not in cited(answer) or "Ada-K" in question


def test_a_paper_compared_with_itself_brings_no_other_in(engine: Engine) -> None:
    assert cited(engine.ask("compare Ada-K and Ada-K")) == {"ada"}


@pytest.mark.parametrize(
    "question", ["list all papers", "which papers are there?", "How many papers are in the corpus?", "有多少篇论文？"]
)
def test_a_listing_without_a_criterion_has_every_paper(question: str, engine: Engine) -> None:
    answer = engine.ask(question, top=1)
    assert answer.total_matches == len(answer.papers) == len(ABSTRACTS)


@pytest.mark.parametrize("question", ["list papers not about birds", "which papers are not about birds?"])
def test_a_negated_listing_does_not_list_what_it_excludes(question: str, engine: Engine) -> None:
    assert "birds" not in {hit.paper.id for hit in engine.ask(question).papers[:1]}


HARD = {
    "link": "[1]: https://evil.example/x\nWe study the nests of birds in the north.",
    "braces": "We study {quote} and the {n} kinds of fish in rivers.",
    "cjk": "模型很好。我们提出一种预测降雨的新方法。",
    "marks": "!!! ??? …",
}


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory, embedder: PackagedMiniLM) -> Iterator[Engine]:
    records = [*records_of(HARD), Record("We study the songs of whales.", Source("b", 1), "whale", title="{quote} $n")]
    with engine_over(tmp_path_factory.mktemp("odd") / "lib", records, embedder) as engine:
        yield engine


def test_odd_abstracts_are_quoted_as_they_are(hard: Engine) -> None:
    assert hard.ask("Which fish live in rivers?").sentences[0].text == HARD["braces"]
    assert "我们提出一种预测降雨的新方法。" in hard.ask("预测降雨的新方法是什么？").answer
    for question in ("what is this?", "list papers on marks", "a vs b", "which papers study 🙂?"):
        answer = hard.ask(question)
        assert all(
            hit.paper.abstract[q.start_char : q.end_char] == q.quote for hit in answer.papers for q in hit.quotes
        )


def test_a_title_with_the_words_of_a_template(hard: Engine) -> None:
    answer = hard.ask("which papers study songs of whales?")
    assert answer.sentences[0].text.startswith("{quote} $n (")
    assert "“We study the songs of whales.”" in answer.sentences[0].text


def test_no_line_of_an_answer_defines_a_link(hard: Engine) -> None:
    answer = hard.ask("What is studied about nests of birds in the north?")
    assert "birds" in answer.answer
    assert not any(line.lstrip().startswith("[1]:") for line in answer.answer.splitlines())


@pytest.mark.parametrize("papers", [{}, {"one": ABSTRACTS["ada"]}, {"one": "…"}])
def test_tiny_libraries(papers: dict[str, str], tmp_path: Path, embedder: PackagedMiniLM) -> None:
    with engine_over(tmp_path / "lib", records_of(papers), embedder) as tiny:
        for question in ("What is Ada-K?", "list papers on experts", "Ada-K vs MoS", "compare each of two works: why?"):
            answer = tiny.ask(question)
            assert {hit.paper.id for hit in answer.papers} <= set(papers)
            assert all(0.0 <= hit.score <= 1.0 for hit in answer.papers)
            assert answer.refused == (not answer.sentences)
