"""Parts for tests that run the real command: papers, the shape of answers and errors, users and disks that lack."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

PAPERS: tuple[dict[str, Any], ...] = (
    {
        "id": "ada",
        "title": "Ada Router",
        "abstract": "Mixture-of-experts (MoE) layers route each token to a fixed number of experts. We propose Ada "
        "Router, which lets each token choose how many experts it needs. It halves the compute on four benchmarks.",
        "authors": ["Ann Ahn", "Bo Berg"],
        "year": 2024,
        "venue": "ICLR",
        "keywords": ["moe", "routing"],
    },
    {
        "id": "shards",
        "abstract": "Low-rank adapters waste parameters. We introduce ShardMix, which picks shards from a shared pool "
        "with an MoE-like routing mechanism. ShardMix needs eight times fewer parameters than LoRA.",
        "year": 2025,
        "venue": "ICLR",
    },
    {
        "id": "slim",
        "abstract": "Knowledge distillation transfers the behaviour of a teacher to a smaller student. We introduce "
        "SlimKD, a distillation loss that ignores noisy teacher logits. SlimKD raises ImageNet accuracy by 2.1 points.",
        "year": 2023,
        "venue": "NeurIPS",
    },
    {
        "id": "bridge",
        "abstract": "Schrödinger bridges connect two distributions by a diffusion process. We train them by "
        "simulation-free regression and call the method BridgeFit. Samples are sharper at a tenth of the steps.",
        "year": 2024,
        "venue": "ICML",
    },
    {
        "id": "protein",
        "abstract": "Protein folding models need long training runs. FoldLite predicts structures from one "
        "sequence alone. On CASP15 it comes within 3% of the best model.",
        "year": 2024,
        "venue": "ICML",
    },
)

ANSWER_KEYS = (
    "id question standalone_question answer refused reason mode kind sentences papers total_matches library model "
    "timings_s usage warnings"
).split()
SEARCH_KEYS = "id question papers total_matches timings_s warnings".split()
PAPER_KEYS = "paper_id label title score quotes sources".split()
REASONS = {"no_evidence", "low_support", "model_declined", "false_premise", "empty_library"}
ABSTRACTS = {paper["id"]: paper["abstract"] for paper in PAPERS}


def write_papers(path: Path, papers: Sequence[Mapping[str, Any]] = PAPERS) -> Path:
    """The papers as JSON Lines in `path`."""
    path.write_text("".join(json.dumps(paper, ensure_ascii=False) + "\n" for paper in papers), encoding="utf-8")
    return path


def command_environment(**values: str) -> dict[str, str]:
    """This process's environment without settings of citewise, on one thread, so that tests leave room for others."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CITEWISE_")}
    return {**kept, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "COLUMNS": "80", **values}


Done = subprocess.CompletedProcess[str]


def at_once(runs: Mapping[str, Callable[[], Done]]) -> dict[str, Done]:
    """Several runs of the command that don't disturb each other, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        started = {name: pool.submit(run) for name, run in runs.items()}
        return {name: future.result() for name, future in started.items()}


def citewise(
    *arguments: object,
    stdin: str | bytes = b"",
    prefix: Sequence[str] = (),
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command as a user would and return what it printed, decoded as UTF-8, and its exit code."""
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "rag.cli", *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=cwd,
        env={**command_environment(), **(env or {})},
        timeout=120,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def succeed(*arguments: object, **options: Any) -> str:
    """Run the command, expect exit code 0 and return its stdout."""
    done = citewise(*arguments, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def object_of(*arguments: object, **options: Any) -> dict[str, Any]:
    """Run the command with --json, expect exit code 0 and one JSON object on stdout, and return it."""
    (line,) = succeed(*arguments, "--json", **options).splitlines()
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


def error_line(done: Done) -> str:
    """The one line that a command that failed (exit code 1) left on stderr, without its "citewise: "."""
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) == (1, 1), (done.returncode, done.stderr)
    assert lines[0].startswith("citewise: "), lines[0]
    assert "unexpected" not in lines[0] and "Traceback" not in lines[0], lines[0]
    return lines[0].removeprefix("citewise: ")


def assert_papers(papers: list[dict[str, Any]]) -> None:
    scores = [paper["score"] for paper in papers]
    assert scores == sorted(scores, reverse=True)
    for paper in papers:
        assert list(paper) == PAPER_KEYS
        assert 0 <= paper["score"] <= 1
        assert paper["sources"] and all(list(source) == ["file", "position"] for source in paper["sources"])
        for quote in paper["quotes"]:
            assert list(quote) == ["start_char", "end_char", "quote"]
            assert ABSTRACTS[paper["paper_id"]][quote["start_char"] : quote["end_char"]] == quote["quote"]


def assert_answer(answer: dict[str, Any]) -> None:
    """The shape that every answer has."""
    assert list(answer) == ANSWER_KEYS
    assert_papers(answer["papers"])
    assert answer["kind"] in ("question", "listing") and answer["mode"] == "quotes"
    assert list(answer["library"]) == ["generation", "embedder"]
    assert answer["model"] is None and answer["usage"] is None
    assert all(isinstance(seconds, float) for seconds in answer["timings_s"].values())
    assert isinstance(answer["warnings"], list)
    assert (answer["reason"] in REASONS) if answer["refused"] else (answer["reason"] is None)
    numbers = []
    for sentence in answer["sentences"]:
        assert list(sentence) == ["text", "verdict", "support", "citations", "unresolved"]
        assert sentence["verdict"] in ("supported", "unsupported", "unverified")
        for citation in sentence["citations"]:
            assert list(citation) == ["n", "paper_id", "start_char", "end_char", "quote"]
            abstract = ABSTRACTS[citation["paper_id"]]
            assert abstract[citation["start_char"] : citation["end_char"]] == citation["quote"]
            assert f"[{citation['n']}]" in answer["answer"]
            numbers.append(citation["n"])
    assert numbers == list(range(1, len(numbers) + 1))


def unprivileged() -> Sequence[str]:
    """What to put before a command so that a read-only folder stops it; skips the test where there is no way."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv"):
        other_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        # Where Python itself lies in a folder closed to other users: may read everything, write what it owns.
        reads_all = [*other_user, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        for prefix in (other_user, reads_all):
            tried = subprocess.run(
                [*prefix, sys.executable, "-c", "import rag.cli"],
                env=command_environment(),
                capture_output=True,
                check=False,
            )
            if tried.returncode == 0:
                return prefix
    pytest.skip("runs as root, which no mode bit stops, and can't become another user who may run Python")


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 8 MB."""
    folder.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("this user can't mount a small tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
