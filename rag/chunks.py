"""Stage 2: a paper to its chunks, one a sentence, each with its exact offsets in the abstract.

Knows nothing of tokens or models. Where a sentence ends is decided in `rag/sentences.py`.
"""

from __future__ import annotations

from rag.records import Chunk, Paper
from rag.sentences import sentence_spans

__all__ = ["CHUNKING_VERSION", "sentence_chunks", "sentence_spans"]

CHUNKING_VERSION = 1
"""Goes up with every change that moves a boundary: a library built with another version is rebuilt."""


def sentence_chunks(paper: Paper) -> tuple[Chunk, ...]:
    """The sentences of the abstract, in order: `abstract[start_char:end_char] == text` holds for each.

    They don't overlap, are never blank, begin and end with a character that is no white space, are at most 1000
    characters long, and together hold every character that is no white space. Only the abstract is chunked: a
    title is searched, never quoted.
    """
    abstract = paper.abstract
    return tuple(Chunk(paper.id, start, end, abstract[start:end]) for start, end in sentence_spans(abstract))
