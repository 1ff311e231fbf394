from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from library_kit import environment

from rag.errors import LibraryError
from rag.records import Paper
from rag.store import Row
from rag.vectors import VectorStore, chunk_generations


def make_row(number: int, paper_id: str | None = None, generation: int = 1, sentences: int = 2) -> Row:
    """A paper whose whole text points along axis `number`, its sentences along the next ones."""
    text = "Ab cd. " * sentences
    vectors = np.zeros((1 + sentences, 8), np.float32)
    for position in range(1 + sentences):
        vectors[position, (number + position) % 8] = 1.0
    return Row(
        n=number,
        paper=Paper(paper_id or f"p{number}", text.strip()),
        text_key=str(number),
        offsets=np.array([(7 * i, 7 * i + 6) for i in range(sentences)], np.int32).reshape(-1, 2),
        vectors=vectors,
        text_generation=generation,
        generation=generation,
    )


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[VectorStore]:
    store = VectorStore(tmp_path / "chroma", tmp_path, create=True)
    yield store
    store.close()


def axis(number: int) -> np.ndarray:
    return np.eye(8, dtype=np.float32)[number]


def test_chunks_carry_text_offsets_and_generation(vectors: VectorStore) -> None:
    vectors.upsert([make_row(1, "10.1/a#b")])
    found = vectors._collection.get(include=["documents", "metadatas"])
    chunks = dict(zip(found["ids"], zip(found["documents"], found["metadatas"], strict=True), strict=True))
    common = {"paper_id": "10.1/a#b", "generation": 1}
    assert chunks == {
        "10.1/a#b#paper": ("Ab cd. Ab cd.", {**common, "kind": "paper", "start_char": 0, "end_char": 13}),
        "10.1/a#b#0-6": ("Ab cd.", {**common, "kind": "sentence", "start_char": 0, "end_char": 6}),
        "10.1/a#b#7-13": ("Ab cd.", {**common, "kind": "sentence", "start_char": 7, "end_char": 13}),
    }


def test_nearest_tells_kinds_apart_and_gives_cosine_similarity(vectors: VectorStore) -> None:
    vectors.upsert([make_row(0), make_row(3)])
    assert vectors.nearest(axis(0), "paper", 2) == [("p0", pytest.approx(1.0)), ("p3", pytest.approx(0.0))]
    assert vectors.nearest(5 * axis(4), "sentence", 1) == [("p3", pytest.approx(1.0))]
    assert vectors.nearest(-axis(0), "paper", 2)[-1] == ("p0", pytest.approx(-1.0))


def test_an_upsert_replaces_what_was_there(vectors: VectorStore) -> None:
    vectors.upsert([make_row(1)])
    changed = replace(make_row(1, generation=4), vectors=make_row(5).vectors)
    vectors.upsert([changed])
    assert vectors.count() == 3
    assert vectors.nearest(axis(5), "paper", 1) == [("p1", pytest.approx(1.0))]
    assert vectors.generations() == chunk_generations(changed) == {"p1#paper": 4, "p1#0-6": 4, "p1#7-13": 4}


def test_more_than_chroma_takes_at_once_is_split(vectors: VectorStore) -> None:
    rows = [make_row(n, sentences=20) for n in range(300)]
    assert sum(len(chunk_generations(row)) for row in rows) == 6300 > vectors._batch
    vectors.upsert(rows)
    assert vectors.count() == len(vectors.generations()) == 6300
    vectors.delete([chunk_id for row in rows[1:] for chunk_id in chunk_generations(row)] + ["unknown"])
    assert vectors.generations() == chunk_generations(rows[0])


def test_an_empty_store(vectors: VectorStore) -> None:
    vectors.upsert([])
    vectors.delete([])
    assert (vectors.count(), vectors.generations(), vectors.nearest(axis(0), "paper", 3)) == (0, {}, [])


def test_errors_are_ours_and_the_next_opening_is_not_harmed(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="vector store"):
        VectorStore(tmp_path / "none", tmp_path, create=False)
    (tmp_path / "chroma").mkdir()
    database = tmp_path / "chroma" / "chroma.sqlite3"
    database.write_bytes(b"garbage " * 1000)
    with pytest.raises(LibraryError) as caught:
        VectorStore(tmp_path / "chroma", tmp_path, create=True)
    assert "\n" not in str(caught.value)
    database.unlink()
    store = VectorStore(tmp_path / "chroma", tmp_path, create=True)
    store.upsert([make_row(1)])
    with pytest.raises(LibraryError, match="dimension"):
        store.upsert([replace(make_row(2), vectors=np.ones((3, 5), np.float32))])
    store.close()
    store.close()


def test_an_open_client_misses_what_another_wrote_and_a_new_one_finds_it(tmp_path: Path) -> None:
    """Why whoever holds a client reopens it when the generation has changed."""
    reader = VectorStore(tmp_path / "chroma", tmp_path, create=True)
    writer = VectorStore(tmp_path / "chroma", tmp_path, create=False)
    reader.upsert([make_row(0)])
    reader.nearest(axis(0), "paper", 1)
    writer.upsert([make_row(2)])
    assert reader.count() == 6
    reader.close()
    reader = VectorStore(tmp_path / "chroma", tmp_path, create=False)
    assert reader.nearest(axis(2), "paper", 1) == [("p2", pytest.approx(1.0))]
    reader.close()
    writer.close()


def test_it_calls_nobody(tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "def refuse(*args): raise SystemExit(f'network: {args}')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from pathlib import Path\n"
        "from test_rag_vectors import VectorStore, axis, make_row\n"
        "store = VectorStore(Path(sys.argv[1]) / 'chroma', Path(sys.argv[1]), create=True)\n"
        "store.upsert([make_row(1)])\n"
        "print(store.nearest(axis(1), 'paper', 1)[0][0])\n"
        "store.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("p1\n", 0), done.stderr
    assert socket.socket.connect.__name__ != "refuse"


def test_importing_the_library_imports_no_heavy_part() -> None:
    script = (
        "import sys, rag.index\n"
        "heavy = {'chromadb', 'tantivy', 'filelock', 'onnxruntime', 'llama_index', 'gradio', 'sqlalchemy'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout == "[]\n"
