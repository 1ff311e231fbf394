"""`python -m eval.calibrate`: fit the numbers of `rag/calibration.json` on the seeds suite, print and write them.

`rows_of` is also what the out-of-fold measurement (`python -m eval.seeds`) fits on, fold by fold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.cases import SUITES, Case, load_suite
from eval.fitting import ANSWERABLE_C, MEMBERSHIP_C, Rows, fit_logistic, fit_sentence, fold_of, with_threshold
from eval.seeds_library import seeds_library
from rag.answerable import ANSWERABLE_FEATURES, judge
from rag.ask import Engine, Read
from rag.calibration import Calibration, Linear
from rag.corpus import Corpus
from rag.evidence import PAPER_FEATURES, SENTENCE_FEATURES, rank_sentences, sentence_features
from rag.membership import OPEN_FEATURES, TERM_FEATURES, is_term_criterion, membership_features

TARGET = Path(__file__).parent.parent / "rag" / "calibration.json"
BLANK = Calibration(
    Linear(PAPER_FEATURES, (1.0,)),
    Linear(SENTENCE_FEATURES, (0.0,) * len(SENTENCE_FEATURES)),
    Linear(TERM_FEATURES, (0.0,) * len(TERM_FEATURES)),
    Linear(OPEN_FEATURES, (0.0,) * len(OPEN_FEATURES)),
    Linear(ANSWERABLE_FEATURES, (0.0,) * len(ANSWERABLE_FEATURES), threshold=0.0),
)

Reads = Mapping[str, Read]


@dataclass(frozen=True)
class Training:
    """The rows of every model. `answerable` needs sentence weights, so it is made after them."""

    paper: Rows
    sentence: Rows
    term: Rows
    open: Rows


def main() -> None:
    """Fit on the whole suite and write `rag/calibration.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, default=SUITES / "seeds")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    cases = load_suite(options.suite)
    with seeds_library() as (library, embedder):
        engine = Engine(library, embedder, BLANK)
        reads = read_all(engine, cases)
        calibration = fit(reads, cases, rows_of(engine, reads, cases))
    text = json.dumps(as_json(calibration), indent=1) + "\n"
    options.out.write_text(text, encoding="utf-8")
    print(text)


def read_all(engine: Engine, cases: Sequence[Case]) -> Reads:
    """Every case as read by the engine, by its id: what no fitted number changes."""
    return {case.id: engine.read(case.text, case.history) for case in cases}


def fit(reads: Reads, cases: Sequence[Case], training: Training, leave_out: int | None = None) -> Calibration:
    """The calibration fitted on all rows but those whose paper or question is in fold `leave_out`."""
    sentence = fit_sentence(_without(training.sentence, leave_out), SENTENCE_FEATURES)
    answers = answerable_rows(reads, cases, sentence)
    kept = _without(answers, leave_out)
    return Calibration(
        fit_sentence(_without(training.paper, leave_out), PAPER_FEATURES),
        sentence,
        fit_logistic(_without(training.term, leave_out), TERM_FEATURES, MEMBERSHIP_C),
        fit_logistic(_without(training.open, leave_out), OPEN_FEATURES, MEMBERSHIP_C),
        with_threshold(fit_logistic(kept, ANSWERABLE_FEATURES, ANSWERABLE_C), kept),
    )


def _without(rows: Rows, fold: int | None) -> Rows:
    return rows if fold is None else rows.where((rows.paper_fold != fold) & (rows.question_fold != fold))


def rows_of(engine: Engine, reads: Reads, cases: Sequence[Case]) -> Training:
    """The training rows of the cases."""
    paper, sentence, term, open_ = _Table(), _Table(), _Table(), _Table()
    for number, case in enumerate(cases):
        if case.kind in ("question", "comparison", "follow_up"):
            _add_sentences(reads[case.id], case, number, sentence)
        elif case.kind == "listing":
            _add_members(engine, reads[case.id], case, number, term, open_)
        if case.kind in ("question", "follow_up"):
            _add_papers(reads[case.id], case, number, paper)
    return Training(paper.rows(), sentence.rows(), term.rows(), open_.rows())


def answerable_rows(reads: Reads, cases: Sequence[Case], sentence: Linear) -> Rows:
    """One row a question with or without an answer: features of the paper that retrieval finds for it."""
    table = _Table()
    for number, case in enumerate(cases):
        read = reads[case.id]
        if case.kind not in ("question", "follow_up", "unanswerable") or read.question.form == "listing":
            continue
        corpus, best = read.corpus, read.ranking.best
        ranked = rank_sentences(
            sentence_features(read.question, read.signals, corpus, best),
            np.array(sentence.weights),
            corpus.spans[best][0],
        )
        features = judge(read.question, read.talk, read.named, corpus, ranked).features
        about = min(case.relevant | case.about, default=case.id)
        table.add(features, case.answerable, number, fold_of(about), fold_of(about))
    return table.rows()


def right_sentences(case: Case, corpus: Corpus, paper: int) -> list[bool]:
    """Whether each sentence of a paper overlaps a gold quote of the case."""
    abstract = corpus.view.papers[paper].abstract
    gold = [quote.quote for quote in case.quotes if quote.paper_id == corpus.view.papers[paper].id]
    spans = [(abstract.index(quote), abstract.index(quote) + len(quote)) for quote in gold]
    start, end = corpus.spans[paper]
    chunks = corpus.view.sentences[start:end]
    return [any(chunk.start_char < stop and begin < chunk.end_char for begin, stop in spans) for chunk in chunks]


def _add_papers(read: Read, case: Case, number: int, table: _Table) -> None:
    fold = fold_of(min(case.relevant))
    for paper, total in zip(read.corpus.view.papers, read.ranking.total - read.ranking.total.mean(), strict=True):
        table.add([total], paper.id in case.relevant, number, fold, fold)


def _add_sentences(read: Read, case: Case, number: int, table: _Table) -> None:
    for offset, paper_id in enumerate(sorted(case.relevant)):
        paper = read.corpus.view.index_of[paper_id]
        features = sentence_features(read.question, read.signals, read.corpus, paper)
        for row, right in zip(features, right_sentences(case, read.corpus, paper), strict=True):
            table.add(row, right, number * 10 + offset, fold_of(paper_id), fold_of(paper_id))


def _add_members(engine: Engine, read: Read, case: Case, number: int, term: _Table, open_: _Table) -> None:
    for part in read.question.alternatives:
        criterion = engine.criterion(part, read.corpus)
        is_term = is_term_criterion(criterion.widened)
        features = membership_features(criterion.widened, criterion.literal, read.corpus, is_term)
        for row, paper in zip(features, read.corpus.view.papers, strict=True):
            if paper.id not in case.borderline:
                table = term if is_term else open_
                table.add(row, paper.id in case.relevant, number, fold_of(paper.id), fold_of(case.id))


class _Table:
    """Rows in the making."""

    def __init__(self) -> None:
        self._features: list[object] = []
        self._rest: list[tuple[bool, int, int, int]] = []

    def add(self, features: object, label: bool, group: int, paper_fold: int, question_fold: int) -> None:
        self._features.append(features)
        self._rest.append((label, group, paper_fold, question_fold))

    def rows(self) -> Rows:
        label, group, paper, question = (np.array(column) for column in zip(*self._rest, strict=True))
        return Rows(np.array(self._features, dtype=np.float64), label.astype(bool), group, paper, question)


def as_json(calibration: Calibration) -> dict[str, object]:
    """The calibration as it is stored: features, weights (6 significant digits), intercept, threshold."""
    models = {
        "paper": calibration.paper,
        "sentence": calibration.sentence,
        "membership_term": calibration.membership_term,
        "membership_open": calibration.membership_open,
        "answerable": calibration.answerable,
    }
    return {
        name: {
            "features": list(model.features),
            "weights": [float(f"{weight:.6g}") for weight in model.weights],
            "intercept": float(f"{model.intercept:.6g}"),
            "threshold": model.threshold,
        }
        for name, model in models.items()
    }


if __name__ == "__main__":
    main()
