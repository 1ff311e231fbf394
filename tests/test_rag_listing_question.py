"""Listings: what they ask for without the framing, their alternatives, and what only looks like one."""

from __future__ import annotations

import pytest

from rag.listing_question import Criterion, parse_criterion
from rag.question import parse_question

LISTINGS = [
    ("which papers study MoE routing?", "MoE routing"),
    ("Which papers are about federated learning?", "federated learning"),
    ("what papers discuss graph neural networks", "graph neural networks"),
    ("In which papers is dropout used?", "dropout used"),
    ("WHICH PAPERS STUDY PRUNING???", "PRUNING"),
    ("which of these papers use human feedback", "human feedback"),
    ("which  papers\n study \t pruning", "pruning"),
    ("So which works propose a curriculum?", "curriculum"),
    ("Which recent papers study calibration?", "calibration"),
    ("Which papers rely on contrastive learning, and how many?", "contrastive learning"),
    ("What research is concerned with fairness?", "fairness"),
    ("list papers on diffusion models", "diffusion models"),
    ("List all papers that use EEG data.", "EEG data"),
    ("Could you please list the papers about prompt tuning?", "prompt tuning"),
    ("enumerate every study that evaluates optimizers", "optimizers"),
    ("show me papers that tackle catastrophic forgetting", "catastrophic forgetting"),
    ("find me everything on quantization", "quantization"),
    ("give me all the studies about calibration in this library", "calibration"),
    ("Please return all publications related to unlearning", "unlearning"),
    ("I'm looking for papers on active learning", "active learning"),
    ("all papers on speech", "speech"),
    ("papers about LoRA", "LoRA"),
    ("What papers are there on pruning?", "pruning"),
    ("What are the papers on distillation?", "distillation"),
    ("Does the corpus include anything about GANs?", "GANs"),
    ("Name papers on GANs", "GANs"),
    ("Who else studied GANs?", "GANs"),
    ("Anything on long context?", "long context"),
    ("any work on differential privacy?", "differential privacy"),
    ("any other papers about hashing", "hashing"),
    ("Any theoretical work on attention?", "theoretical attention"),
    ("how many papers study robustness?", "robustness"),
    ("How many of the papers are about speech recognition?", "speech recognition"),
    ("Is there any work on protein folding?", "protein folding"),
    ("Are there papers about tokenization?", "tokenization"),
    ("do any papers evaluate on ImageNet?", "ImageNet"),
    ("Have any of the studies used crowdsourcing?", "crowdsourcing"),
    ("Do we have anything on time series forecasting?", "time series forecasting"),
    ("What work is there on retrieval?", "retrieval"),
    ("what has been done on pruning?", "pruning"),
    ("who works on causal inference?", "causal inference"),
    ("Has anyone tried mixup?", "mixup"),
    ("reinforcement learning papers please", "reinforcement learning"),
    ("graph papers", "graph"),
    ("哪些论文研究了扩散模型？", "扩散模型"),
    ("哪些论文研究 MoE 路由？", "MoE 路由"),
    ("有哪些关于联邦学习的论文", "联邦学习"),
    ("关于扩散模型的论文有哪些？", "扩散模型"),
    ("请列出所有关于剪枝的论文。", "剪枝"),
    ("有没有关于联邦学习的文章？", "联邦学习"),
    ("列出所有使用强化学习的论文。", "强化学习"),
    ("请列出图神经网络的文章", "图神经网络"),
    ("多少篇论文讨论了鲁棒性？", "鲁棒性"),
]


@pytest.mark.parametrize(("text", "topic"), LISTINGS)
def test_a_listing_is_its_criterion_without_the_framing(text: str, topic: str) -> None:
    question = parse_question(text)
    assert (question.form, question.topic) == ("listing", topic)
    assert question.text == text
    assert question.alternatives == (topic,)
    assert (question.excluded, question.wanted, question.sides) == (None, "any", ())


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Which medical imaging papers are in the corpus?", "medical imaging"),
        ("how many theoretical papers are there?", "theoretical"),
        ("Show all abstracts mentioning protein folding", "protein folding"),
        ("what number of papers address fairness?", "fairness"),
        ("please show me all papers in this corpus about unlearning", "unlearning"),
        ("Give me a list of papers about pruning", "pruning"),
        ("I would like to see papers on tokenizers", "tokenizers"),
        ("I want papers on tokenizers", "tokenizers"),
        ("Which papers, if any, study pruning?", "pruning"),
        ("Is anyone working on pruning?", "pruning"),
        ("有多少篇论文讨论了鲁棒性？", "鲁棒性"),
        ("有哪些论文是关于大语言模型的？", "大语言模型"),
        ("哪些工作研究了剪枝？", "剪枝"),
        ("哪些論文研究了擴散模型？", "擴散模型"),
    ],
)
def test_listings_whose_framing_goes(text: str, topic: str) -> None:
    question = parse_question(text)
    assert (question.form, question.topic) == ("listing", topic)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("papers on image or video generation", ("image generation", "video generation")),
        ("papers about speech, audio or music", ("speech", "audio", "music")),
        ("which papers study graphs or point clouds?", ("graphs", "point clouds")),
        ("which papers introduce a new benchmark or dataset?", ("new benchmark", "new dataset")),
        ("papers on image classification or recognition", ("image classification", "image recognition", "recognition")),
        ("papers about image/video generation", ("image generation", "video generation")),
        ("papers on pruning and distillation", ("pruning and distillation",)),
        ("papers on p or q or r or s or t", ("p or q or r or s or t",)),
    ],
)  # fmt: skip
def test_alternatives_of_a_listing(text: str, expected: tuple[str, ...]) -> None:
    found = parse_criterion(text)
    assert found is not None
    assert found.alternatives == expected


@pytest.mark.parametrize(
    ("text", "topic", "excluded"),
    [
        ("which papers are about vision but not language?", "vision", "language"),
        ("list papers on reinforcement learning, excluding robotics", "reinforcement learning", "robotics"),
        ("papers on LLMs except for code generation", "LLMs", "code generation"),
        ("Which papers study pruning other than structured pruning?", "pruning", "structured pruning"),
        ("which papers use transformers but do not use pretraining?", "transformers", "pretraining"),
        ("papers on attention apart from sparse attention in this corpus", "attention", "sparse attention"),
    ],
)
def test_what_a_listing_excludes(text: str, topic: str, excluded: str) -> None:
    assert parse_criterion(text) == Criterion(topic, (topic,), excluded)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("which papers study pruning? Name them.", "pruning"),
        ("Which papers study pruning? How many are there?", "pruning"),
        ("which papers?", ""),
    ],
)
def test_framing_after_the_criterion(text: str, topic: str) -> None:
    assert parse_question(text).topic == topic


@pytest.mark.parametrize(
    "text",
    [
        "What baselines do the authors use?",
        "Which models do the authors compare?",
        "How many experts do the authors use?",
        "Which method works better?",
        "What works best on small data?",
        "Show me how Ada-K works",
        "How many works does the paper cite?",
        "What does related work say about pruning?",
        "Is there something wrong with routing?",
        "Ada-K 使用了哪些数据集？",
        "这个方法有没有使用额外的数据？",
    ],
)
def test_words_of_a_listing_in_a_question_of_fact(text: str) -> None:
    assert parse_criterion(text) is None
