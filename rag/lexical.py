"""Words of the papers, on disk or in memory (tantivy): BM25 with English stemming over title and abstract.

The only file that imports tantivy. Knows papers by their numbers in the SQLite file, and nothing of vectors.
BM25 is tantivy's: k1 = 1.2, b = .75, lengths rounded to one byte (Robertson and Zaragoza 2009).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.failures import library_error

Terms = str | Sequence[str] | Mapping[str, float]
_ANALYZER = "words"
_WRITER_BYTES = 20_000_000
_LONGEST_WORD_BYTES = 60
# Longer questions are cut: scoring takes time by the word, and no question has as many that matter.
_MOST_TERMS = 1000


class WordIndex:
    """The words of every paper. `folder` None keeps them in memory.

    Raises LibraryError and its kin, never tantivy's own exceptions.
    """

    def __init__(self, folder: Path | None, library: Path) -> None:
        self._library = library
        with self._guard() as tantivy:
            schema = tantivy.SchemaBuilder()
            schema.add_integer_field("n", fast=True, indexed=True)
            schema.add_text_field("text", stored=False, tokenizer_name=_ANALYZER, index_option="freq")
            self._schema = schema.build()
            self._analyzer = _analyzer(tantivy)
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, path=str(folder) if folder is not None else None)
            self._index.register_tokenizer(_ANALYZER, self._analyzer)

    @contextlib.contextmanager
    def _guard(self) -> Iterator[Any]:
        import tantivy

        try:
            yield tantivy
        except (ValueError, OSError) as exc:
            raise library_error(exc, self._library, "lexical index") from exc
        except BaseException as exc:
            # A panic in Rust arrives as an exception that is no `Exception`.
            if type(exc).__name__ != "PanicException":
                raise
            raise library_error(exc, self._library, "lexical index") from exc

    def write(self, texts: Iterable[tuple[int, str]], *, replace_all: bool = False) -> None:
        """Put each paper's text in place of what was there, in one commit; `replace_all` forgets all others."""
        with self._guard() as tantivy:
            writer = self._index.writer(heap_size=_WRITER_BYTES, num_threads=1)
            try:
                if replace_all:
                    writer.delete_all_documents()
                for n, text in texts:
                    if not replace_all:
                        writer.delete_documents_by_term("n", n)
                    document = tantivy.Document()
                    document.add_integer("n", n)
                    document.add_text("text", text)
                    writer.add_document(document)
                writer.commit()
            finally:
                writer.wait_merging_threads()
            self._index.reload()

    def reload(self) -> None:
        """See what another process has committed."""
        with self._guard():
            self._index.reload()

    def words(self, text: str) -> list[str]:
        """The stemmed, folded words as they stand in the index, in order, with repetitions."""
        with self._guard():
            return list(self._analyzer.analyze(text.encode("utf-8", "replace").decode("utf-8")))

    def searcher(self) -> Searcher:
        """A snapshot: later writes don't change what it finds."""
        with self._guard():
            return Searcher(self, self._index.searcher())

    def _query(self, terms: Terms) -> Any:
        weights: dict[str, float] = {}
        pairs: Iterable[tuple[str, float]]
        if isinstance(terms, str):
            pairs = [(terms, 1.0)]
        elif isinstance(terms, Mapping):
            pairs = terms.items()
        else:
            pairs = [(term, 1.0) for term in terms]
        for text, weight in pairs:
            for word in self.words(text):
                weights[word] = max(weights.get(word, 0.0), weight)
        with self._guard() as tantivy:
            parts = [
                tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, "text", word), weight)
                for word, weight in sorted(weights.items())[:_MOST_TERMS]
                if weight > 0
            ]
            return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts]) if parts else None


class Searcher:
    """The index as it was at one moment."""

    def __init__(self, index: WordIndex, searcher: Any) -> None:
        self._index = index
        self._searcher = searcher

    @property
    def papers(self) -> int:
        """How many papers it holds."""
        return int(self._searcher.num_docs)

    def scores(self, terms: Terms, limit: int) -> list[tuple[int, float]]:
        """(paper number, BM25 score > 0) of the best `limit` papers, best first, ties by number.

        Among papers tied at the limit, which ones are in is not defined; ask for more and cut.
        """
        query = self._index._query(terms)
        if query is None or limit < 1 or self.papers == 0:
            return []
        with self._index._guard():
            hits = self._searcher.search(query, limit=min(limit, self.papers), count=False).hits
            numbers = self._searcher.fast_field_values("n", [address for _, address in hits])
        found = [(int(n), float(score)) for n, (score, _) in zip(numbers, hits, strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))


class Lexical:
    """BM25 over the papers of a view. `bm25` gives {index in `view.papers`: score}."""

    def __init__(self, searcher: Searcher, index_of_number: Mapping[int, int]) -> None:
        self._searcher = searcher
        self._index_of_number = index_of_number

    def bm25(self, terms: Terms, top: int | None = None) -> dict[int, float]:
        """Scores (> 0, no upper bound) of the papers that share a word with `terms`, best first, ties by index.

        `terms` is a text, words, or words with weights (> 0); each counts once, however often it is repeated.
        `top` keeps the best so many (all when None). Statistics are those of the whole library.
        """
        # All are scored and then cut: so the cut among equals is the same each time.
        found = self._searcher.scores(terms, self._searcher.papers)
        scored = [(self._index_of_number[n], score) for n, score in found if n in self._index_of_number]
        scored.sort(key=lambda pair: (-pair[1], pair[0]))
        return dict(scored if top is None else scored[: max(top, 0)])


def _analyzer(tantivy: Any) -> Any:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(_LONGEST_WORD_BYTES),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()
