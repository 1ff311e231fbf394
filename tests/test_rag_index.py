from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from library_kit import HashingEmbedder, contents, environment, make_record

from rag.embed import EmbedderInfo
from rag.errors import (
    CorruptLibrary,
    EmbedderError,
    EmbedderMismatch,
    InputError,
    LibraryBusy,
    MissingLibrary,
)
from rag.index import Library, Progress
from rag.locking import writer_lock
from rag.records import Chunk, Record, Reject, Source

EMBEDDER = HashingEmbedder()


def fresh(folder: Path, *records: Record | Reject, exact_limit: int = 60_000) -> Library:
    library = Library.create(folder / "lib", EMBEDDER.info, exact_limit=exact_limit)
    library.ingest(records, HashingEmbedder())
    return library


def counted(library: Library, *records: Record | Reject) -> dict[str, int]:
    """The outcomes that are not zero, and how many texts were embedded."""
    embedder = HashingEmbedder()
    summary = library.ingest(records, embedder)
    outcomes = {name: getattr(summary, name) for name in ("added", "updated", "unchanged", "merged", "rejected")}
    assert summary.read == sum(outcomes.values()) == len(records)
    return {name: n for name, n in outcomes.items() if n} | ({"embedded": embedder.texts} if embedder.texts else {})


def test_a_view_lines_up_papers_sentences_and_vectors(tmp_path: Path) -> None:
    with fresh(tmp_path, make_record(2), make_record(1), make_record(3, abstract="Only one sentence.")) as library:
        view = library.view()
    assert [paper.id for paper in view.papers] == ["k1", "k2", "k3"]
    assert view.sentences == (
        Chunk("k1", 0, 39, "Pruning of models is studied in work 1."),
        Chunk("k1", 40, 68, "We find that method m1 wins."),
        Chunk("k2", 0, 44, "Distillation of models is studied in work 2."),
        Chunk("k2", 45, 73, "We find that method m2 wins."),
        Chunk("k3", 0, 18, "Only one sentence."),
    )
    assert view.sentence_paper.tolist() == [0, 0, 1, 1, 2]
    assert view.sentence_paper.dtype == np.int32
    assert view.paper_vectors.shape == (3, 64)
    assert view.sentence_vectors.shape == (5, 64)
    assert view.paper_vectors.dtype == view.sentence_vectors.dtype == np.float32
    assert view.index_of == {"k1": 0, "k2": 1, "k3": 2}
    assert view.complete
    for chunk in view.sentences:
        assert view.papers[view.index_of[chunk.paper_id]].abstract[chunk.start_char : chunk.end_char] == chunk.text
    expected = EMBEDDER.embed(["Pruning 1\n" + make_record(1).abstract, "We find that method m1 wins."])
    np.testing.assert_allclose(view.paper_vectors[0], expected[0], atol=1e-6)
    np.testing.assert_allclose(view.sentence_vectors[1], expected[1], atol=1e-6)
    assert not view.paper_vectors.flags.writeable


def test_an_empty_library_has_an_empty_view(tmp_path: Path) -> None:
    with fresh(tmp_path) as library:
        view = library.view()
        assert (view.papers, view.sentences, view.generation) == ((), (), 0)
        assert view.paper_vectors.shape == view.sentence_vectors.shape == (0, 64)
        assert view.lexical.bm25("routing") == {}
        assert library.candidates(np.ones(64, np.float32), "routing", 5).papers == ()


