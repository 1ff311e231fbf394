"""Labels of papers without a title: their own name where the abstract gives one, never another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.abbreviations import expansion_start
from rag.abstracts import read_paths, to_paper
from rag.labels import label, own_name
from rag.records import Paper, Record

SEEDS = Path(__file__).parent.parent / "seeds"

# File, position, label: read by eye from the 88 abstracts, the ones without a name of their own included.
EXPECTED = """
000 1 Real-time monitoring in modern medical research introduces functional…
000 2 Diffusion-based generative models have emerged as powerful tools…
000 3 We investigate the internal representations of vision-language models…
000 4 InfoMax
000 5 EdgePrompt
000 6 Cross-Architecture Layerwise Distillation (CALD)
000 7 A central problem related to transformers can be…
000 8 Value Anchoring
000 9 Amortized Control of continuous State Space Model (ACSSM)
000 10 ParFam
000 12 FreqPrior
000 14 Neural Context Flow (NCF)
000 15 Advancements in foundation models (FMs) have led to…
000 17 Sharpness-Aware Minimization (SAM) has emerged as a powerful…
000 18 GUARD
000 19 PFGuard
001 1 DP-CATE
001 2 lambda-skip connections
001 3 SurFhead
001 4 VSD
001 6 Model Merging with Amortized Pareto Front (MAP)
001 7 Mixture of Shards (MoS)
001 8 RevisEval
001 9 Conditionally Overlapping Mixture of ExperTs (COMET)
001 11 VIsion-guided Expression Diffusion Model (VIE-DM)
001 12 Demonstration ITerated Task Optimization (DITTO)
001 13 GenSE
001 14 Red-teaming, or identifying prompts that elicit harmful responses…
001 15 pluralistic alignment (PAL)
001 16 Sequential Conformal Prediction for Generative Models (SCOPE-Gen)
001 18 Activation Beacon
002 1 marginal fairness sliced Wasserstein barycenter (MFSWB)
002 2 GEM
002 4 CBraMod
002 6 Multi-Human-Value Alignment Palette (MAP)
002 8 M4oE
002 10 COALITION
002 12 Long-Short Decision Transformer (LSDT)
002 15 AdaWM
002 16 Description-free Multi-prompt Learning (DeMul)
002 18 Deploying complex machine learning models on resource-constrained devices…
003 1 hyper-connections
003 2 progressively refined differentiable physics (PRDP)
003 3 Inverse Constitutional AI (ICAI)
003 6 VideoPhy
003 7 Ada-K routing
003 8 low-rank ZO algorithm (LOZO)
003 9 DebGCD
003 10 LANTERN
003 11 SemiCLIP
003 12 SiMHand
004 1 Copyright-Protecting Model Fusion (CP-Fuse)
004 2 Condition Contrastive Alignment (CCA)
004 3 Feedback Schrödinger Bridge Matching (FSBM)
004 4 AERCA
004 5 Instant Policy
004 6 GeSubNet
004 10 CREATIVITY INDEX
004 14 Safety Head ImPortant Score (Ships)
004 16 Reconstructing dynamics using samples from sparsely time-resolved snapshots…
004 17 Unbalanced Flow Matching
004 19 Optimal Covariance Matching (OCM)
"""


@pytest.fixture(scope="module")
def labels() -> dict[tuple[str, int], str]:
    records = [item for item in read_paths([SEEDS]) if isinstance(item, Record)]
    return {(r.source.file[6:9], r.source.position): label(to_paper(r)) for r in records}


def test_seeds_have_the_labels_read_by_eye(labels: dict[tuple[str, int], str]) -> None:
    rows = [line.split(" ", 2) for line in EXPECTED.strip().splitlines()]
    expected = {(file, int(position)): name for file, position, name in rows}
    assert len(expected) >= 40
    assert {place: labels[place] for place in expected} == expected


def test_labels_of_the_seeds_are_one_line_and_from_the_abstract(labels: dict[tuple[str, int], str]) -> None:
    assert all(0 < len(name) <= 120 and "\n" not in name for name in labels.values())
    assert sum(name.endswith("…") for name in labels.values()) <= 38


def test_title_comes_first() -> None:
    assert label(Paper(id="p", abstract="We propose InfoMax, a method.", title=" A \n title ")) == "A title"
    assert label(Paper(id="p", abstract="We propose InfoMax, a method.", title=" ")) == "InfoMax"


@pytest.mark.parametrize(
    "abstract",
    [
        "BERT is strong. We propose to fine-tune BERT, a model of language.",
        "We present a method for solving regularized optimal transport (RUOT) from data.",
        "We introduce a variational algorithm with a tight evidence lower bound (ELBO), and more.",
        "We evaluate on ImageNet, a large dataset, and on CIFAR-10.",
        "The recently proposed Learning to Help (L2H) model is slow. We make it fast.",
        "Prior work introduced SAM, a minimizer. We study SAM in theory.",
        "We propose a novel method that improves LLMs and VLMs.",
        "We identify a challenge, which we term token ambiguity, and a guarantee called conformal control.",
        "Smith et al. proposed FooNet, a network. It fails.",
        "We propose a large language model (LLM) for chemistry.",
    ],
)
def test_no_name_is_taken_from_others(abstract: str) -> None:
    assert own_name(abstract) is None


@pytest.mark.parametrize(
    ("abstract", "expected"),
    [
        ("We propose FooNet, a network for bars.", "FooNet"),
        ("This paper introduces Foo Bar Net (FBN), a network.", "Foo Bar Net (FBN)"),
        ("We propose a novel framework, dubbed FooNet.", "FooNet"),
        ("We present a benchmark called FooBench for bars.", "FooBench"),
        ("Our method, Foo Bar Baz (FBB), works.", "Foo Bar Baz (FBB)"),
        ("In this work we develop FooNet to bar.", "FooNet"),
        ("We introduce a framework that we call FooFrame.", "FooFrame"),
    ],
)
def test_usual_ways_to_introduce_a_name(abstract: str, expected: str) -> None:
    assert own_name(abstract) == expected


@pytest.mark.parametrize(
    ("abstract", "expected"),
    [
        ("Short one.", "Short one."),
        ("One two three four five six seven eight.", "One two three four five six seven eight."),
        ("One two three four five six seven eight, nine.", "One two three four five six seven eight…"),
        ("x" * 200, "x" * 90 + "…"),
        ("模型" * 60, "模型" * 45 + "…"),
    ],
)
def test_opening_words(abstract: str, expected: str) -> None:
    assert label(Paper(id="p", abstract=abstract)) == expected


@pytest.mark.parametrize(
    ("text", "abbreviation", "expected"),
    [
        ("we propose Mixture of Shards", "MoS", "Mixture of Shards"),
        ("algorithm, Model Merging with Amortized Pareto Front", "MAP", "Model Merging with Amortized Pareto Front"),
        ("by Copyright-Protecting Model Fusion", "CP-Fuse", "Copyright-Protecting Model Fusion"),
        ("constructing Head Relevance Vectors", "HRVs", "Head Relevance Vectors"),
        ("nothing that fits", "XYZ", None),
    ],
)
def test_words_an_abbreviation_stands_for(text: str, abbreviation: str, expected: str | None) -> None:
    start = expansion_start(text, 0, len(text), abbreviation)
    assert (None if start is None else text[start:]) == expected
