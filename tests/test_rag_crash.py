"""kill -9, damage, a read-only folder and a full disk: nothing is lost, one line says what to do."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from library_kit import HashingEmbedder, contents, environment, ingest_in_child, make_record

from rag.errors import CorruptLibrary, DiskFull
from rag.index import Library
from rag.records import Record
from rag.vectors import VectorStore

EMBEDDER = HashingEmbedder()
ROUNDS = 20
PER_ROUND = 40


def round_of(number: int) -> list[Record]:
    """New papers, a few known ones from another file, a few with another title."""
    first = number * PER_ROUND
    records = [make_record(n) for n in range(first, first + PER_ROUND)]
    if number:
        records += [make_record(n, f"{number}.jsonl") for n in range(first - 5, first)]
        records += [make_record(n, title=f"Renamed in {number}") for n in range(first - 10, first - 5)]
    return records


def assert_whole(folder: Path) -> set[str]:
    """What a reader sees right after a kill: papers with all their parts, each once."""
    with Library.open(folder) as library:
        view = library.view()
    assert len({paper.abstract for paper in view.papers}) == len(view.papers)
    assert all(paper.sources for paper in view.papers)
    assert len(view.sentences) == len(view.sentence_vectors) == 2 * len(view.papers)
    np.testing.assert_allclose(np.linalg.norm(view.paper_vectors, axis=1), 1.0, atol=1e-5)
    return set(view.index_of)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs the forkserver start method")
def test_killed_at_random_points_nothing_is_lost_or_double(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    print(f"random seed {seed}")
    chance = random.Random(seed)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chromadb", "tantivy", "library_kit"])
    folder = tmp_path / "killed"
    seen: set[str] = set()
    interrupted = 0
    for number in range(ROUNDS):
        ours, theirs = context.Pipe()
        child = context.Process(target=ingest_in_child, args=(folder, round_of(number), 0.02, theirs))
        child.start()
        assert ours.recv() == "started"
        child.join(chance.uniform(0, 0.5))
        child.kill()
        child.join(30)
        interrupted += child.exitcode == -9
        if (folder / "papers.sqlite").exists():
            now = assert_whole(folder)
            assert seen <= now
            seen = now
    assert interrupted >= ROUNDS // 2, f"only {interrupted} of {ROUNDS} were killed while they wrote (seed {seed})"
    with Library.create(folder, EMBEDDER.info) as library:
        # The records of each round again, as a user would: what is there is left alone, the rest is added.
        for number in range(ROUNDS):
            library.ingest(round_of(number), EMBEDDER)
    with Library.create(tmp_path / "one-go", EMBEDDER.info) as library:
        for number in range(ROUNDS):
            library.ingest(round_of(number), EMBEDDER)
    assert contents(folder) == contents(tmp_path / "one-go"), f"seed {seed}"
    assert_every_paper_is_found_by_chroma(folder)


def assert_every_paper_is_found_by_chroma(folder: Path) -> None:
    with Library.open(folder) as library:
        view = library.view()
    (chroma,) = folder.glob("chroma-*")
    vectors = VectorStore(chroma, folder, create=False)
    try:
        for index in range(0, len(view.papers), 7):
            ((_, similarity),) = vectors.nearest(view.paper_vectors[index], "paper", 1)
            assert similarity > 0.999
    finally:
        vectors.close()


def filled(folder: Path, papers: int = 12) -> dict[str, object]:
    with Library.create(folder, EMBEDDER.info) as library:
        library.ingest([make_record(n) for n in range(papers)], EMBEDDER)
    return contents(folder)


def remove(*patterns: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for pattern in patterns:
            for path in folder.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


def overwrite(pattern: str, content: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for path in folder.glob(pattern):
            path.write_bytes(content)

    return damage


REPAIRED = {
    "chroma deleted": remove("chroma-1"),
    "words deleted": remove("words-1"),
    "both deleted": remove("chroma-1", "words-1"),
    "stamps deleted": remove("*/generation"),
    "stamps wrong": overwrite("*/generation", b"someone-else 1\n"),
    "chroma's database is garbage": lambda folder: (
        overwrite("chroma-1/chroma.sqlite3", b"garbage" * 999)(folder),
        remove("chroma-1/generation")(folder),
    ),
    "tantivy's list is garbage": lambda folder: (
        overwrite("words-1/meta.json", b"garbage")(folder),
        remove("words-1/generation")(folder),
    ),
    "tantivy's segments deleted": remove("words-1/*.term", "words-1/*.idx", "words-1/generation"),
}


@pytest.mark.parametrize("what", REPAIRED)
@pytest.mark.parametrize("exact_limit", [0, 60_000])
def test_lost_parts_are_bypassed_by_readers_and_repaired_by_the_next_ingest(
    tmp_path: Path, what: str, exact_limit: int
) -> None:
    folder = tmp_path / "lib"
    before = filled(folder)
    REPAIRED[what](folder)
    query = EMBEDDER.embed([make_record(3).abstract])[0]
    with Library.open(folder, exact_limit=exact_limit) as library:
        found = library.candidates(query, "quantization", 2)
        assert {"k3", "k7"} <= set(found.index_of)
        assert found.lexical.bm25("quantization") != {}
        again = HashingEmbedder()
        library.ingest([make_record(0)], again)
        assert again.texts == 0
    assert contents(folder) == before


def delete_chunks(folder: Path) -> None:
    vectors = VectorStore(folder / "chroma-1", folder, create=False)
    vectors.delete([f"k{n}#paper" for n in range(0, 1200, 5)])
    vectors.close()


SILENT = {
    "Chroma's chunks deleted": delete_chunks,
    "Chroma's index folder deleted": remove("chroma-1/*-*-*"),
    "Chroma's database deleted": remove("chroma-1/*.sqlite3"),
    "tantivy's list deleted": remove("words-1/meta.json"),
    "tantivy's words deleted": remove("words-1/*.term"),
    "all but the stamps deleted": remove("words-1/*.*", "words-1/.*", "chroma-1/*.sqlite3", "chroma-1/*-*-*"),
}


@pytest.mark.parametrize("what", SILENT)
def test_damage_behind_a_right_stamp_is_bypassed_and_repaired_by_the_next_write(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "lib"
    filled(folder, papers=400)  # more chunks than Chroma keeps in its log
    SILENT[what](folder)
    query = EMBEDDER.embed([make_record(3).abstract])[0]
    with Library.open(folder, exact_limit=0) as library:
        found = library.candidates(query, "m7", 2)
        assert {"k3", "k7"} <= set(found.index_of)
        assert found.lexical.bm25("m7") != {}
    with Library.open(folder) as library:
        embedder = HashingEmbedder()
        library.ingest([make_record(400)], embedder)
        assert embedder.texts == 3
    filled(tmp_path / "sound", papers=401)
    assert contents(folder) == contents(tmp_path / "sound")


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00", b"no database at all " * 400])
def test_a_ruined_sqlite_file_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "lib"
    filled(folder)
    overwrite("papers.sqlite", content)(folder)
    for attempt in (lambda: Library.open(folder), lambda: Library.create(folder, EMBEDDER.info)):
        with pytest.raises(CorruptLibrary, match=r"is damaged: .*citewise ingest PATH --library") as caught:
            attempt()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", [4096, 20_000, 50_000])
def test_a_truncated_sqlite_file_is_one_clear_line(tmp_path: Path, kept: int) -> None:
    folder = tmp_path / "lib"
    filled(folder, papers=150)
    path = folder / "papers.sqlite"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(CorruptLibrary, match="is damaged"), Library.open(folder) as library:
        library.view()


READ_ONLY = """
import os, sys
from pathlib import Path
import numpy as np
import chromadb, tantivy, filelock, rag.index
from rag.errors import ReadOnlyLibrary
from library_kit import HashingEmbedder, make_record
folder = Path(sys.argv[1])
embedder = HashingEmbedder()
embedder.embed(["warm"])
os.setgid(65534); os.setuid(65534)
for exact_limit in (60000, 0):
    with rag.index.Library.open(folder, exact_limit=exact_limit) as library:
        view = library.candidates(embedder.embed(["Pruning of models"])[0], "pruning", 5)
        assert len(view.papers) == 12, len(view.papers)
        assert len(view.lexical.bm25("pruning")) == 2
        assert library.status().papers == 12
        assert library.paper("k3").title
        for attempt in (
            lambda: library.ingest([make_record(99)], embedder),
            lambda: library.ingest([make_record(1)], embedder),
            lambda: library.rebuild(embedder),
        ):
            try:
                attempt()
                raise SystemExit("wrote to a read-only folder")
            except ReadOnlyLibrary as error:
                assert "can't be written" in str(error) and chr(10) not in str(error)