OUTCOMES: dict[str, tuple[list[Record], list[Record], dict[str, int]]] = {
    "the same again": ([make_record(1)], [make_record(1)], {"unchanged": 1}),
    "twice in one batch": ([], [make_record(1), make_record(1)], {"added": 1, "unchanged": 1, "embedded": 3}),
    "another file": ([make_record(1)], [make_record(1, "b.jsonl")], {"merged": 1}),
    "another place of the same file": (
        [make_record(1)],
        [replace(make_record(1), source=Source("a.jsonl", 9))],
        {"merged": 1},
    ),
    "another case and dash": (
        [make_record(1, abstract="Mixture-of-experts routing.")],
        [make_record(2, abstract="MIXTURE–OF–EXPERTS routing.")],
        {"merged": 1},
    ),
    "a venue is new": ([make_record(1)], [make_record(1, venue="ICLR")], {"updated": 1}),
    "a title changed": ([make_record(1)], [make_record(1, title="Another")], {"updated": 1, "embedded": 3}),
    "a venue is gone": ([make_record(1, venue="ICLR")], [make_record(1)], {"unchanged": 1}),
    "same key, other text": ([make_record(1)], [make_record(2, key="k1")], {"added": 1, "embedded": 3}),
    "other key, same text": ([make_record(1)], [make_record(2, abstract=make_record(1).abstract)], {"merged": 1}),
    "no key, same text": (
        [make_record(1)],
        [make_record(2, key=None, abstract=make_record(1).abstract)],
        {"merged": 1},
    ),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_each_record_has_one_outcome(tmp_path: Path, case: str) -> None:
    before, then, expected = OUTCOMES[case]
    with fresh(tmp_path, *before) as library:
        assert counted(library, *then) == expected
        # Whatever it was, it is known now.
        again = counted(library, *then)
        assert again == {"unchanged": len(then)}


def test_an_update_keeps_what_the_new_record_lacks(tmp_path: Path) -> None:
    first = make_record(1, venue="ICLR", year=2024, authors=("A. B.",), title="Old")
    with fresh(tmp_path, first) as library:
        library.ingest([make_record(1, venue="ICML", title=None, keywords=("moe",))], EMBEDDER)
        (paper,) = library.papers()
    assert (paper.title, paper.venue, paper.year, paper.authors, paper.keywords) == (
        "Old",
        "ICML",
        2024,
        ("A. B.",),
        ("moe",),
    )


def test_another_source_without_the_key_fills_gaps_and_overrules_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path, make_record(1, venue="ICLR", year=None)) as library:
        library.ingest([make_record(1, "b.txt", key=None, venue="arXiv", year=2023, title=None)], EMBEDDER)
        (paper,) = library.papers()
    assert (paper.venue, paper.year) == ("ICLR", 2023)
    assert paper.sources == (Source("a.jsonl", 1), Source("b.txt", 1))


def test_the_first_id_stays_and_the_other_key_still_finds_the_paper(tmp_path: Path) -> None:
    twin = make_record(2, abstract=make_record(1).abstract)
    with fresh(tmp_path, make_record(1), twin) as library:
        assert [paper.id for paper in library.papers()] == ["k1"]
        found = library.paper("k2")
        assert found is not None and found.id == "k1" and len(found.sources) == 2
        assert library.paper("k3") is None
        # The alias is taken: another text under that key gets a name of its own.
        library.ingest([make_record(3, key="k2")], EMBEDDER)
        assert [paper.id[:3] for paper in library.papers()] == ["k1", "k2~"]


def test_a_place_in_a_file_belongs_to_the_paper_last_read_there(tmp_path: Path) -> None:
    """A record put in at the top of a file moves all others by one; nobody gets a second place for that."""

    def file_of(*numbers: int) -> list[Record]:
        return [replace(make_record(n), source=Source("a.txt", i)) for i, n in enumerate(numbers, start=1)]

    with fresh(tmp_path, *file_of(1, 2)) as library:
        assert counted(library, *file_of(7, 1, 2)) == {"added": 1, "merged": 2, "embedded": 3}
        assert {paper.id: paper.sources for paper in library.papers()} == {
            "k7": (Source("a.txt", 1),),
            "k1": (Source("a.txt", 2),),
            "k2": (Source("a.txt", 3),),
        }


def test_a_paper_whose_only_place_was_taken_stays_with_the_place_it_had(tmp_path: Path) -> None:
    with fresh(tmp_path, make_record(1)) as library:
        library.ingest([replace(make_record(2), source=Source("a.jsonl", 1))], EMBEDDER)
        assert [paper.sources for paper in library.papers()] == [(Source("a.jsonl", 1),)] * 2


def test_rejects_are_kept_listed_and_forgotten_when_the_place_is_readable(tmp_path: Path) -> None:
    bad = Reject("a.jsonl", 1, "no abstract", '{"id": "\ud800"}')
    with fresh(tmp_path) as library:
        summary = library.ingest([bad, make_record(2)], EMBEDDER)
        assert summary.rejects_file == str(tmp_path / "lib" / "rejects.jsonl")
        line = Path(summary.rejects_file).read_text(encoding="utf-8")
        assert (
            line == '{"file": "a.jsonl", "position": 1, "reason": "no abstract", "raw": "{\\"id\\": \\"\ufffd\\"}"}\n'
        )
        assert library.status().rejects == 1
        assert library.ingest([make_record(2)], EMBEDDER).rejects_file is None
        library.ingest([make_record(1)], EMBEDDER)
        assert library.status().rejects == 0


def test_surrogates_and_nul_reach_no_store(tmp_path: Path) -> None:
    record = make_record(1, title="A \udfff title", key="k\ud800", keywords=("\udc80",), venue="a\x00b")
    with fresh(tmp_path, replace(record, source=Source("\udcff.txt", 1))) as library:
        (paper,) = library.papers()
    assert (paper.title, paper.keywords, paper.venue) == ("A \ufffd title", ("\ufffd",), "a\x00b")
    assert paper.sources == (Source("\ufffd.txt", 1),)


