"""The fitted numbers, as data: `rag/calibration.json`, written by `python -m eval.calibrate`, which prints how.

Every linear score is `intercept + features . weights` in the order of the feature names that are stored beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import CitewiseError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Linear:
    """A logistic model: probability = 1 / (1 + exp(-(intercept + features . weights)))."""

    features: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float = 0.0
    threshold: float = 0.5

    def probability(self, features: Floats) -> Floats:
        """(n,) probabilities in 0..1 for features (n, f)."""
        logits = np.asarray(features, dtype=np.float64) @ np.array(self.weights) + self.intercept
        chances: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
        return chances


@dataclass(frozen=True, slots=True)
class Calibration:
    """All fitted numbers: which paper and which of its sentences answer, what is listed, whether anything answers."""

    paper: Linear
    sentence: Linear
    membership_term: Linear
    membership_open: Linear
    answerable: Linear


def from_json(value: Mapping[str, Any], expected: Mapping[str, Sequence[str]]) -> Calibration:
    """A calibration from its JSON form; raises CitewiseError when it was made for other features."""
    parts = {}
    for name, features in expected.items():
        part = value[name]
        if tuple(part["features"]) != tuple(features):
            raise CitewiseError(
                f"rag/calibration.json: {name} was fitted for other features; run python -m eval.calibrate"
            )
        parts[name] = Linear(
            tuple(features), tuple(map(float, part["weights"])), float(part["intercept"]), float(part["threshold"])
        )
    return Calibration(**parts)


@lru_cache(maxsize=1)
def default_calibration() -> Calibration:
    """The packaged calibration."""
    from rag.answerable import ANSWERABLE_FEATURES
    from rag.evidence import PAPER_FEATURES, SENTENCE_FEATURES
    from rag.membership import OPEN_FEATURES, TERM_FEATURES

    text = (files("rag") / "calibration.json").read_text(encoding="utf-8")
    expected = {
        "paper": PAPER_FEATURES,
        "sentence": SENTENCE_FEATURES,
        "membership_term": TERM_FEATURES,
        "membership_open": OPEN_FEATURES,
        "answerable": ANSWERABLE_FEATURES,
    }
    return from_json(json.loads(text), expected)
