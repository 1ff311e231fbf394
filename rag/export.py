"""Every paper of the library as JSON Lines, BibTeX, RIS or CSV."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

from rag.labels import label
from rag.records import Paper

_BIBTEX_SPECIAL = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_"}
    | {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # BibTeX counts \{ and \} as braces
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def to_jsonl(papers: Iterable[Paper]) -> Iterator[str]:
    """One JSON object a line with the fields of `Paper`."""
    for paper in papers:
        yield json.dumps(asdict(paper), ensure_ascii=False) + "\n"


def to_csv(papers: Iterable[Paper]) -> Iterator[str]:
    """A header line and one row a paper; lists joined by `; `. Cells that a spreadsheet would run get a leading '."""
    columns = ("id", "title", "authors", "venue", "year", "doi", "url", "keywords", "sources", "abstract")
    yield _csv_row(columns)
    for paper in papers:
        row = asdict(paper) | {"sources": [f"{s.file}#{s.position}" for s in paper.sources]}
        yield _csv_row([_cell(row[name]) for name in columns])


def to_bibtex(papers: Iterable[Paper]) -> Iterator[str]:
    """One entry a paper, with unique keys; the label stands in for a missing title and a note says so."""
    taken: set[str] = set()
    for paper in papers:
        key = base = re.sub(r"[^A-Za-z0-9:._-]+", "-", paper.id).strip("-") or "paper"
        number = 1
        while key.casefold() in taken:
            number += 1
            key = f"{base}-{number}"
        taken.add(key.casefold())
        fields = {
            "title": paper.title or label(paper),
            "author": paper.authors,
            "booktitle": paper.venue,
            "year": paper.year,
            "doi": paper.doi,
            "url": paper.url,
            "keywords": ", ".join(paper.keywords),
            "note": None if paper.title else "Title derived by citewise from the abstract",
            "abstract": paper.abstract,
        }
        kept = [f"  {name} = {{{_field(name, value)}}}" for name, value in fields.items() if value]
        yield f"@{'inproceedings' if paper.venue else 'misc'}{{{key},\n" + ",\n".join(kept) + "\n}\n\n"


def to_ris(papers: Iterable[Paper]) -> Iterator[str]:
    """One RIS record a paper (line ends CRLF, as the format asks)."""
    for paper in papers:
        lines = [("TY", "CPAPER" if paper.venue else "GEN"), ("ID", paper.id), ("TI", paper.title or label(paper))]
        lines += [("AU", author) for author in paper.authors]
        lines += [
            ("T2", paper.venue or ""),
            ("PY", str(paper.year or "")),
            ("DO", paper.doi or ""),
            ("UR", paper.url or ""),
        ]
        lines += [("KW", word) for word in paper.keywords] + [("AB", paper.abstract)]
        body = [f"{tag}  - {' '.join(value.split())}" for tag, value in lines if value]
        yield "\r\n".join([*body, "ER  - ", "", ""])


FORMATS: dict[str, Callable[[Iterable[Paper]], Iterator[str]]] = {
    "jsonl": to_jsonl,
    "bibtex": to_bibtex,
    "ris": to_ris,
    "csv": to_csv,
}


def _csv_row(values: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(list(values))
    return out.getvalue()


def _cell(value: object) -> str:
    text = "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value is None else str(value)
    # A leading = + - @ is run as a formula by spreadsheets (OWASP, "CSV Injection").
    return f"'{text}" if text[:1] in "=+-@\t\r" and text[:1] else text


def _field(name: str, value: object) -> str:
    if not isinstance(value, tuple):
        return _bibtex(name, str(value))
    # BibTeX parts authors at "and"; braces keep a group's name ("Bell and Sons") together.
    each = [_bibtex(name, author) for author in value]
    return " and ".join(f"{{{author}}}" if re.search(r"\sand\s", author, re.IGNORECASE) else author for author in each)


def _bibtex(name: str, value: str) -> str:
    if name in ("url", "doi"):
        return value.replace("{", "%7B").replace("}", "%7D")
    return unicodedata.normalize("NFC", value).translate(_BIBTEX_SPECIAL)
