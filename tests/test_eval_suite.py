"""The seeds suite against the seeds: ids, verbatim quotes, counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from eval.cases import SUITES, load_suite
from rag.abstracts import read_paths, to_paper
from rag.records import Record

ROOT = Path(__file__).parent.parent


def _abstracts() -> dict[str, str]:
    records = [record for record in read_paths([ROOT / "seeds"]) if isinstance(record, Record)]
    return {paper.id: paper.abstract for paper in map(to_paper, records)}


def test_every_quote_is_verbatim_and_every_paper_exists() -> None:
    abstracts = _abstracts()
    assert len(abstracts) == 88
    for case in load_suite(SUITES / "seeds"):
        for quote in case.quotes:
            assert quote.quote in abstracts[quote.paper_id], case.id
        assert case.relevant | case.borderline | case.about <= set(abstracts), case.id
        assert bool(case.relevant) == case.answerable, case.id


def test_the_suite_has_what_its_readme_says() -> None:
    cases = load_suite(SUITES / "seeds")
    kinds = Counter(case.kind for case in cases)
    assert kinds == {"question": 120, "comparison": 15, "follow_up": 10, "listing": 30, "unanswerable": 34}
    asked = {paper for case in cases if case.kind == "question" for paper in case.relevant}
    assert asked == set(_abstracts())
    assert all(case.history for case in cases if case.kind == "follow_up")
