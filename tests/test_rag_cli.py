"""The command as people and programs use it: what it prints, in which shape, and with which exit code."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_kit import (
    ABSTRACTS,
    PAPERS,
    SEARCH_KEYS,
    Done,
    assert_answer,
    assert_papers,
    at_once,
    citewise,
    command_environment,
    object_of,
    succeed,
    write_papers,
)

from rag.embed import PackagedMiniLM
from rag.index import Library
from rag.records import Paper


@pytest.fixture(scope="module")
def first_ingest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("cli")
    return folder / "lib", object_of("ingest", write_papers(folder / "papers.jsonl"), "--library", folder / "lib")


@pytest.fixture(scope="module")
def library(first_ingest: tuple[Path, dict[str, Any]]) -> Path:
    return first_ingest[0]


INGEST_KEYS = "read added updated unchanged merged rejected rejects_file papers chunks seconds".split()
QUESTION = "Which teacher logits does SlimKD ignore?"
BEES = "How do bees choose a new nest?"
TWO_FILTERS = ("--filter", "year>=2024; venue=ICML", "--filter", "source=*/papers.jsonl")
BATCH = r"""
{"id": 7, "question": "Which teacher logits does SlimKD ignore?", "gold": ["other keys", "are ignored"]}

{"id": "then", "question": "On how many benchmarks?", "history": [{"role": "user", "content": "What is Ada Router?"}]}
{"id": "empty", "question": " "}
not json
{"id": "surrogate", "question": "What is \ud800 BridgeFit?"}
{"id": "history", "question": "What is BridgeFit?", "history": "no list"}
{"id": "silent"}
["a list"]
{"question": "How do bees choose a new nest?"}
{"id": NaN, "question": "What is BridgeFit?"}
{"id": "listing", "question": "which papers study routing?", "history": null}
""".lstrip()
BATCH_IDS = [7, "then", "empty", None, "surrogate", "history", "silent", None, None, None, "listing"]
BATCH_ERRORS = {2: "bad_question", 3: "bad_input", 5: "bad_input", 6: "bad_input", 7: "bad_input", 9: "bad_input"}


@pytest.fixture(scope="module")
def runs(library: Path) -> dict[str, Done]:
    """The command's runs that leave the library as it is, by name."""
    batch = library.parent / "questions.jsonl"
    batch.write_text(BATCH, encoding="utf-8")
    plain: dict[str, tuple[object, ...]] = {
        "ask": ("ask", QUESTION),
        "ask --json": ("ask", QUESTION, "--json"),
        "ask --batch": ("ask", "--batch", batch, "--json", "--top", 2),
        "search --batch": ("search", "--batch", batch, "--json"),
        "search --json": ("search", "distillation of a teacher", *TWO_FILTERS, "--top", 1, "--json"),
        "status": ("status",),
        "status --json": ("status", "--json"),
        "doctor --json": ("doctor", "--json"),
        **{f"export {name}": ("export", "--format", name) for name in ("jsonl", "bibtex", "ris", "csv")},
    }
    calls = {name: partial(citewise, *arguments, "--library", library) for name, arguments in plain.items()}
    # In a locale that is not UTF-8.
    ascii_env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    calls["search"] = partial(citewise, "search", "bridges", "--top", 2, "--library", library, env=ascii_env)
    return at_once(calls)


def json_of(done: Done) -> dict[str, Any]:
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


