"""Make all vectors anew, with another model or another way of cutting, and change over in one moment.

The new vectors wait in a table that no reader looks at, so that a killed rebuild goes on where it stopped; the
change-over is one SQLite transaction. Knows nothing of how texts are cut or embedded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from rag import rows
from rag.chunks import sentence_chunks
from rag.derived import PARTS, paper_text, part_folder, remove_old_parts, write_stamp
from rag.lexical import WordIndex
from rag.passages import embed_passages
from rag.store import Row, Store
from rag.vectors import VectorStore
from rag.writer import BATCH_RECORDS, OnProgress, Progress, Writer, passage_of


def rebuild(writer: Writer, target: Mapping[str, str], on_progress: OnProgress | None) -> None:
    """Cut and embed every paper again as `target` (manifest keys of embedder and chunking) says.

    The lock is held only for the change-over. Papers that another process adds meanwhile are carried over too.
    """
    _begin(writer, target)
    total = rows.counts(writer.store).papers
    done = 0
    while batch := _missing(writer.store, BATCH_RECORDS):
        _embed(writer, batch)
        done += len(batch)
        if on_progress is not None:
            on_progress(Progress(done, max(total, done), 0, "rebuild"))
    with writer.locked():
        writer.recover()
        _begin(writer, target)
        while batch := _missing(writer.store, BATCH_RECORDS):
            _embed(writer, batch)
        _change_over(writer, target)


def _begin(writer: Writer, target: Mapping[str, str]) -> None:
    """Forget what was made for another target."""
    wanted = json.dumps(dict(target), sort_keys=True)
    with writer.store.transaction() as connection:
        if writer.store.manifest().get("rebuilding") != wanted:
            connection.execute("DELETE FROM rebuilt")
            writer.store.set_manifest({"rebuilding": wanted})


def _missing(store: Store, limit: int) -> list[Row]:
    with store.guard() as connection:
        found = connection.execute(
            "SELECT id FROM papers WHERE n NOT IN (SELECT n FROM rebuilt) ORDER BY n LIMIT ?", (limit,)
        )
        ids = [paper_id for (paper_id,) in found]
    return list(rows.rows(store, ids=ids))


def _embed(writer: Writer, batch: list[Row]) -> None:
    cut = [replace(row, offsets=_offsets(row)) for row in batch]
    made = embed_passages(writer.embedder, [passage_of(row) for row in cut])
    with writer.store.transaction() as connection:
        connection.executemany(
            "INSERT OR REPLACE INTO rebuilt VALUES (?,?,?,?)",
            (
                (row.n, len(row.offsets), row.offsets.tobytes(), np.ascontiguousarray(array, "<f4").tobytes())
                for row, array in zip(cut, made, strict=True)
            ),
        )


def _offsets(row: Row) -> np.ndarray:
    spans = [(chunk.start_char, chunk.end_char) for chunk in sentence_chunks(row.paper)]
    return np.array(spans, dtype="<i4").reshape(len(spans), 2)


def _change_over(writer: Writer, target: Mapping[str, str]) -> None:
    store, folder = writer.store, writer.store.folder
    writer.release_parts()
    manifest = store.manifest()
    generation = int(manifest["generation"]) + 1
    epochs = {f"{part}_epoch": str(int(manifest.get(f"{part}_epoch", "1")) + 1) for part in PARTS}
    renewed = {**manifest, **epochs}
    # A change-over that was killed may have left parts under these names.
    remove_old_parts(folder, manifest)
    vectors = VectorStore(part_folder(folder, renewed, "chroma"), folder, create=True)
    try:
        vectors.upsert(_rebuilt(store, generation))
    finally:
        vectors.close()
    words = WordIndex(part_folder(folder, renewed, "words"), folder)
    words.write(((row.n, paper_text(row)) for row in rows.rows(store)), replace_all=True)
    for part in PARTS:
        write_stamp(folder, renewed, part, generation)
    with store.transaction() as connection:
        connection.execute(
            "UPDATE papers SET (n_sentences, offsets, vectors, text_generation, generation) ="
            " (SELECT n_sentences, offsets, vectors, ?1, ?1 FROM rebuilt WHERE rebuilt.n = papers.n)",
            (generation,),
        )
        connection.execute("DELETE FROM rebuilt")
        connection.execute("DELETE FROM manifest WHERE key='rebuilding'")
        store.set_manifest({**target, **epochs, "generation": str(generation), "text_generation": str(generation)})
    remove_old_parts(folder, store.manifest())


def _rebuilt(store: Store, generation: int) -> Iterator[Row]:
    with store.guard() as connection:
        for row in rows.rows(store):
            offsets, vectors = connection.execute("SELECT offsets, vectors FROM rebuilt WHERE n=?", (row.n,)).fetchone()
            cut = np.frombuffer(offsets, dtype="<i4").reshape(-1, 2)
            yield replace(
                row,
                offsets=cut,
                vectors=np.frombuffer(vectors, dtype="<f4").reshape(1 + len(cut), -1),
                text_generation=generation,
            )
