"""Stage 8: quotes are cut from the abstracts by their offsets, numbered, and the answer is assembled.

A quotation is supported by construction: it is the abstract's own words, and that is checked here, not assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.corpus import Corpus
from rag.records import Citation, Hit, Quote, Sentence

# `[1]: https://...` at the start of a line would define where a citation's mark leads.
_DEFINITION = re.compile(r"^([ \t>]*)\[(?=[^\]\n]+\]:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Drafted:
    """A sentence before its quotes are numbered: `text` may hold `{quote}` once, filled with its first quote's words.

    `numbers` are the sentence numbers (in the corpus) that it rests on.
    """

    text: str
    numbers: tuple[int, ...]


def quote_of(corpus: Corpus, number: int) -> Quote:
    """Sentence `number` of the corpus as a quote, cut from its abstract. Raises AssertionError if offsets lie."""
    chunk = corpus.view.sentences[number]
    paper = corpus.view.papers[int(corpus.view.sentence_paper[number])]
    quote = paper.abstract[chunk.start_char : chunk.end_char]
    if quote != chunk.text or paper.id != chunk.paper_id:
        raise AssertionError(f"chunk {number} is not the words of paper {paper.id} at its offsets")
    return Quote(chunk.start_char, chunk.end_char, quote)


def verified(drafts: Iterable[Drafted], corpus: Corpus) -> tuple[Sentence, ...]:
    """The drafted sentences with numbered citations, counted from 1; a quote cited twice keeps its number."""
    taken: dict[int, int] = {}
    sentences = []
    for draft in drafts:
        citations = []
        for number in draft.numbers:
            n = taken.setdefault(number, len(taken) + 1)
            quote = quote_of(corpus, number)
            paper_id = corpus.view.sentences[number].paper_id
            citations.append(Citation(n, paper_id, quote.start_char, quote.end_char, quote.quote))
        before, place, after = draft.text.rpartition("{quote}")  # a title before it may hold these words too
        text = f"{before}{citations[0].quote}{after}" if citations and place else draft.text
        sentences.append(Sentence(text, tuple(citations), 1.0, "supported"))
    return tuple(sentences)


def hits(
    corpus: Corpus, papers: Sequence[int], scores: Sequence[float], quotes: Sequence[Sequence[int]]
) -> tuple[Hit, ...]:
    """The papers as hits: `scores[i]` in 0..1 and the sentence numbers `quotes[i]` belong to `papers[i]`."""
    return tuple(
        Hit(
            corpus.view.papers[paper],
            corpus.labels[paper],
            float(score),
            tuple(quote_of(corpus, number) for number in numbers),
        )
        for paper, score, numbers in zip(papers, scores, quotes, strict=True)
    )


def markdown(text: str) -> str:
    """Abstract text made safe for Markdown: HTML, images and links in it stay text; `$` and other marks are kept."""
    text = _DEFINITION.sub(r"\1\\[", text)
    return text.replace("<", "&lt;").replace("![", "!\\[").replace("](", "]\\(")
