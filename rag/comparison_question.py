"""Comparisons ("how do A and B differ", "A vs B", "compare A with B"): the sides that are compared.

A comparison that names no sides in such a form ("one paper ..., another ...; what does each ...") is cut into its
clauses; which of them describe papers is for retrieval to find out.
"""

from __future__ import annotations

import re

_AND = r"\s*(?:,\s*and\b|,|\band\b|\bvs\b\.?|\bversus\b)\s*"
_FORMS = [
    r"(?:how|in\s+what\s+(?:way|respect)s?)\s+(?:do|does|is|are|did)\s+(?P<a>.+?)\s+(?:differ(?:s|ent)?\s+from|compared?\s+(?:to|with|against))\s+(?P<b>.+)",
    rf"(?:how|in\s+what\s+ways?)\s+(?:do|does|are|is)\s+(?P<a>.+?){_AND}(?P<b>.+?)\s+(?:differ|compare|different|relate|contrast)\b.*",
    rf".*?\b(?:differences?|contrast|comparison|trade-?offs?|similarit(?:y|ies)|in\s+common)\s+(?:(?:in|of)\s+[\w\s-]+?\s+)?(?:between|among)\s+(?P<a>.+?){_AND}(?P<b>.+)",
    rf"(?:please\s+)?(?:compare|contrast)\s+(?P<a>.+?)(?:{_AND}|\s+(?:with|to|against)\s+)(?P<b>.+)",
    r"(?P<a>.+?)\s+(?:vs\.?|versus)\s+(?P<b>.+)",
    rf"what\s+do\s+(?P<a>.+?){_AND}(?P<b>.+?)\s+(?:have\s+in\s+common|share|each\b).*",
]  # fmt: skip
_COMPILED = [re.compile(rf"\s*{form}", re.IGNORECASE | re.DOTALL) for form in _FORMS]
_ASPECT = re.compile(
    r"(?:\s*[:,;?]\s*(?:which|what|who|how|where|and\s+(?:which|what|how))\b.*|\s+-+\s+.*|\s+(?:in\s+(?:terms|how|what|their|the\s+way|"
    r"regard)|with\s+(?:respect|regard)\s+to|when\s+it\s+comes|regarding|differ\b|compare\b|each\b|both\b).*)$",
    re.IGNORECASE | re.DOTALL,
)
_CUE = re.compile(
    r"\b(?:each\s+(?:of|paper|work|method|one|do|does|have|has|assume\w*|propose\w*|trade)|(?:one|the\s+first)\s+(?:paper|work)\b.*\b(?:another|the\s+other|the\s+second)|"
    r"(?:do|does|what\s+do)\s+\w+\s+(?:papers?|works?|methods?)?\s*both|two\s+(?:papers|works|methods)\b|respectively|what\b.+\bwork\b.+,\s+and\s+what\b|"
    r"\bin\s[^,]+,\s+in\s[^,]+,?\s+and\s+in\s|in\s+common|more\s+than\s+in|how\s+do\s+their|what\s+does\s+each|does\s+each|differ\b|between\s+.+\s+and\b.*\bdiffer\w*|whereas)",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_CLAUSES = re.compile(
    r"\s*[;:.?!,]\s+(?:and\s+)?|\s+-+\s+|\s+(?:whereas|while|another)\s+|\s+and\s+(?=(?:in|what|the|a|an|networks|one)\s)"
)
MAX_SIDES = 6
# Some patterns take time that grows with the square of the length; a comparison is named early or not at all.
MOST_CHARS = 1000


def parse_sides(text: str) -> tuple[tuple[str, ...], bool]:
    """The things compared, in order, or () when the text compares nothing; and whether the text names them as sides."""
    text = text[:MOST_CHARS]
    for form in _COMPILED:
        match = form.match(text)
        if match:
            first = match["a"].strip(" ,")
            second = _ASPECT.sub("", match["b"]).strip(" ,?.!;:")
            parts = [*re.split(r"\s*,\s*", first), *_listed(second)] if second else []
            parts = [part for part in parts if part.strip()]
            if len(parts) > 1:
                return tuple(parts[:MAX_SIDES]), True
    if not _CUE.search(text):
        return (), False
    clauses = [clause.strip(" ,?.!") for clause in _CLAUSES.split(text)]
    kept = [clause for clause in clauses if len(clause.split()) > 2 or any(char.isupper() for char in clause)]
    return (tuple(kept[:MAX_SIDES]) if len(kept) > 1 else (text, text)), False


def _listed(second: str) -> list[str]:
    """`B and C` of `compare A, B and C`: split where every part is short, since a long side may hold an "and"."""
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", second)
    return parts if len(parts) > 1 and all(len(part.split()) <= 3 for part in parts) else [second]