OTHER_INFOS = {
    "model": EmbedderInfo("other", "1", 64),
    "revision": EmbedderInfo("hashing", "2", 64),
    "dimension": EmbedderInfo("hashing", "1", 32),
    "normalisation": EmbedderInfo("hashing", "1", 64, normalized=False),
}


@pytest.mark.parametrize("what", OTHER_INFOS)
def test_another_embedder_is_refused_until_rebuilt(tmp_path: Path, what: str) -> None:
    folder, info = tmp_path / "lib", OTHER_INFOS[what]
    with fresh(tmp_path, make_record(1), make_record(2)) as library:
        before = library.view()
        with pytest.raises(EmbedderMismatch, match=f"citewise ingest PATH --library {folder} --rebuild"):
            Library.create(folder, info)
        with pytest.raises(EmbedderMismatch):
            library.ingest([make_record(3)], HashingEmbedder(info))
        library.rebuild(HashingEmbedder(info))
        after = library.view()
        assert (after.papers, after.sentences) == (before.papers, before.sentences)
        assert after.paper_vectors.shape == (2, info.dimension)
        assert library.status().embedder == info
    Library.create(folder, info).close()
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["chroma-2", "words-2"]
    with Library.create(tmp_path / "other", info) as other:
        other.ingest([make_record(1), make_record(2)], HashingEmbedder(info))
    assert contents(folder) == contents(tmp_path / "other")


def test_a_killed_rebuild_goes_on_where_it_stopped(tmp_path: Path) -> None:
    info = OTHER_INFOS["dimension"]
    with fresh(tmp_path, *(make_record(n) for n in range(70))) as library:

        def stop(progress: Progress) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            library.rebuild(HashingEmbedder(info), stop)
        assert library.status().embedder == EMBEDDER.info
        library.ingest([make_record(71)], EMBEDDER)
        rest = HashingEmbedder(info)
        library.rebuild(rest)
        assert rest.texts == 3 * (71 - 32)
        assert library.status().papers == 71
        assert library.view().paper_vectors.shape == (71, 32)


def test_an_embedder_that_breaks_its_promise_stores_nothing(tmp_path: Path) -> None:
    class Broken(HashingEmbedder):
        def embed(self, texts: object) -> np.ndarray:
            return np.full((1, 64), np.nan, np.float32)

    with fresh(tmp_path) as library:
        with pytest.raises(EmbedderError, match="nothing of this batch was stored"):
            library.ingest([make_record(1)], Broken())
        assert library.status().papers == 0


def test_progress_counts_records_and_total_where_it_is_known(tmp_path: Path) -> None:
    seen: list[Progress] = []
    records = [make_record(n) for n in range(40)]
    with fresh(tmp_path) as library:
        library.ingest(records, EMBEDDER, seen.append)
        library.ingest(iter(records), EMBEDDER, seen.append)
    assert seen == [
        Progress(32, 40, 32, "ingest"),
        Progress(40, 40, 40, "ingest"),
        Progress(32, None, 0, "ingest"),
        Progress(40, None, 0, "ingest"),
    ]


def test_an_interrupt_keeps_the_batches_that_are_done(tmp_path: Path) -> None:
    def records() -> Iterator[Record]:
        yield from (make_record(n) for n in range(40))
        raise KeyboardInterrupt

    with fresh(tmp_path) as library:
        with pytest.raises(KeyboardInterrupt):
            library.ingest(records(), EMBEDDER)
        assert library.status().papers == 32
        assert counted(library, *(make_record(n) for n in range(40))) == {"added": 8, "unchanged": 32, "embedded": 24}


def test_the_view_is_kept_until_something_changes(tmp_path: Path) -> None:
    with fresh(tmp_path, make_record(1)) as library:
        first = library.view()
        library.ingest([make_record(1)], EMBEDDER)
        assert library.view() is first
        library.ingest([make_record(2)], EMBEDDER)
        assert [paper.id for paper in library.view().papers] == ["k1", "k2"]
        assert [paper.id for paper in first.papers] == ["k1"]
        assert first.lexical.bm25("pruning tokenizers diffusion") != {}


