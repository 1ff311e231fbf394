"""`python -m eval.seeds`: citewise on the seeds suite, everything fitted out of fold, by paper and by question.

`--blind FILE_OR_SUITE` measures a suite that nothing was fitted on with the packaged numbers instead.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from eval.calibrate import BLANK, fit, read_all, rows_of
from eval.cases import SUITES, Case, load_suite
from eval.fitting import FOLDS, FoldedLinear, fold_of
from eval.seeds_library import seeds_library
from rag.ask import Engine
from rag.calibration import Calibration, default_calibration
from rag.records import Answer, Paper


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case and its answer."""

    case: Case
    answer: Answer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, default=SUITES / "seeds")
    parser.add_argument(
        "--packaged", action="store_true", help="use rag/calibration.json instead of fitting out of fold"
    )
    parser.add_argument("--misses", action="store_true", help="print every case that is not right")
    options = parser.parse_args()
    cases = load_suite(options.suite)
    with seeds_library() as (library, embedder):
        engine = Engine(library, embedder, BLANK)
        calibrations: Callable[[Case], Calibration]
        if options.packaged:
            calibrations = lambda case: default_calibration()  # noqa: E731, ARG005
        else:
            calibrations = out_of_fold(engine, cases, library.view().papers)
        outcomes = [answered(engine.recalibrated(calibrations(case)), case) for case in cases]
        abstracts = {paper.id: paper.abstract for paper in library.view().papers}
    for line in table(outcomes, abstracts):
        print(line)
    if options.misses:
        for line in misses(outcomes):
            print(line)


def answered(engine: Engine, case: Case) -> Outcome:
    """The case with the engine's answer."""
    return Outcome(case, engine.ask(case.text, case.history, top=100))


def out_of_fold(engine: Engine, cases: Sequence[Case], papers: Sequence[Paper]) -> Callable[[Case], Calibration]:
    """For each case the numbers fitted without its fold; in a listing every paper is judged without its own fold too."""
    reads = read_all(engine, cases)
    training = rows_of(engine, reads, cases)
    fitted = [fit(reads, cases, training, fold) for fold in range(FOLDS)]

    def calibration(case: Case) -> Calibration:
        if case.kind != "listing":
            return fitted[fold_of(min(case.relevant | case.about, default=case.id))]
        own = fold_of(case.id)
        # Numbers fitted without the paper's fold have seen the question; so both folds are left out together.
        both = [fit_without(training, fold, own) for fold in range(FOLDS)]
        rows = [both[fold_of(paper.id)] for paper in papers]
        return replace(
            fitted[own],
            membership_term=FoldedLinear([term for term, _ in rows]),  # type: ignore[arg-type]
            membership_open=FoldedLinear([open_ for _, open_ in rows]),  # type: ignore[arg-type]
        )

    return calibration


def fit_without(training, paper_fold: int, question_fold: int):  # type: ignore[no-untyped-def]
    """Membership models fitted without a fold of papers and a fold of questions."""
    from eval.fitting import MEMBERSHIP_C, fit_logistic
    from rag.membership import OPEN_FEATURES, TERM_FEATURES

    kept = [
        rows.where((rows.paper_fold != paper_fold) & (rows.question_fold != question_fold))
        for rows in (training.term, training.open)
    ]
    return fit_logistic(kept[0], TERM_FEATURES, MEMBERSHIP_C), fit_logistic(kept[1], OPEN_FEATURES, MEMBERSHIP_C)


def table(outcomes: Sequence[Outcome], abstracts: dict[str, str]) -> list[str]:
    """The figures, a line each: name, value, number of cases."""
    of = defaultdict(list)
    for outcome in outcomes:
        of[outcome.case.kind, outcome.case.style].append(outcome)
        of[outcome.case.kind, ""].append(outcome)
    lines = []
    for style in ("named", "paraphrased"):
        some = of["question", style]
        for k in (1, 10):
            lines.append(_line(f"{style} questions: hit@{k}", [hit_at(o, k) for o in some]))
    lines.append(_line("follow-ups: hit@1", [hit_at(o, 1) for o in of["follow_up", ""]]))
    lines.append(_line("comparisons: R-precision", [r_precision(o) for o in of["comparison", ""]]))
    listings = of["listing", ""]
    lines.append(_line("listings: R-precision", [r_precision(o) for o in listings]))
    lines.append(_line("listings: F1", [listing_f1(o, neutral=True) for o in listings]))
    lines.append(
        _line("listings: F1, borderline papers counted as wrong", [listing_f1(o, neutral=False) for o in listings])
    )
    return [*lines, *_refusal_lines(outcomes), *_quote_lines(outcomes, listings, abstracts)]


