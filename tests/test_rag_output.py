"""How the command ends: exit codes, one line for an error, output that can't be written, and what `--help` costs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest
from cli_kit import (
    PAPERS,
    ROOT,
    Done,
    at_once,
    citewise,
    command_environment,
    error_line,
    succeed,
    write_papers,
)

from rag.index import Library

USAGE = {
    "no question": ("ask",),
    "question and batch": ("ask", "a question", "--batch", "questions.jsonl"),
    "top of zero": ("ask", "a question", "--top", "0"),
    "no path": ("ingest",),
    "no such command": ("sing",),
    "no such option": ("status", "--yaml"),
}
ERRORS: dict[str, tuple[tuple[str, ...], dict[str, str], str]] = {
    "no library": (("status",), {}, "there is no library at {none}; make one with `citewise ingest PATH"),
    "filter": (("ask", "q", "--filter", "year=new"), {}, "filter 'year=new': a year is a whole number; write e.g."),
    "model": (("ask", "q", "--model", "some-model"), {}, "this version answers by quotations only"),
    "format": (("export", "--format", "word"), {}, "unknown format 'word': choose one of jsonl, bibtex, ris, csv"),
    "setting": (("status",), {"CITEWISE_TPO": "3"}, "unknown setting CITEWISE_TPO in the environment; did you mean "),
    "value": (("status",), {"CITEWISE_TOP": "ten"}, "CITEWISE_TOP in the environment is 'ten', it should be a valid"),
    "empty path": (("ingest", ""), {}, "a path is empty: name files or folders"),
    "no batch": (("ask", "--batch", "no.jsonl", "--library", "{library}"), {}, "no such file: no.jsonl"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("output")
    succeed("ingest", write_papers(folder / "papers.jsonl"), "--library", folder / "lib")
    return folder / "lib"


@pytest.fixture(scope="module")
def runs(library: Path) -> dict[str, Done]:
    """The runs of both tables by name."""
    calls: dict[str, Callable[[], Done]] = {}
    none = library.parent / "none"
    for name, arguments in USAGE.items():
        where = ("--library", none) if arguments[0] == "ask" else ()
        calls[name] = partial(citewise, *arguments, *where)
    for name, (arguments, env, _) in ERRORS.items():
        where = () if "--library" in arguments else ("--library", none)
        filled = [argument.format(library=library) for argument in arguments]
        calls[name] = partial(citewise, *filled, *where, env=env)
    return at_once(calls)


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_is_exit_code_2(runs: dict[str, Done], name: str) -> None:
    done = runs[name]
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: ") and "Error: " in done.stderr


@pytest.mark.parametrize("name", ERRORS)
def test_a_users_error_is_one_line_and_exit_code_1(runs: dict[str, Done], library: Path, name: str) -> None:
    none = library.parent / "none"
    assert runs[name].stdout == ""
    assert error_line(runs[name]).startswith(ERRORS[name][2].format(none=none))
    assert not none.exists()


def test_a_settings_file_is_named_in_its_errors(tmp_path: Path) -> None:
    (tmp_path / "citewise.toml").write_text('top = "ten"\n', encoding="utf-8")
    line = error_line(citewise("status", cwd=tmp_path))
    assert line == f"top in {tmp_path / 'citewise.toml'} is 'ten', it should be a valid integer"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_leaves_or_a_full_device_makes_no_traceback(library: Path) -> None:
    command = f"{sys.executable} -m rag.cli export --library {library}"
    gone = 'exec 3>&1; { %s; echo "exit code $?" >&3; } 2>&3 | true' % command  # noqa: UP031
    env = command_environment()
    done = subprocess.run(["bash", "-c", gone], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "exit code 0\n"
    if Path("/dev/full").exists():
        with Path("/dev/full").open("w") as full:
            written = subprocess.run(
                command.split(), env=env, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
            )
        written.stdout = ""
        assert "No space left on device" in error_line(written)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupted_ingest_says_what_is_kept(library: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(library, tmp_path / "lib")
    pipe = tmp_path / "papers.jsonl"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "rag.cli", "ingest", str(pipe), "--library", str(copy)]
    # The command waits for what the pipe brings; opening it here waits for the command.
    with (
        subprocess.Popen(command, env=command_environment(), stderr=subprocess.PIPE, text=True) as process,
        pipe.open("w"),
    ):
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert said.startswith("citewise: interrupted; ") and len(said.splitlines()) == 1
    with Library.open(copy) as opened:
        assert {paper.id for paper in opened.papers()} == {paper["id"] for paper in PAPERS}


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rag.cli", "--help"],
        cwd=tmp_path,
        env=command_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert {"typer", "rag"} <= imported
    assert not imported & {
        "chromadb",
        "gradio",
        "llama_index",
        "numpy",
        "onnxruntime",
        "openai",
        "pydantic",
        "rich",
        "tantivy",
        "tokenizers",
    }
    assert "ingest" in done.stdout and "..." not in done.stdout.split("Commands:")[1]


def test_completion_knows_the_commands() -> None:
    env = command_environment(_CITEWISE_COMPLETE="complete_bash", COMP_WORDS="citewise ex", COMP_CWORD="1")
    code = "import sys; sys.argv = ['citewise']; import rag.cli; rag.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["export"]


@pytest.mark.skipif(
    not any(True for _ in metadata.distributions(name="citewise")), reason="citewise is not installed, only its source"
)
def test_the_installed_command_finds_its_own_packages(tmp_path: Path) -> None:
    """From another folder and with nothing but what is installed (-I), no other `ui` or `eval` comes first."""
    code = "import json, rag.cli, ui, eval; print(json.dumps([m.__file__ for m in (rag, ui, eval)]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    files = [Path(file).resolve() for file in json.loads(done.stdout)]
    assert [file.parent.name for file in files] == ["rag", "ui", "eval"]
    assert len({file.parent.parent for file in files}) == 1
    assert files[0].parent.parent in (
        ROOT.resolve(),
        Path(str(metadata.distribution("citewise").locate_file(""))).resolve(),
    )
    (script,) = metadata.distribution("citewise").entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("citewise", "rag.cli:main")
