"""Fits the numbers of `rag/calibration.json` from judged cases: conditional logit and logistic regression.

Rows know the fold of their paper and of their question, so that a fold's numbers are fitted without either.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from rag.calibration import Linear

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FOLDS = 8
SENTENCE_PENALTY = 5.0
MEMBERSHIP_C = 0.1
ANSWERABLE_C = 1.0


@dataclass(frozen=True)
class Rows:
    """Features (r, f), labels (r,), the group (question) of each row, and the folds of its paper and question."""

    features: Floats
    labels: Bools
    group: NDArray[np.int64]
    paper_fold: NDArray[np.int64]
    question_fold: NDArray[np.int64]

    def where(self, kept: Bools) -> Rows:
        """The rows kept."""
        return Rows(
            self.features[kept], self.labels[kept], self.group[kept], self.paper_fold[kept], self.question_fold[kept]
        )


def fold_of(name: str) -> int:
    """The fold of a paper or question, from its id alone."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS


def fit_sentence(rows: Rows, names: Sequence[str]) -> Linear:
    """Conditional logit (McFadden 1974): the likelihood that a softmax over a paper's sentences picks a right one."""
    scale = rows.features.std(axis=0) + 1e-9
    scaled = rows.features / scale
    groups = [np.flatnonzero(rows.group == group) for group in np.unique(rows.group)]
    groups = [group for group in groups if rows.labels[group].any()]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, gradient = 0.5 * SENTENCE_PENALTY * float(weights @ weights), SENTENCE_PENALTY * weights
        for group in groups:
            logits = scaled[group] @ weights
            chances = np.exp(logits - logits.max())
            chances /= chances.sum()
            right = chances * rows.labels[group]
            total -= float(np.log(right.sum() + 1e-12))
            gradient = gradient - (right / (right.sum() + 1e-12) - chances) @ scaled[group]
        return total, gradient

    fitted = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    return Linear(tuple(names), tuple(map(float, fitted / scale)))


def fit_logistic(rows: Rows, names: Sequence[str], c: float) -> Linear:
    """Logistic regression with standardised features and an L2 penalty of 1 / c, in the features' own scale."""
    mean, scale = rows.features.mean(axis=0), rows.features.std(axis=0) + 1e-9
    model = LogisticRegression(C=c, max_iter=2000).fit((rows.features - mean) / scale, rows.labels)
    weights = model.coef_[0] / scale
    return Linear(tuple(names), tuple(map(float, weights)), float(model.intercept_[0] - mean @ weights))


def with_threshold(model: Linear, rows: Rows) -> Linear:
    """The model with a threshold that has the best F1 of refusals on the rows (label true: answerable).

    Many thresholds are about as good; the middle one of those within 0.01 of the best is the least a child of chance.
    """
    probability = model.probability(rows.features)
    thresholds = np.linspace(0.1, 0.9, 81)
    scores = []
    for threshold in thresholds:
        refused = probability < threshold
        right = int((refused & ~rows.labels).sum())
        scores.append(2 * right / max(1, int(refused.sum()) + int((~rows.labels).sum())))
    good = thresholds[np.array(scores) >= max(scores) - 0.01]
    return Linear(model.features, model.weights, model.intercept, round(float(np.median(good)), 3))


@dataclass(frozen=True)
class FoldedLinear:
    """A model for each row of a feature matrix, row i being paper i: each judged by numbers fitted without it."""

    models: Sequence[Linear]
    threshold: float = 0.5

    def probability(self, features: Floats) -> Floats:
        """(n,) probabilities, row by row."""
        rows = np.array([model.probability(features[row : row + 1])[0] for row, model in enumerate(self.models)])
        return np.asarray(rows, dtype=np.float64)
