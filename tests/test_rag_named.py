"""Names in a question: who owns them, who merely has them, and which the corpus does not know."""

from __future__ import annotations

import pytest
from corpus_kit import ABSTRACTS, corpus_of

from rag.corpus import Corpus
from rag.named import RARE_STRENGTH, find_named

LONG = "Graphs are large. We introduce Wide Sparse Attention, a layer for graphs. Wide Sparse Attention is fast."
IDS = ("ada", "birds", "eeg", "mos", "rain", "wide", "zeta")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of(tmp_path_factory.mktemp("named") / "lib", {**ABSTRACTS, "wide": LONG})


@pytest.mark.parametrize(
    ("text", "strengths", "papers"),
    [
        ("", {}, ()),
        ("how do storks leave?", {}, ()),
        ("What does Ada-K cut?", {"ada": 1.0}, ("ada",)),
        ("what does ada-k cut?", {"ada": 1.0}, ("ada",)),
        ("What is Ada-K's cost?", {"ada": 1.0}, ("ada",)),
        ("Compare MoS with Ada-K", {"ada": 1.0, "mos": 1.0}, ("mos", "ada")),
        ("Compare Ada-K with MoS and Ada-K", {"ada": 1.0, "mos": 1.0}, ("ada", "mos")),
        ("How rigid is LoRA?", {"mos": RARE_STRENGTH}, ()),
        ("How rigid is lora?", {}, ()),
        ("What does the QX7 measure?", {"zeta": RARE_STRENGTH}, ()),
        ("What cuts FLOPs in MoS?", {"ada": RARE_STRENGTH, "mos": 1.0}, ("mos",)),
        ("Is wide sparse attention fast?", {"wide": 1.0}, ("wide",)),
        ("Is Wide Sparse Attention fast?", {"wide": 1.0}, ("wide",)),
        ("Is sparse attention wide?", {}, ()),
    ],
)
def test_papers_of_names(text: str, strengths: dict[str, float], papers: tuple[str, ...], corpus: Corpus) -> None:
    found = find_named(text, corpus)
    assert found.strength.shape == (len(IDS),)
    assert {IDS[i]: round(float(s), 6) for i, s in enumerate(found.strength) if s} == strengths
    assert tuple(IDS[paper] for paper in found.papers) == papers


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Does BERT use GPT-4?", ("BERT", "GPT-4")),
        ("Is BERT like BERT?", ("BERT",)),
        ("Are EEGs noisy?", ()),
        ("Is it Newton-like, NP-hard or GAN-based?", ()),
        ("Where do Storks go in Norway?", ()),
        ("Does MoS beat ada-k?", ()),
        ("Which LoRAs are rigid?", ()),
    ],
)
def test_names_that_no_paper_has(text: str, unknown: tuple[str, ...], corpus: Corpus) -> None:
    assert find_named(text, corpus).unknown == unknown