try:
    rag.index.Library.create(folder / "new", embedder.info)
    raise SystemExit("made a library in a read-only folder")
except ReadOnlyLibrary:
    print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("reader_beside", [False, True], ids=["closed", "open elsewhere"])
def test_a_library_that_cannot_be_written_can_be_read(reader_beside: bool) -> None:
    with contextlib.ExitStack() as stack:
        # Not in pytest's folders: those are closed to other users.
        parent = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder = parent / "lib"
        before = filled(folder)
        for path in [parent, folder, *folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        if reader_beside:  # its log and shared memory lie in the folder, and can't be written either
            stack.enter_context(Library.open(folder)).view()
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, folder],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
            env=environment(),
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr
        assert contents(folder) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 10 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", folder], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("this user can't mount a small tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill_disk(folder: Path, leave_bytes: int) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb") as stream:
        stream.write(b"\0" * max(0, shutil.disk_usage(folder).free - leave_bytes))
    return ballast


@pytest.mark.parametrize("leave_bytes", [0, 100_000, 500_000])
def test_a_full_disk_loses_nothing_and_the_same_ingest_succeeds_later(
    tmp_path: Path, small_disk: Path, leave_bytes: int
) -> None:
    folder = small_disk / "lib"
    before = filled(folder)
    records = [make_record(n) for n in range(400)]
    ballast = fill_disk(small_disk, leave_bytes)
    with Library.open(folder) as library:
        with pytest.raises(DiskFull, match="make room and run the same command again") as caught:
            library.ingest(records, EMBEDDER)
        assert "\n" not in str(caught.value)
        view = library.view()
        assert {paper.id for paper in before["papers"]} <= set(view.index_of)  # type: ignore[attr-defined]
        assert view.lexical.bm25("pruning") != {}
    assert_whole(folder)
    ballast.unlink()
    with Library.open(folder) as library:
        library.ingest(records, EMBEDDER)
    with Library.create(tmp_path / "roomy", EMBEDDER.info) as library:
        library.ingest(records, EMBEDDER)
    assert contents(folder) == contents(tmp_path / "roomy")


def test_a_library_cannot_be_made_on_a_full_disk(small_disk: Path) -> None:
    ballast = fill_disk(small_disk, 0)
    with pytest.raises(DiskFull):
        Library.create(small_disk / "lib", EMBEDDER.info)
    ballast.unlink()
    filled(small_disk / "lib")
