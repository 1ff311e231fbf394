"""`python -m eval.ask_bench`: a warm `ask` over the seeds against embedding the question alone, in one run."""

from __future__ import annotations

import statistics
import time

from eval.cases import SUITES, load_suite
from eval.seeds_library import seeds_library
from rag.ask import Engine

ROUNDS = 3


def main() -> None:
    """Print the medians and their ratio, over the suite's questions."""
    questions = [case.text for case in load_suite(SUITES / "seeds") if case.kind == "question"]
    asked, embedded = [], []
    with seeds_library() as (library, embedder):
        engine = Engine(library, embedder)
        engine.ask(questions[0])
        for _ in range(ROUNDS):
            for question in questions:
                start = time.perf_counter()
                embedder.embed([question])
                middle = time.perf_counter()
                engine.ask(question)
                asked.append(time.perf_counter() - middle)
                embedded.append(middle - start)
    ask_s, embed_s = statistics.median(asked), statistics.median(embedded)
    print(f"ask {ask_s * 1000:.1f} ms, embedding alone {embed_s * 1000:.1f} ms, ratio {ask_s / embed_s:.2f}")


if __name__ == "__main__":
    main()
