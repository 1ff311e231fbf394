"""Which form of the packaged model is fastest here, and how much of it is left: `python -m eval.embed_bench`.

Reads the abstracts of a folder and their sentences. The first table varies weights, threads and batches of bare
onnxruntime on texts tokenised beforehand. The second alternates that and `PackagedMiniLM.embed` on the same texts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rag.abstracts import read_paths
from rag.chunks import sentence_spans
from rag.embed import BATCH_TOKENS, PackagedMiniLM, Vectors, length_batches, unit_rows
from rag.onnx_model import MODEL_FILE, MODEL_SHA256, checked_file, open_session, run_batch
from rag.records import Record

SEEDS = Path(__file__).parents[1] / "seeds"
Sequences = Sequence[Sequence[int]]


def main() -> None:
    """Measure and print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=Path, default=SEEDS, help="files or folder to read (default: the seeds)")
    parser.add_argument("--rounds", type=int, default=5, help="how often the forms take turns")
    parser.add_argument("--every", type=int, default=3, help="the first table takes one text of so many")
    parser.add_argument("--sentences", type=int, default=400, help="how many sentences to take")
    options = parser.parse_args()
    found = [item.abstract for item in read_paths([options.texts]) if isinstance(item, Record)]
    abstracts = list(dict.fromkeys(found))
    sentences = [text[a:b] for text in abstracts for a, b in sentence_spans(text)][: options.sentences]
    embedder = PackagedMiniLM()
    sets = {name: embedder.sequences(texts) for name, texts in (("abstracts", abstracts), ("sentences", sentences))}
    for name, sequences in sets.items():
        print(f"{name}: {len(sequences)} windows of {np.mean([len(s) for s in sequences]):.0f} tokens on average")
    print_forms({name: sequences[:: options.every] for name, sequences in sets.items()}, options.rounds)
    for name, texts in (("abstracts", abstracts), ("sentences", sentences)):
        print_share(name, texts, sets[name], embedder, options.rounds)


def print_forms(sets: Mapping[str, Sequences], rounds: int) -> None:
    """Print texts per second of each form, the best of `rounds`, and the smallest cosine with the first form's vectors.

    The forms take turns within a round, so that a machine busy with something else is unjust to all of them alike.
    """
    forms = {
        (weights, threads, label): (open_session(model, threads), batching)
        for weights, model in models()
        for threads in (1, 2)
        for label, batching in batchings()
    }
    seconds = {(form, name): float("inf") for form in forms for name in sets}
    cosines = dict.fromkeys(forms, 1.0)
    reference: dict[str, Vectors] = {}
    for _ in range(rounds):
        for form, (session, batching) in forms.items():
            for name, sequences in sets.items():
                vectors, spent = timed(bare, session, sequences, batching)
                reference.setdefault(name, vectors)
                seconds[form, name] = min(spent, seconds[form, name])
                cosines[form] = min(cosines[form], float((vectors * reference[name]).sum(axis=1).min()))
    print(f"\n{'weights':8} {'threads':>7} {'batch':20}", *(f"{name + '/s':>12}" for name in sets), "least cosine")
    for form in forms:
        speeds = (f"{len(sequences) / seconds[form, name]:12.1f}" for name, sequences in sets.items())
        print(f"{form[0]:8} {form[1]:7} {form[2]:20}", *speeds, f"{cosines[form]:12.6f}")


def print_share(name: str, texts: Sequence[str], sequences: Sequences, embedder: PackagedMiniLM, rounds: int) -> None:
    """Print the median over `rounds` of bare onnxruntime's seconds over `PackagedMiniLM.embed`'s, alternated."""
    session, batches = open_session(checked_file(*MODEL_FILE, MODEL_SHA256), embedder.threads), sorted_by(BATCH_TOKENS)
    ratios = []
    for number in range(rounds + 1):
        runs = [partial(bare, session, sequences, batches), partial(embedder.embed, texts)]
        order = (0, 1) if number % 2 else (1, 0)
        seconds = dict(zip(order, (timed(runs[i])[1] for i in order), strict=True))
        if number:  # the first round warms up
            ratios.append(seconds[0] / seconds[1])
    listed = " ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"\n{name}: embed reaches {statistics.median(ratios):.1%} of bare onnxruntime (rounds: {listed})")


Batching = Callable[[Sequence[int]], Iterator[list[int]]]


def sorted_by(budget: int) -> Batching:
    """Batches by length of at most `budget` tokens with padding."""
    return lambda lengths: length_batches(lengths, budget)


def as_they_come(size: int) -> Batching:
    """Batches of `size` texts in the order given, padded to the longest."""
    return lambda lengths: (list(range(i, min(i + size, len(lengths)))) for i in range(0, len(lengths), size))


def batchings() -> list[tuple[str, Batching]]:
    """The ways to batch that are compared, with their names."""
    by_length = [(f"sorted, {budget} tokens", sorted_by(budget)) for budget in (1, 256, 512, 1024, 4096)]
    return [*by_length, ("unsorted, 32 texts", as_they_come(32))]


def models() -> Iterator[tuple[str, bytes]]:
    """Yield the packaged file and, where the `onnx` package is installed, the same weights stored as float32."""
    packaged = checked_file(*MODEL_FILE, MODEL_SHA256)
    yield "int8", packaged
    try:
        yield "float32", as_float32(packaged)
    except ImportError:
        print("float32 is left out: it takes the package onnx")


def as_float32(packaged: bytes) -> bytes:
    """Return the model with every int8 weight times its scale stored as float32. Raises ImportError without `onnx`."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load_from_string(packaged)
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    kept: list[Any] = []
    floats: dict[str, Any] = {}
    for node in graph.node:
        source = stored.get(node.input[0]) if node.input else None
        if node.op_type == "Cast" and source is not None and node.input[0].endswith("_q"):
            floats[node.output[0]] = numpy_helper.to_array(source).astype(np.float32)
            graph.initializer.remove(source)
        elif node.op_type == "Mul" and node.input[0] in floats:
            value = floats.pop(node.input[0]) * numpy_helper.to_array(stored[node.input[1]])
            graph.initializer.append(numpy_helper.from_array(value.astype(np.float32), node.output[0]))
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    return bytes(model.SerializeToString())


def bare(session: Any, sequences: Sequences, batching: Batching) -> Vectors:
    """Return the unit vectors of tokenised texts, with nothing done but batching, running and pooling."""
    rows = np.empty((len(sequences), PackagedMiniLM.info.dimension), dtype=np.float32)
    for batch in batching([len(sequence) for sequence in sequences]):
        rows[batch] = run_batch(session, [sequences[i] for i in batch])
    return unit_rows(rows)


def timed(run: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what `run(*arguments)` returns, and its seconds."""
    start = time.perf_counter()
    result = run(*arguments)
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