def _refusal_lines(outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    refused = [o for o in outcomes if o.answer.refused]
    unanswerable = [o for o in outcomes if not o.case.answerable]
    lines.append(_line("refusals: precision", [float(not o.case.answerable) for o in refused]))
    lines.append(_line("refusals: recall", [float(o.answer.refused) for o in unanswerable]))
    for style in ("absent", "detail", "false_premise"):
        lines.append(
            _line(f"  recall, {style}", [float(o.answer.refused) for o in unanswerable if o.case.style == style])
        )
    return lines


def _quote_lines(outcomes: Sequence[Outcome], listings: Sequence[Outcome], abstracts: dict[str, str]) -> list[str]:
    lines = []
    quotes = [citation for o in outcomes for s in o.answer.sentences for citation in s.citations]
    exact = [float(abstracts[c.paper_id][c.start_char : c.end_char] == c.quote) for c in quotes]
    lines.append(_line("quotes verbatim at their offsets", exact))
    fact = [o for o in outcomes if o.case.kind in ("question", "follow_up", "comparison") and not o.answer.refused]
    lines.append(
        _line(
            "answers with a cited quote that overlaps a gold quote", [float(any(overlaps(o, abstracts))) for o in fact]
        )
    )
    lines.append(
        _line("cited quotes that overlap a gold quote", [float(x) for o in fact for x in overlaps(o, abstracts)])
    )
    lines.append(_line("  sentences an answer", [float(len(o.answer.sentences)) for o in fact]))
    gold = [o for o in listings if not o.answer.refused]
    lines.append(
        _line(
            "listings: quotes of right papers that overlap the gold quote",
            [float(x) for o in gold for x in overlaps(o, abstracts, True)],
        )
    )
    return lines


def hit_at(outcome: Outcome, k: int) -> float:
    """1 when one of the first k papers is relevant (whether or not the answer was a refusal), else 0."""
    return float(any(hit.paper.id in outcome.case.relevant for hit in outcome.answer.papers[:k]))


def r_precision(outcome: Outcome) -> float:
    """Share of relevant papers among the first R shown, R being how many are relevant; in a listing, of those listed."""
    wanted = outcome.case.relevant
    shown = () if outcome.answer.refused and outcome.case.kind == "listing" else outcome.answer.papers
    return sum(hit.paper.id in wanted for hit in shown[: len(wanted)]) / len(wanted)


def listing_f1(outcome: Outcome, neutral: bool) -> float:
    """F1 of the listed set; `neutral` leaves borderline papers out of it, as unjudged."""
    listed = set() if outcome.answer.refused else {hit.paper.id for hit in outcome.answer.papers}
    if neutral:
        listed -= outcome.case.borderline
    right = len(listed & outcome.case.relevant)
    return 2 * right / max(1, len(listed) + len(outcome.case.relevant))


def overlaps(outcome: Outcome, abstracts: dict[str, str], right_papers: bool = False) -> list[bool]:
    """For each cited quote whether it shares a character with a gold quote of the same paper."""
    found = []
    for sentence in outcome.answer.sentences:
        for citation in sentence.citations:
            if right_papers and citation.paper_id not in outcome.case.relevant:
                continue
            spans = []
            for gold in outcome.case.quotes:
                if gold.paper_id == citation.paper_id:
                    begin = abstracts[gold.paper_id].index(gold.quote)
                    spans.append((begin, begin + len(gold.quote)))
            found.append(any(citation.start_char < stop and begin < citation.end_char for begin, stop in spans))
    return found


def misses(outcomes: Sequence[Outcome]) -> list[str]:
    """Every case that is not right, with what was answered."""
    lines = []
    for o in outcomes:
        case, answer = o.case, o.answer
        first = answer.papers[0].label if answer.papers else "-"
        if case.kind == "unanswerable" and not answer.refused:
            lines.append(f"ANSWERED {case.id} [{case.style}] {case.text} -> {first}")
        elif case.answerable and answer.refused:
            lines.append(f"REFUSED {case.id} {case.text} -> {answer.answer[:160]}")
        elif case.kind in ("question", "follow_up") and not hit_at(o, 1):
            lines.append(f"MISSED {case.id} {case.text} -> {first}")
        elif case.kind in ("comparison", "listing") and (r_precision(o) < 1 or listing_f1(o, True) < 1):
            listed = [
                h.label[:30] + ("" if h.paper.id in case.relevant else " (!)")
                for h in answer.papers[: answer.total_matches or 4]
            ]
            lines.append(f"PART {case.id} rp {r_precision(o):.2f} f1 {listing_f1(o, True):.2f} {case.text} -> {listed}")
    return lines


def _line(name: str, values: Sequence[float]) -> str:
    shown = f"{np.mean(values):.3f}" if len(values) else "  -  "
    return f"{name:<60} {shown}  n={len(values)}"


if __name__ == "__main__":
    main()
