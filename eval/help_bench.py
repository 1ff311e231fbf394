"""`python -m eval.help_bench`: `citewise --help` against importing typer and rich, whole processes in turn."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
HELP = ("-m", "rag.cli", "--help")
IMPORTS = ("-c", "import typer, rich")


def main() -> None:
    """Print the medians, and the median of the ratios pair by pair."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="how often the two take turns")
    rounds = parser.parse_args().rounds
    pairs = [in_turn(number % 2 == 1) for number in range(rounds + 1)][1:]  # the first pair warms the file cache
    help_s, imports_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = [first / second for first, second in pairs]
    print(
        f"citewise --help {help_s * 1000:.0f} ms, import typer, rich {imports_s * 1000:.0f} ms, {rounds} rounds: "
        f"median ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )


def in_turn(imports_first: bool) -> tuple[float, float]:
    """Seconds of the help and of the imports, run one after the other."""
    if imports_first:
        imports_s = process_s(IMPORTS)
        return process_s(HELP), imports_s
    return process_s(HELP), process_s(IMPORTS)


def process_s(arguments: Sequence[str]) -> float:
    """Wall seconds of a Python process from start to end. Raises CalledProcessError when it fails."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