@pytest.mark.parametrize("exact_limit", [0, 60_000])
def test_an_open_reader_finds_what_another_process_adds(tmp_path: Path, exact_limit: int) -> None:
    with fresh(tmp_path, *(make_record(n) for n in range(20)), exact_limit=exact_limit) as library:
        query = EMBEDDER.embed(["We find that method m77 wins."])[0]
        before = library.candidates(query, "m77", 3)
        assert "k77" not in before.index_of
        assert before.complete == (exact_limit > 0)
        script = (
            "from pathlib import Path\n"
            "from library_kit import HashingEmbedder, make_record\n"
            "from rag.index import Library\n"
            f"with Library.open(Path({str(tmp_path / 'lib')!r})) as library:\n"
            "    library.ingest([make_record(77)], HashingEmbedder())\n"
        )
        subprocess.run(
            [sys.executable, "-c", script], check=True, timeout=60, cwd=Path(__file__).parent, env=environment()
        )
        by_vector = library.candidates(query, "nothing of the kind", 3)
        assert "k77" in by_vector.index_of
        by_words = library.candidates(-query, "m77", 1)
        assert "k77" in by_words.index_of
        index = by_words.index_of["k77"]
        assert next(iter(by_words.lexical.bm25("m77"))) == index


def test_candidates_are_ranked_exactly_and_cover_each_kind_of_search(tmp_path: Path) -> None:
    with fresh(tmp_path, *(make_record(n) for n in range(60)), exact_limit=0) as library:
        query = EMBEDDER.embed([make_record(5).abstract])[0]
        few = library.candidates(query, "distillation m42", 4)
        assert 4 <= len(few.papers) <= 4 + 3 * 4 + 4
        assert {"k5", "k42"} <= set(few.index_of)
        assert [paper.id for paper in few.papers] == sorted(few.index_of)
        whole = library.view()
        for paper_id, index in few.index_of.items():
            np.testing.assert_array_equal(few.paper_vectors[index], whole.paper_vectors[whole.index_of[paper_id]])


def test_two_processes_write_at_once_and_both_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from library_kit import HashingEmbedder, make_record\n"
        "from rag.index import Library\n"
        "first, last = int(sys.argv[1]), int(sys.argv[2])\n"
        "embedder = HashingEmbedder()\n"
        f"with Library.create(Path({str(folder)!r}), embedder.info) as library:\n"
        "    library.ingest([make_record(n, f'{first}.jsonl') for n in range(first, last)], embedder)\n"
    )
    jobs = [
        subprocess.Popen([sys.executable, "-c", script, first, last], cwd=Path(__file__).parent, env=environment())
        for first, last in (("0", "200"), ("150", "350"))
    ]
    assert [job.wait(timeout=120) for job in jobs] == [0, 0]
    with Library.create(tmp_path / "one", EMBEDDER.info) as library:
        library.ingest([make_record(n, "0.jsonl") for n in range(200)], EMBEDDER)
        library.ingest([make_record(n, "150.jsonl") for n in range(150, 350)], EMBEDDER)
    assert contents(folder) == contents(tmp_path / "one")


def test_a_writer_that_waits_too_long_learns_who_writes(tmp_path: Path) -> None:
    with fresh(tmp_path) as library, writer_lock(tmp_path / "lib", 1):
        assert library.view().papers == ()  # reading takes no lock
        with pytest.raises(LibraryBusy, match=rf"being written by process {os.getpid()} on .*waited 0\.1 s") as caught:
            library.ingest([make_record(1)], EMBEDDER, lock_timeout_s=0.1)
        assert caught.value.retryable


def test_opening_what_is_no_library(tmp_path: Path) -> None:
    with pytest.raises(MissingLibrary, match="citewise ingest PATH --library"):
        Library.open(tmp_path / "none")
    with pytest.raises(MissingLibrary):
        Library.open(tmp_path)
    (tmp_path / "thesis.doc").write_text("x")
    with pytest.raises(InputError, match=r"holds other files \(thesis\.doc\)"):
        Library.create(tmp_path, EMBEDDER.info)
    with pytest.raises(InputError, match="is a file"):
        Library.create(tmp_path / "thesis.doc", EMBEDDER.info)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_half_a_library_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    fresh(tmp_path, make_record(1)).close()
    for path in (tmp_path / "lib").glob("papers.sqlite*"):
        path.unlink()
    for attempt in (lambda: Library.open(tmp_path / "lib"), lambda: Library.create(tmp_path / "lib", EMBEDDER.info)):
        with pytest.raises(CorruptLibrary, match=r"papers\.sqlite is missing"):
            attempt()


def test_a_closed_library_holds_no_file_open(tmp_path: Path) -> None:
    with fresh(tmp_path, *(make_record(n) for n in range(5)), exact_limit=0) as library:
        library.candidates(EMBEDDER.embed(["x"])[0], "pruning", 3)
        library.view()
    library.close()
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("no /proc on this system")
    held = [str(path.resolve()) for path in descriptors.iterdir()]
    assert [name for name in held if name.startswith(str(tmp_path))] == []
