"""Which papers a comparison compares: the best paper of each side, every paper once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_PAPERS = 4
# A clause that describes no paper ("what does each propose") fits its best paper by so much less than the best clause.
WEAK_SIDE = 0.8


def papers_of_sides(sides: Sequence[Floats], whole: Floats, explicit: bool) -> list[int]:
    """The papers compared, in the order of their sides.

    `sides` are the scores (n,) of every paper for each side, `whole` for the whole question. Explicit sides give a
    paper each; clauses are weighed first, and only those that fit a paper well count.
    """
    chosen: list[int] = []
    found = []
    for position, scores in enumerate(sides):
        total = scores + 0.25 * whole
        for paper in np.argsort(-total, kind="stable"):
            if int(paper) not in chosen:
                chosen.append(int(paper))
                found.append((float(total[paper]), position, int(paper)))
                break
    if explicit or len(found) <= 2:
        return [paper for _, _, paper in found][:MOST_PAPERS]
    strongest = max(score for score, _, _ in found)
    ranked = sorted(found, key=lambda item: (-item[0], item[1]))
    kept = [item for number, item in enumerate(ranked) if number < 2 or item[0] >= WEAK_SIDE * strongest]
    return [paper for _, _, paper in sorted(kept[:MOST_PAPERS], key=lambda item: item[1])]
