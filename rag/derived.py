"""The two stores made from the SQLite file, and whether they are up to date with it.

Each lies in a folder of its own, named in the manifest, with a stamp: the library's identity and the generation of
the texts it holds, written after its commit. So a look at two small files tells whether anything must be repaired,
without opening (or importing) Chroma or tantivy. A folder that can't be opened is left behind for a new one.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from rag import rows
from rag.errors import CorruptLibrary, DiskFull, LibraryError, ReadOnlyLibrary
from rag.failures import library_error
from rag.lexical import WordIndex
from rag.search_text import search_text
from rag.store import Row, Store
from rag.vectors import VectorStore, chunk_generations

Part = Literal["chroma", "words"]
PARTS: tuple[Part, Part] = ("chroma", "words")
STAMP_FILE = "generation"
_PAGE_PAPERS = 500


def part_folder(folder: Path, manifest: Mapping[str, str], part: Part) -> Path:
    """Where the part lies now: "chroma-1", and after a repair that had to start afresh "chroma-2"."""
    return folder / f"{part}-{manifest.get(f'{part}_epoch', '1')}"


def stamp_of(folder: Path, manifest: Mapping[str, str], part: Part) -> int | None:
    """The text generation a part carries; None when it is absent, unreadable or of another library."""
    try:
        library, generation = (part_folder(folder, manifest, part) / STAMP_FILE).read_text(encoding="utf-8").split()
        return int(generation) if library == manifest["library"] else None
    except (OSError, ValueError):
        return None


def require_current(folder: Path, manifest: Mapping[str, str], part: Part) -> None:
    """Raise CorruptLibrary unless a reader may use the part: it holds this generation, or one batch more."""
    stamp = stamp_of(folder, manifest, part)
    if stamp not in (int(manifest["text_generation"]), int(manifest["generation"]) + 1):
        raise CorruptLibrary(
            f"the {part} part of the library {folder} is missing or out of date; the next "
            f"`citewise ingest PATH --library {folder}` repairs it"
        )


def write_stamp(folder: Path, manifest: Mapping[str, str], part: Part, generation: int) -> None:
    """Say that the part holds the texts as of `generation`; whole or not at all."""
    path = part_folder(folder, manifest, part) / STAMP_FILE
    draft = path.with_name(f"{STAMP_FILE}.new")
    try:
        draft.write_text(f"{manifest['library']} {generation}\n", encoding="utf-8")
        draft.replace(path)
    except OSError as exc:
        raise library_error(exc, folder, f"{part} folder") from exc


def paper_text(row: Row) -> str:
    """What is searched of a paper as a whole: title and abstract, cleaned."""
    return whole_text(row.paper.title, row.paper.abstract)


def whole_text(title: str | None, abstract: str) -> str:
    """Title and abstract, cleaned, a line each."""
    return f"{cleaned(title)}\n{cleaned(abstract)}" if title else cleaned(abstract)


@lru_cache(maxsize=2048)
def cleaned(text: str) -> str:
    """`search_text`, remembered: a batch needs each text for its vector and again for its words."""
    return search_text(text).text


class Derived:
    """The open parts of one writer, who holds the library's lock whenever it calls anything here but `close`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = store.folder
        self._vectors: VectorStore | None = None
        self._seen: tuple[str, int | None] | None = None
        self._checked: set[Part] = set()

    def close(self) -> None:
        """Release Chroma's files; tantivy keeps none open between commits."""
        vectors, self._vectors = self._vectors, None
        if vectors is not None:
            vectors.close()

    def write(self, changed: Sequence[Row], generation: int) -> None:
        """Write these papers to both parts and stamp them with `generation`; a part that can't be is made anew."""
        for part, put in (("chroma", self._put_chroma), ("words", self._put_words)):
            try:
                put(changed, generation)
            except (DiskFull, ReadOnlyLibrary):
                raise
            except LibraryError:
                self.repair(cast(Part, part))
                put(changed, generation)

    def repair(self, part: Part) -> None:
        """Make a part equal to the SQLite file again, afresh if it can't be opened; nothing is embedded."""
        fill = self._fill_chroma if part == "chroma" else self._fill_words
        try:
            fill()
        except (DiskFull, ReadOnlyLibrary):
            raise
        except LibraryError:
            self.close()
            self.start_afresh(part)
            fill()

    def start_afresh(self, part: Part) -> None:
        """Point the manifest to a new folder for the part and remove the old one if the system lets us."""
        manifest = self._store.manifest()
        epoch = int(manifest.get(f"{part}_epoch", "1")) + 1
        self._store.set_manifest({f"{part}_epoch": str(epoch)})
        remove_old_parts(self._folder, self._store.manifest())

    def _open(self, manifest: Mapping[str, str]) -> VectorStore:
        """Chroma, opened again when another process has written since: a client left open would not know."""
        now = (manifest.get("chroma_epoch", "1"), stamp_of(self._folder, manifest, "chroma"))
        if self._vectors is not None and self._seen != now:
            self.close()
        if self._vectors is None:
            self._vectors = VectorStore(part_folder(self._folder, manifest, "chroma"), self._folder, create=True)
            self._seen = now
        return self._vectors

    def _put_chroma(self, changed: Sequence[Row], generation: int) -> None:
        manifest = self._store.manifest()
        vectors = self._open(manifest)
        vectors.upsert(changed)
        self._require_count("chroma", vectors.count, changed)
        self._stamp_chroma(manifest, generation)

    def _put_words(self, changed: Sequence[Row], generation: int) -> None:
        manifest = self._store.manifest()
        words = WordIndex(part_folder(self._folder, manifest, "words"), self._folder)
        words.write((row.n, paper_text(row)) for row in changed)
        self._require_count("words", lambda: words.searcher().papers, changed)
        write_stamp(self._folder, manifest, "words", generation)

    def _require_count(self, part: Part, count: Callable[[], int], changed: Sequence[Row]) -> None:
        """Once a writer: raise CorruptLibrary when the part does not hold as much as SQLite and `changed` together."""
        if part in self._checked:
            return
        held = rows.counts(self._store)
        new = [row for row in changed if rows.resolve(self._store, row.paper.id) is None]
        papers = held.papers + len(new)
        expected = papers if part == "words" else papers + held.sentences + sum(len(row.offsets) for row in new)
        found = count()
        if found != expected:
            raise CorruptLibrary(f"the {part} part of {self._folder} holds {found} entries, not {expected}")
        self._checked.add(part)

    def _stamp_chroma(self, manifest: Mapping[str, str], generation: int) -> None:
        write_stamp(self._folder, manifest, "chroma", generation)
        self._seen = (manifest.get("chroma_epoch", "1"), generation)

    def _fill_chroma(self) -> None:
        manifest = self._store.manifest()
        vectors = self._open(manifest)
        orphans = vectors.generations()
        for page in _pages(rows.rows(self._store)):
            vectors.upsert(row for row in page if _differs(row, orphans))
            for row in page:
                for chunk_id in chunk_generations(row):
                    orphans.pop(chunk_id, None)
        vectors.delete(orphans)
        self._stamp_chroma(manifest, int(manifest["text_generation"]))

    def _fill_words(self) -> None:
        manifest = self._store.manifest()
        words = WordIndex(part_folder(self._folder, manifest, "words"), self._folder)
        words.write(((row.n, paper_text(row)) for row in rows.rows(self._store)), replace_all=True)
        write_stamp(self._folder, manifest, "words", int(manifest["text_generation"]))


def remove_old_parts(folder: Path, manifest: Mapping[str, str]) -> None:
    """Remove folders of parts that the manifest no longer names; what is still open elsewhere stays until later."""
    for part in PARTS:
        current = part_folder(folder, manifest, part)
        for found in folder.glob(f"{part}-*"):
            if found != current and found.name.removeprefix(f"{part}-").isdigit():
                with contextlib.suppress(OSError):
                    shutil.rmtree(found)


def _differs(row: Row, generations: Mapping[str, int]) -> bool:
    return any(generations.get(chunk_id) != wanted for chunk_id, wanted in chunk_generations(row).items())


def _pages(found: Iterable[Row]) -> Iterator[list[Row]]:
    page: list[Row] = []
    for row in found:
        page.append(row)
        if len(page) == _PAGE_PAPERS:
            yield page
            page = []
    if page:
        yield page
