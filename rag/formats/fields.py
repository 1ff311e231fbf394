"""The values of a JSON record to the fields of `Record`: names, years, lists, DOIs.

A value of an odd kind counts as missing; it is never an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag.formats.lines import storable
from rag.records import Record, Source

_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)")
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def record_of(fields: Mapping[str, object], source: Source) -> Record | None:
    """The `Record` of a JSON object, or None when it has no abstract (`abstract`, `text` or `summary`).

    The abstract is stripped and otherwise as it stands; a list of sentences is joined with blanks.
    """
    abstract = _first(fields, "abstract", "text", "summary", joined=" ")
    if abstract is None:
        return None
    doi = _first(fields, "doi")
    return Record(
        abstract=abstract,
        source=source,
        key=_key(fields.get("id")) or _key(fields.get("_id")),
        title=_first(fields, "title", joined=" "),
        authors=_authors(fields.get("authors")),
        venue=_first(fields, "venue"),
        year=_year(fields.get("year")),
        url=_first(fields, "url"),
        doi=_DOI_PREFIX.sub("", doi) if doi else None,
        keywords=_keywords(fields.get("keywords")),
    )


def _first(fields: Mapping[str, object], *names: str, joined: str | None = None) -> str | None:
    for name in names:
        value = fields.get(name)
        if joined is not None and isinstance(value, list):
            value = joined.join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and (text := storable(value).strip()):
            return text
    return None


def _key(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return storable(str(value)).strip() or None


def _year(value: object) -> int | None:
    """A year of four digits from 1000 to 2999, also out of "2025", "2025-03-01" or 2025.0."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else ""
    if isinstance(value, int):
        return value if 1000 <= value <= 2999 else None
    found = _YEAR.search(value)
    return int(found[1]) if found else None


def _authors(value: object) -> tuple[str, ...]:
    """Names in their order, out of a list of names or of {"name"}, or out of "A; B", "A and B", "A B, C D and E F"."""
    if isinstance(value, list):
        return tuple(name for item in value if (name := _name(item)))
    if not isinstance(value, str):
        return ()
    parts = re.split(r";|\s+(?:and|AND|&)\s+", storable(value))
    if ";" not in value:
        parts = [name for part in parts for name in _comma_list(part)]
    return tuple(name for part in parts if (name := part.strip(" ,\t\r\n")))


def _comma_list(text: str) -> list[str]:
    """Split "Ada Lovelace, Alan Turing" but not "Lovelace, Ada": each part of a list has a blank inside."""
    parts = text.strip().strip(",").split(",")
    return parts if all(" " in part.strip() for part in parts) else [text]


def _name(item: object) -> str:
    if isinstance(item, dict):
        whole = item.get("name")
        if not isinstance(whole, str):
            given = item.get("given", item.get("first"))
            family = item.get("family", item.get("last"))
            whole = " ".join(part for part in (given, family) if isinstance(part, str))
        item = whole
    return storable(item).strip() if isinstance(item, str) else ""


def _keywords(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[;,\n]", value)
    if not isinstance(value, list):
        return ()
    words = (storable(item).strip() for item in value if isinstance(item, str))
    return tuple(dict.fromkeys(word for word in words if word))
