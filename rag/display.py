"""Answers, search results and progress on a terminal: coloured there, plain text when piped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from rag.records import Answer, Citation, Hit, Paper, Record, Reject

if TYPE_CHECKING:
    from rag.index import IngestSummary, Progress

QUOTES_NOTE = "Quotations only: no language model is connected, so the answer is made of the abstracts' own sentences."
_PALETTE = ("cyan", "green", "magenta", "yellow", "blue", "red")


def console(stderr: bool = False) -> Console:
    """A console that neither wraps nor colours when its output is not a terminal."""
    made = Console(stderr=stderr, highlight=False, emoji=False, markup=False)
    if not made.is_terminal:
        made.soft_wrap = True
    return made


def print_answer(answer: Answer) -> None:
    """The answer, each sentence with its numbered citations and under it where the quote stands."""
    out = console()
    papers = {hit.paper.id: hit for hit in answer.papers}
    if answer.standalone_question != answer.question:
        out.print(Text(f"Read as: {answer.standalone_question}", style="italic"))
    for sentence in answer.sentences:
        text = Text(sentence.text)
        for citation in sentence.citations:
            text.append(f" [{citation.n}]", style=_colour(citation.n))
        _indented(out, text, 0)
        for citation in sentence.citations:
            _print_citation(out, citation, papers.get(citation.paper_id), shown=citation.quote in sentence.text)
    if answer.refused or not answer.sentences:
        _indented(out, Text(answer.answer.strip(), style="bold" if answer.refused else ""), 0)
    if answer.total_matches is not None and not answer.refused:
        noun = "paper matches" if answer.total_matches == 1 else "papers match"
        out.print(Text(f"{answer.total_matches} {noun}.", style="bold"))
    for warning in answer.warnings:
        console(stderr=True).print(Text(f"warning: {warning}", style="yellow"))
    if answer.mode == "quotes":
        console(stderr=True).print(Text(QUOTES_NOTE, style="dim"))


def _print_citation(out: Console, citation: Citation, hit: Hit | None, shown: bool) -> None:
    where = f" · {_where(hit.paper)}" if hit else ""
    name = hit.label if hit else citation.paper_id
    head = Text(f"[{citation.n}] ", style=_colour(citation.n)).append(f"{name}{where}", style="dim")
    _indented(out, head, 4)
    if not shown:
        _indented(out, Text(f"“{citation.quote}”", style="italic"), 8)


def print_hits(hits: Iterable[Hit]) -> None:
    """Ranked papers with their score and best quote."""
    out = console()
    rank = 0
    for rank, hit in enumerate(hits, start=1):
        head = Text(f"{rank:>2}. ", style="bold").append(hit.label, style=_colour(rank))
        _indented(out, head.append(f"  {hit.score:.2f} · {_where(hit.paper)}", style="dim"), 0)
        for quote in hit.quotes[:1]:
            _indented(out, Text(f"“{quote.quote}”"), 4)
    if rank == 0:
        out.print(Text("No papers: the library is empty, add abstracts with `citewise ingest PATH`.", style="bold"))


def print_summary(summary: IngestSummary, folder: object) -> None:
    """One line on what an ingest did, and where rejected records are."""
    parts = [
        (summary.added, "added"),
        (summary.updated, "updated"),
        (summary.merged, "merged into a paper already there"),
    ]
    parts += [(summary.unchanged, "unchanged"), (summary.rejected, "rejected")]
    told = ", ".join(f"{count} {what}" for count, what in parts if count) or "nothing new"
    out = console(stderr=True)
    out.print(
        Text(f"{_counted(summary.read, 'record')} read: {told}. ")
        .append(f"{_counted(summary.papers, 'paper')}, {_counted(summary.chunks, 'chunk')} in {folder}")
        .append(f" ({summary.seconds:.1f} s)", style="dim")
    )  # fmt: skip
    if summary.rejects_file:
        out.print(Text(f"What was rejected and why: {summary.rejects_file}", style="yellow"))


def noting_rejects(rejects: list[Reject], records: Iterable[Record | Reject]) -> Iterator[Record | Reject]:
    """The same records; the first four rejects among them are also added to `rejects`."""
    for record in records:
        if isinstance(record, Reject) and len(rejects) < 4:
            rejects.append(record)
        yield record


def describe_rejects(rejects: list[Reject]) -> str:
    """Where and why, for the first three; three dots when there are more."""
    told = [f"{one.file}{f', record {one.position}' if one.position else ''}: {one.reason}" for one in rejects[:3]] + [
        "..."
    ] * (len(rejects) > 3)
    return "; ".join(told)


@contextmanager
def progress_bar(enabled: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A progress bar on stderr for an ingest, or None where stderr is not a terminal or `enabled` is false."""
    err = console(stderr=True)
    if not (enabled and err.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"), TimeElapsedColumn())
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task("reading", total=None, count="")

        def update(progress: Progress) -> None:
            done, total = progress.done_records, progress.total
            count = f"{done} done" if total is None else f"{done} of {total}"
            bar.update(task, completed=done, total=total, description=progress.phase, count=count)

        yield update


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _where(paper: Paper) -> str:
    known = [str(part) for part in (", ".join(paper.authors[:2]), paper.venue, paper.year) if part]
    first = paper.sources[0] if paper.sources else None
    place = f"{first.file}, abstract {first.position}" if first else paper.id
    more = f" (+{len(paper.sources) - 1} more)" if len(paper.sources) > 1 else ""
    return ", ".join([*known, place + more])


def _indented(out: Console, text: Text, left: int) -> None:
    if out.is_terminal:
        out.print(Padding(text, (0, 0, 0, left), expand=False))
    else:
        out.print(Text(" " * left).append_text(text), soft_wrap=True)


def _colour(number: int) -> str:
    return f"bold {_PALETTE[(number - 1) % len(_PALETTE)]}"
