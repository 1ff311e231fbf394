"""TeX commands that occur in abstracts: which vanish for searching, and which stand for a symbol or word."""

from __future__ import annotations

COMMANDS = frozenset(
    (
        "textit textbf texttt textsc textsf textrm textup textsl text emph underline url href mathrm mathbf "
        "mathcal mathbb mathfrak mathsf mathit mathtt mathscr boldsymbol bm bf it em tt rm sc sf operatorname mbox "
        "hbox left right big Big bigg Bigg bigl bigr displaystyle textstyle limits nolimits tilde widetilde hat "
        "widehat bar overline vec dot ddot quad qquad cite citep citet footnote frac dfrac tfrac label ensuremath "
        "mathop begin end xspace"
    ).split()
)
"""Commands of style and spacing: they vanish, their arguments stay."""

SYMBOLS = {
    "times": "×",
    "cdot": "·",
    "pm": "±",
    "approx": "≈",
    "sim": "~",
    "simeq": "≃",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "neq": "≠",
    "ne": "≠",
    "ll": "≪",
    "gg": "≫",
    "infty": "∞",
    "rightarrow": "→",
    "to": "→",
    "leftarrow": "←",
    "uparrow": "↑",
    "downarrow": "↓",
    "in": "∈",
    "subset": "⊂",
    "subseteq": "⊆",
    "cup": "∪",
    "cap": "∩",
    "lor": "∨",
    "land": "∧",
    "star": "*",
    "ast": "*",
    "ldots": "...",
    "dots": "...",
    "cdots": "...",
    "ell": "ℓ",
    "partial": "∂",
    "nabla": "∇",
    "sum": "∑",
    "prod": "∏",
    "int": "∫",
    "langle": "⟨",
    "rangle": "⟩",
    "ss": "ß",
    "ae": "æ",
    "oe": "œ",
    "aa": "å",
    "AA": "Å",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "i": "i",
}
"""Commands that stand for a character; any other, such as a Greek letter, stands for its own name."""
