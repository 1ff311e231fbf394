"""The `citewise` command: parses, calls, prints. Nothing heavy is imported before a command needs it.

Exit codes: 0 answered (a refusal is an answer), 1 a user's error told in one line, 2 wrong usage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from rag.errors import CitewiseError, InputError
from rag.output import print_facts, print_json

if TYPE_CHECKING:
    from rag.ask import Engine
    from rag.config import Settings
    from rag.index import Library

app = typer.Typer(
    name="citewise",
    help="Ask a pile of paper abstracts; every sentence of the answer points at the exact words it rests on.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help starts three times faster than rich-formatted help
    pretty_exceptions_enable=False,
)

LibraryOption = Annotated[
    Path | None,
    typer.Option("--library", help="Folder of the library [default: ./.citewise if there, else the user's]"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout; everything else goes to stderr")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", help="Only papers like 'year>=2024; venue=ICLR; source=seeds/*; keyword=moe' (all must hold)"
    ),
]
TopOption = Annotated[int | None, typer.Option("--top", min=1, max=1000, help="How many papers to show [default: 10]")]
BatchOption = Annotated[
    Path | None,
    typer.Option("--batch", help='JSON Lines of {"id","question","history"}; one JSON line each, same order'),
]


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files or folders of abstracts; - reads stdin")],
    library: LibraryOption = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Chunk and embed everything again with the present model")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read abstracts (.txt, .jsonl, .json) into the library; repeating it is safe and quick."""
    from rag.abstracts import read_paths
    from rag.config import library_folder
    from rag.display import print_summary, progress_bar
    from rag.embed import default_embedder
    from rag.index import Library

    settings = _settings(library=library)
    folder = library_folder(settings)
    embedder = default_embedder()
    records = read_paths(["-" if path == "-" else Path(path) for path in paths])
    with Library.create(folder, embedder.info, rebuild=rebuild) as opened, progress_bar(not as_json) as report:
        if rebuild:
            opened.rebuild(embedder)
        summary = opened.ingest(records, embedder, report, lock_timeout_s=settings.lock_timeout_s)
    if as_json:
        print_json(summary.as_json())
    else:
        print_summary(summary, folder)


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="The question, in quotes")] = None,
    library: LibraryOption = None,
    filters: FilterOption = None,
    top: TopOption = None,
    batch: BatchOption = None,
    model: Annotated[str | None, typer.Option(help="Language model to answer with [default: none, quotations]")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint of the model")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Drop sentences that their quotes don't support")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the library, with citations."""
    from rag.answer_json import answer_json

    settings = _settings(library=library, top=top, model=model, base_url=base_url)
    clauses = _clauses(filters)
    with _engine(settings) as engine:
        if batch is not None:
            _run_batch(
                batch,
                question,
                lambda line: answer_json(
                    engine.ask(line.question, line.history, clauses, settings.top, strict=strict, id_=line.id)
                ),
            )
            return
        answer = engine.ask(_need(question), (), clauses, settings.top, strict=strict)
    if as_json:
        print_json(answer_json(answer))
    else:
        from rag.display import print_answer

        print_answer(answer)


@app.command()
def search(
    query: Annotated[str | None, typer.Argument(help="What to look for, in quotes")] = None,
    library: LibraryOption = None,
    filters: FilterOption = None,
    top: TopOption = None,
    batch: BatchOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rank the library's papers for a query, without an answer."""
    from rag.answer_json import search_json

    settings = _settings(library=library, top=top)
    clauses = _clauses(filters)
    with _engine(settings) as engine:
        if batch is not None:
            _run_batch(
                batch,
                query,
                lambda line: search_json(
                    line.question, *engine.search(line.question, clauses, settings.top, line.history), line.id
                ),
            )
            return
        hits, total, timings = engine.search(_need(query), clauses, settings.top)
    if as_json:
        print_json(search_json(_need(query), hits, total, timings))
    else:
        from rag.display import print_hits

        print_hits(hits)


@app.command()
def export(
    format_: Annotated[str, typer.Option("--format", help="jsonl, bibtex, ris or csv")] = "jsonl",
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
    """Check that this machine can run citewise, and say what to do where it can't."""
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
    """Entry point: runs the command and turns every error into one line and an exit code."""
    try:
        app()
    except CitewiseError as error:
        typer.echo(f"citewise: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone; Python would complain again at exit
        sys.exit(0)
    except Exception as error:
        typer.echo(f"citewise: unexpected {type(error).__name__}: {' '.join(str(error).split())[:300]}", err=True)
        sys.exit(1)
    sys.exit(0)


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


def _need(text: str | None) -> str:
    if text is None:
        raise typer.BadParameter("give a question in quotes, or --batch FILE.jsonl")
    return text


def _run_batch(path: Path, question: str | None, answer: Callable[[Any], dict[str, Any]]) -> None:
    from rag.batch import read_batch

    if question is not None:
        raise typer.BadParameter("give either a question or --batch FILE.jsonl, not both")
    for line in read_batch(path):
        print_json(line.answered_by(answer), flush=True)


if __name__ == "__main__":
    main()
