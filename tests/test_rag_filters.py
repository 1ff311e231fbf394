"""`--filter`: its grammar, and which papers meet it."""

from __future__ import annotations

import pytest

from rag.errors import InputError
from rag.filters import Clause, parse_filter, passes
from rag.records import Paper, Source

PAPERS = (
    Paper("a", "A.", venue="ICLR 2024", year=2024, keywords=("Graphs", "MoE"), sources=(Source("iclr/a.jsonl", 3),)),
    Paper("b", "B.", venue="NeurIPS", year=2023, keywords=("graph neural networks",), sources=(Source("b.txt", 1),)),
    Paper("c", "C.", venue="Straße", year=999, sources=(Source("b.txt", 2), Source("iclr/c.jsonl", 1))),
    Paper("d", "D."),
)


@pytest.mark.parametrize(
    ("expressions", "ids"),
    [
        ((), "abcd"),
        (("year=2024",), "a"),
        (("year!=2024",), "bcd"),
        (("year<2024",), "bc"),
        (("year<=2023",), "bc"),
        (("year>2023",), "a"),
        (("year>=2023",), "ab"),
        (("year>=0999",), "abc"),
        ((" YEAR  >=  2023 ",), "ab"),
        (("venue=iclr",), "a"),
        (("venue=ICLR",), "a"),
        (("venue=I",), "ab"),
        (("venue!=iclr",), "bcd"),
        (("venue=STRASSE",), "c"),
        (("venue=iclr*",), "a"),
        (("venue=clr*",), ""),
        (("venue=*2024",), "a"),
        (("venue=n?urips",), "b"),
        (("venue=n?rips",), ""),
        (("keyword=graph",), "ab"),
        (("keyword=graph*",), "ab"),
        (("keyword=graph?",), "a"),
        (("keyword!=graph",), "cd"),
        (("source=iclr/",), "ac"),
        (("source=*.txt",), "bc"),
        (("source!=b.txt",), "ad"),
        (("year>=2023; venue=neurips",), "b"),
        (("year>=2023", "venue=neurips"), "b"),
        (("year>=2023;", "", " ; keyword!=moe ;"), "b"),
        (("keyword=graph neural",), "b"),
        (("venue!=iclr; venue!=neurips",), "cd"),
    ],
)
def test_papers_that_pass(expressions: tuple[str, ...], ids: str) -> None:
    clauses = parse_filter(expressions)
    assert "".join(paper.id for paper in PAPERS if passes(paper, clauses)) == ids


def test_clauses_come_in_order_with_the_value_as_written() -> None:
    assert parse_filter(["Venue = ICLR  2024; year<=2024", "keyword!=a=b"]) == (
        Clause("venue", "=", "ICLR  2024"),
        Clause("year", "<=", "2024"),
        Clause("keyword", "!=", "a=b"),
    )


def test_marks_of_patterns_that_are_not_in_the_grammar_are_letters() -> None:
    paper = Paper("a", "A.", venue="Workshop [XAI]")
    assert passes(paper, parse_filter(["venue=[xai]"]))
    assert not passes(paper, parse_filter(["venue=workshop [y]"]))


def test_brackets_in_a_pattern_are_letters() -> None:
    paper = Paper("a", "A.", venue="Workshop [XAI]")
    assert passes(paper, parse_filter(["venue=*[xai]"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2024", r"filter '2024' can't be read: write e\.g\. --filter"),
        ("title=x", "filter 'title=x' can't be read"),
        ("year", "can't be read"),
        ("year=", "can't be read"),
        ("venue=  ", "can't be read"),
        ("=2024", "can't be read"),
        ("year==2024", "a year is a whole number"),
        ("year=twenty", "a year is a whole number"),
        ("year=-1", "a year is a whole number"),
        ("year=2024.5", "a year is a whole number"),
        ("year=20245", "a year is a whole number"),
        ("venue<ICLR", "venue takes = or !="),
        ("keyword>=x", "keyword takes = or !="),
        ("source > x", "source takes = or !="),
    ],
)
def test_what_cannot_be_read_is_an_error_with_the_grammar(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        parse_filter([f"year>2000; {text}"])
    assert "year>=2024; venue=ICLR" in str(caught.value)
    assert caught.value.code == "bad_input"


@pytest.mark.parametrize("year", ["２０２４", "²⁰²⁴", "٢٠٢٤"])
def test_digits_of_other_scripts_are_years_or_an_error(year: str) -> None:
    try:
        clauses = parse_filter([f"year={year}"])
    except InputError:
        return
    assert [paper.id for paper in PAPERS if passes(paper, clauses)] == ["a"]
