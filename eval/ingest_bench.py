"""`python -m eval.ingest_bench`: a whole ingest of the seeds against raw onnxruntime on the same texts, in one run.

Raw: `eval.embed_bench.bare` on texts tokenised beforehand, which batches, runs and pools and does nothing else. It
takes turns with ingests into fresh libraries (raw, ingest, raw, ingest, ..., raw), and each ingest is held against
the mean of the raw runs before and after it, so that a machine that slows down or speeds up is unjust to neither.
After each ingest the same seeds are ingested again into the same library. Packages are imported beforehand.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from eval.embed_bench import bare, sorted_by
from eval.seeds_library import SEEDS
from rag.abstracts import read_paths
from rag.embed import BATCH_TOKENS, EmbedderInfo, PackagedMiniLM, Vectors
from rag.index import Library
from rag.onnx_model import load_session


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and seconds of all the process's threads on processors (blind to other processes)."""

    wall_s: float
    cpu_s: float


class TimedEmbedder:
    """The packaged embedder, with what it is given and the wall seconds spent in it."""

    def __init__(self, embedder: PackagedMiniLM) -> None:
        self._embedder = embedder
        self.texts: list[str] = []
        self.parted: list[Sequence[str]] = []
        self.seconds = 0.0

    @property
    def info(self) -> EmbedderInfo:
        """See `Embedder.info`."""
        return self._embedder.info

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        self.texts += texts
        with self._timed():
            return self._embedder.embed(texts)

    def embed_parts(self, texts: Sequence[Sequence[str]]) -> list[Vectors]:
        """See `rag.passages.ContextEmbedder`."""
        self.parted += texts
        with self._timed():
            return self._embedder.embed_parts(texts)

    def sequences(self) -> list[list[int]]:
        """The token ids of all windows of what was embedded, as the model got them."""
        cls, sep = self._embedder.sequences([""])[0]
        windows = [window for _, window in self._embedder.context_windows(self.parted)]
        return [*self._embedder.sequences(self.texts), *([cls, *window.ids, sep] for window in windows)]

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Round:
    """An ingest into a fresh library (`whole`), the embedding within it, and the ingest after it."""

    whole: Spent
    embed_s: float
    again_s: float


def main() -> None:
    """Print the medians over the rounds and their spread."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how many ingests are measured")
    rounds = parser.parse_args().rounds
    embedder = PackagedMiniLM()
    first = TimedEmbedder(embedder)
    ingest_twice(first, TimedEmbedder(embedder))  # warms up
    sequences = first.sequences()
    run_raw = partial(bare, load_session(embedder.threads), sequences, sorted_by(BATCH_TOKENS))
    run_raw()
    raw, ingests = [spent(run_raw)], []
    for _ in range(rounds):
        ingests.append(ingest_twice(TimedEmbedder(embedder), TimedEmbedder(embedder)))
        raw.append(spent(run_raw))
    print(f"{len(sequences)} sequences, {rounds} rounds: {report(raw, ingests)}")


def report(raw: Sequence[Spent], ingests: Sequence[Round]) -> str:
    """The ratios, each a median with its range, and the median seconds; `raw` has one run more than `ingests`."""
    raw_s = [statistics.mean((before.wall_s, after.wall_s)) for before, after in pairwise(raw)]
    raw_cpu_s = [statistics.mean((before.cpu_s, after.cpu_s)) for before, after in pairwise(raw)]
    turns = list(zip(raw_s, raw_cpu_s, ingests, strict=True))
    ratios = {
        "raw / embedding within the ingest": [wall / turn.embed_s for wall, _, turn in turns],
        "raw / whole ingest": [wall / turn.whole.wall_s for wall, _, turn in turns],
        "the same in processor seconds": [cpu / turn.whole.cpu_s for _, cpu, turn in turns],
        "unchanged again / first ingest": [turn.again_s / turn.whole.wall_s for turn in ingests],
    }
    seconds = {
        "raw": [turn.wall_s for turn in raw],
        "embedding": [turn.embed_s for turn in ingests],
        "whole ingest": [turn.whole.wall_s for turn in ingests],
        "unchanged again": [turn.again_s for turn in ingests],
    }
    shown = [
        f"{name} {statistics.median(values):.1%} ({min(values):.1%} to {max(values):.1%})"
        for name, values in ratios.items()
    ]
    medians = [f"{name} {statistics.median(values):.2f} s" for name, values in seconds.items()]
    return f"{'; '.join(shown)}; medians: {', '.join(medians)}"


def ingest_twice(first: TimedEmbedder, second: TimedEmbedder) -> Round:
    """Ingest the seeds into a fresh library, reading and closing included, then once more, unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        whole = spent(partial(ingest, Path(folder) / "library", first))
        again = spent(partial(ingest, Path(folder) / "library", second))
    if second.texts or second.parted:
        raise AssertionError(
            f"of the unchanged seeds {len(second.texts) + len(second.parted)} texts were embedded again"
        )
    return Round(whole, first.seconds, again.wall_s)


def ingest(folder: Path, embedder: TimedEmbedder) -> None:
    """What `citewise ingest seeds` does."""
    with Library.create(folder, embedder.info) as library:
        library.ingest(read_paths([SEEDS]), embedder)


def spent(run: Callable[[], object]) -> Spent:
    """What a call takes."""
    start, start_cpu = time.perf_counter(), time.process_time()
    run()
    return Spent(time.perf_counter() - start, time.process_time() - start_cpu)


if __name__ == "__main__":
    main()