def test_ingest_tells_what_it_did(first_ingest: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    _, summary = first_ingest
    assert list(summary) == INGEST_KEYS
    counts = {key: summary[key] for key in INGEST_KEYS[:-1]}
    assert counts == {
        "read": 5,
        "added": 5,
        "updated": 0,
        "unchanged": 0,
        "merged": 0,
        "rejected": 0,
        "rejects_file": None,
        "papers": 5,
        "chunks": 15,
    }


def test_ingest_of_standard_input_counts_each_kind_and_says_what_it_rejected(library: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(library, tmp_path / "lib")
    shutil.copy(library.parent / "papers.jsonl", tmp_path)
    renamed = {**PAPERS[2], "title": "SlimKD"}
    repeated = {"id": "other", "abstract": ABSTRACTS["ada"]}
    lines = [json.dumps(value) for value in (renamed, repeated)] + ["not json", '{"id": "empty"}']
    summary = object_of("ingest", "-", "--library", copy, stdin="\n".join(lines))
    assert summary["read"] == 4 == sum(summary[key] for key in INGEST_KEYS[1:6])
    assert (summary["rejected"], summary["papers"]) == (2, 5)
    rejects = [json.loads(line) for line in Path(summary["rejects_file"]).read_text(encoding="utf-8").splitlines()]
    assert [(one["file"], one["position"], one["reason"], one["raw"]) for one in rejects] == [
        ("-", 3, "not JSON: Expecting value", "not json"),
        ("-", 4, "no abstract", '{"id": "empty"}'),
    ]
    with Library.open(copy) as opened:
        assert {paper.id for paper in opened.papers()} == set(ABSTRACTS)


def test_a_repeated_ingest_changes_nothing_and_says_so_in_plain_words(library: Path) -> None:
    done = citewise("ingest", library.parent / "papers.jsonl", "--library", library)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("5 records read: 5 unchanged. 5 papers, 15 chunks in ")
    assert "\x1b" not in done.stderr


def test_a_question_is_answered_with_numbered_citations(runs: dict[str, Done]) -> None:
    answer = json_of(runs["ask --json"])
    assert_answer(answer)
    assert (answer["id"], answer["question"], answer["kind"]) == (None, QUESTION, "question")
    assert not answer["refused"] and answer["total_matches"] is None
    assert answer["sentences"][0]["citations"][0]["quote"].endswith("ignores noisy teacher logits.")
    assert answer["papers"][0]["paper_id"] == "slim"
    assert answer["library"]["generation"] >= 1 and answer["library"]["embedder"].startswith("all-MiniLM-L6-v2@")


def test_text_is_plain_when_piped(runs: dict[str, Done]) -> None:
    done = runs["ask"]
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert first == "We introduce SlimKD, a distillation loss that ignores noisy teacher logits. [1]"
    assert second.startswith("    [1] SlimKD") and second.endswith("papers.jsonl, abstract 3")
    assert done.stderr.startswith("Quotations only: ") and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_batch_gives_a_line_for_each_line_and_goes_on_after_a_bad_one(runs: dict[str, Done], command: str) -> None:
    done = runs[f"{command} --batch"]
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == BATCH_IDS
    for number, line in enumerate(lines):
        if number in BATCH_ERRORS:
            assert list(line) == ["id", "error"] and list(line["error"]) == ["code", "message"]
            assert line["error"]["code"] == BATCH_ERRORS[number]
            assert "\n" not in line["error"]["message"]
        elif command == "ask":
            assert_answer(line)
        else:
            assert list(line) == SEARCH_KEYS
            assert_papers(line["papers"])
            assert len(line["papers"]) == line["total_matches"] == 5
    assert lines[1]["papers"][0]["paper_id"] == "ada"
    assert lines[4]["question"] == "What is � BridgeFit?"


def test_a_batch_answers_follow_ups_listings_and_refuses(runs: dict[str, Done]) -> None:
    single = json_of(runs["ask --json"])
    first, follow_up, *_, bees, _, listing = map(json.loads, runs["ask --batch"].stdout.splitlines())
    assert {**first, "id": None, "timings_s": 0} == {**single, "papers": single["papers"][:2], "timings_s": 0}
    assert follow_up["sentences"][0]["text"] == "It halves the compute on four benchmarks."
    assert follow_up["standalone_question"] != follow_up["question"] == "On how many benchmarks?"
    assert bees["refused"] and bees["sentences"] == [] and 0 < len(bees["papers"]) <= 2
    # A listing is complete whatever --top says, a sentence a paper.
    assert (listing["kind"], listing["total_matches"]) == ("listing", 2)
    assert {paper["paper_id"] for paper in listing["papers"]} == {"ada", "shards"}
    cited = [sentence["citations"][0]["paper_id"] for sentence in listing["sentences"]]
    assert cited == [paper["paper_id"] for paper in listing["papers"]]


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_citations_are_coloured_on_a_terminal(library: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "rag.cli", "ask", "What does SlimKD ignore?", "--library", str(library)]
    env = {key: value for key, value in command_environment(TERM="xterm").items() if key != "NO_COLOR"}
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, env=env, timeout=60, check=False)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "\x1b[1;36m [1]\x1b[0m" in shown


def test_search_ranks_and_filters(runs: dict[str, Done]) -> None:
    found = json_of(runs["search --json"])
    assert list(found) == SEARCH_KEYS
    assert_papers(found["papers"])
    assert (len(found["papers"]), found["total_matches"], found["id"]) == (1, 2, None)
    assert found["papers"][0]["paper_id"] in ("bridge", "protein")


def test_search_as_text_is_utf8_in_every_locale(runs: dict[str, Done]) -> None:
    lines = runs["search"].stdout.splitlines()
    assert lines[0].startswith(" 1. Schrödinger bridges") and lines[1].startswith("    “")
    assert len(lines) == 4


def test_export_holds_every_field_of_every_paper_and_can_be_read_again(
    runs: dict[str, Done], library: Path, tmp_path: Path
) -> None:
    exported = runs["export jsonl"].stdout
    papers = [json.loads(line) for line in exported.splitlines()]
    names = [field.name for field in dataclasses.fields(Paper)]
    assert all(list(paper) == names for paper in papers)
    given = {paper["id"]: paper for paper in papers}["ada"]
    assert {name: given[name] for name in PAPERS[0]} == PAPERS[0]
    (tmp_path / "again.jsonl").write_text(exported, encoding="utf-8")
    copy = shutil.copytree(library, tmp_path / "lib")
    summary = object_of("ingest", tmp_path / "again.jsonl", "--library", copy)
    assert (summary["papers"], summary["added"], summary["rejected"]) == (5, 0, 0)


@pytest.mark.parametrize(("name", "begin"), [("bibtex", "@inproceedings{"), ("ris", "TY  - "), ("csv", "")])
def test_export_has_an_entry_a_paper(runs: dict[str, Done], name: str, begin: str) -> None:
    exported = runs[f"export {name}"].stdout
    lines = exported.replace("\r\n", "\n").splitlines()
    assert sum(line.startswith(begin) for line in lines) == (6 if name == "csv" else 5)
    assert "Schr" in exported and "ödinger bridges" in exported


def test_status_and_doctor(runs: dict[str, Done], library: Path) -> None:
    found = json_of(runs["status --json"])
    assert (found["folder"], found["papers"], found["chunks"]) == (str(library), 5, 15)
    assert found["embedder"]["name"] == "all-MiniLM-L6-v2" and found["embedder"]["dimension"] == 384
    assert "papers: 5\n" in runs["status"].stdout
    report = json_of(runs["doctor --json"])
    assert report["ok"] and all(check["ok"] for check in report["checks"])
    assert [list(check) for check in report["checks"]] == [["name", "ok", "detail"]] * len(report["checks"])
    assert f"5 papers in {library}" in [check["detail"] for check in report["checks"]]


def test_an_empty_library_says_what_to_do(tmp_path: Path) -> None:
    Library.create(tmp_path, PackagedMiniLM.info).close()
    answer = object_of("ask", "What is MoE?", "--library", tmp_path)
    assert answer["refused"] and answer["reason"] == "empty_library" and "citewise ingest PATH" in answer["answer"]
    assert "citewise ingest PATH" in succeed("search", "What is MoE?", "--library", tmp_path)
