"""The `citewise` command: parses, calls, prints. Nothing heavy is imported before a command needs it.

Exit codes: 0 answered (a refusal is an answer), 1 a user's error told in one line, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from rag.batch import run_batch
from rag.errors import InputError, MissingPath
from rag.options import BatchOption, FilterOption, JsonOption, LibraryOption, TopOption, VersionOption
from rag.output import clean_text, print_facts, print_json, run

if TYPE_CHECKING:
    from rag.ask import Engine
    from rag.config import Settings
    from rag.index import Library
    from rag.records import Reject

app = typer.Typer(
    name="citewise",
    help="Ask a pile of paper abstracts; every sentence of the answer points at the exact words it rests on.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help starts three times faster than rich-formatted help
    pretty_exceptions_enable=False,
)


@app.callback()
def _citewise(version: VersionOption = False) -> None: ...


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files or folders of abstracts; - reads stdin")],
    library: LibraryOption = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Chunk and embed everything again with the present model")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read files of abstracts into the library.

    Plain text (.txt, .md: a heading, then abstracts separated by blank lines) and JSON records (.jsonl, .json), each
    also as .gz. Repeating it is safe and quick: only what is new is embedded.
    """
    from rag.abstracts import read_paths
    from rag.config import library_folder
    from rag.display import describe_rejects, noting_rejects, print_summary, progress_bar
    from rag.embed import default_embedder
    from rag.index import Library

    if "" in paths:  # an unset variable must not mean the working folder and all that is below it
        raise MissingPath("a path is empty: name files or folders, . for the working folder or - for standard input")
    settings = _settings(library=library)
    folder = library_folder(settings)
    embedder = default_embedder()
    rejects: list[Reject] = []
    records = noting_rejects(rejects, read_paths(["-" if path == "-" else Path(path) for path in paths]))
    with Library.create(folder, embedder.info, rebuild=rebuild) as opened, progress_bar(not as_json) as report:
        if rebuild:
            opened.rebuild(embedder, report, settings.lock_timeout_s)
        summary = opened.ingest(records, embedder, report, lock_timeout_s=settings.lock_timeout_s)
    nothing_read = bool(rejects) and summary.rejected == summary.read
    if as_json:
        print_json(summary.as_json())
    elif not nothing_read:
        print_summary(summary, folder)
    if nothing_read:
        raise InputError(f"nothing could be read: {describe_rejects(rejects)}; details are in {summary.rejects_file}")


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="The question, in quotes")] = None,
    library: LibraryOption = None,
    filters: FilterOption = None,
    top: TopOption = None,
    batch: BatchOption = None,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="Language model to answer with [default: none, quotations]")
    ] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint of the model")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Drop sentences that their quotes don't support")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the library, with citations."""
    from rag.answer_json import answer_json

    text = _text(question, batch)
    settings = _settings(library=library, top=top, model=model, base_url=base_url)
    clauses = _clauses(filters)
    with _engine(settings) as engine:
        if batch is not None:
            run_batch(
                batch,
                lambda line: answer_json(engine.ask(line.question, line.history, clauses, settings.top, strict=strict)),
            )
            return
        answer = engine.ask(text, (), clauses, settings.top, strict=strict)
    if as_json:
        print_json(answer_json(answer))
    else:
        from rag.display import print_answer

        print_answer(answer)


@app.command()
def search(
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="What to look for, in quotes")] = None,
    library: LibraryOption = None,
    filters: FilterOption = None,
    top: TopOption = None,
    batch: BatchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rank the library's papers for a query, without an answer."""
    from rag.answer_json import search_json

    text = _text(query, batch)
    settings = _settings(library=library, top=top)
    clauses = _clauses(filters)
    with _engine(settings) as engine:
        if batch is not None:
            run_batch(
                batch,
                lambda line: search_json(
                    line.question, *engine.search(line.question, clauses, settings.top, line.history)
                ),
            )
            return
        hits, total, timings = engine.search(text, clauses, settings.top)
    if as_json:
        print_json(search_json(text, hits, total, timings))
    else:
        from rag.display import print_hits

        print_hits(hits)


@app.command()
def export(
    format_: Annotated[str, typer.Option("--format", metavar="F", help="jsonl, bibtex, ris or csv")] = "jsonl",
    library: LibraryOption = None,
) -> None:
    """Write every paper of the library to stdout."""
    from rag.export import FORMATS

    if format_ not in FORMATS:
        raise InputError(f"unknown format {format_!r}: choose one of {', '.join(FORMATS)}")
    with _library(_settings(library=library)) as opened:
        for text in FORMATS[format_](opened.papers()):
            sys.stdout.write(text)


@app.command()
def status(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """What the library holds and what it was made with."""
    with _library(_settings(library=library)) as opened:
        found = opened.status().as_json()
    print_facts(found, as_json)


@app.command()
def doctor(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Check this machine and the library.

    Says what to do where something is wrong; then the exit code is 1.
    """
    from rag.doctor import examine

    checks = examine(_settings(library=library))
    if as_json:
        print_json({"ok": all(check["ok"] for check in checks), "checks": checks})
    else:
        for check in checks:
            typer.echo(f"{'ok  ' if check['ok'] else 'FAIL'} {check['name']}: {check['detail']}")
    if not all(check["ok"] for check in checks):
        raise typer.Exit(1)


def main() -> NoReturn:
    """Entry point."""
    sys.exit(run(app))


def _settings(**flags: Any) -> Settings:
    from rag.config import load_settings

    return load_settings(flags)


def _clauses(filters: list[str] | None) -> tuple[Any, ...]:
    from rag.filters import parse_filter

    return parse_filter(filters or ())


def _library(settings: Settings) -> Library:
    from rag.config import library_folder
    from rag.index import Library

    return Library.open(library_folder(settings))


def _engine(settings: Settings) -> Engine:
    from rag.ask import Engine
    from rag.embed import default_embedder

    if settings.model is not None:
        raise InputError(
            f"this version answers by quotations only and can't use the model {settings.model!r}: "
            "leave out --model and CITEWISE_MODEL"
        )
    return Engine(_library(settings), default_embedder())


def _text(question: str | None, batch: Path | None) -> str:
    """The question as text that can be stored and printed; empty where a batch brings the questions."""
    if (question is None) == (batch is None):
        raise typer.BadParameter("give either a question in quotes or --batch FILE.jsonl")
    return clean_text(question or "")


if __name__ == "__main__":
    main()
