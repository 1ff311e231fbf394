"""Parts for tests of questions: a small library of six papers, two of which give a name to their work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from library_kit import HashingEmbedder

from rag.ask import Engine
from rag.corpus import Corpus, build_corpus
from rag.embed import Embedder
from rag.index import Library
from rag.records import Record, Source

ABSTRACTS = {
    "ada": (
        "Experts of a sparse model cost compute. We propose Ada-K, which lets each token choose its number of experts. "
        "Ada-K cuts FLOPs by 25% on average."
    ),
    "birds": "Birds migrate in autumn. A survey of 312 nests in Norway shows that storks leave first.",
    "eeg": "Signals of the brain are noisy. We denoise EEG recordings with a diffusion model.",
    "mos": (
        "Adapters such as LoRA are rigid. We propose MoS, which shares shards of adapters across layers. "
        "MoS saves eight times the parameters of LoRA."
    ),
    "rain": "Forecasts of rain matter to farmers. A diffusion model predicts rain one day ahead.",
    "zeta": "The QX7 sensor drifts. A robust filter corrects the drift without calibration.",
}


def records_of(abstracts: Mapping[str, str]) -> list[Record]:
    """A record for each abstract by key, in the order of the keys; years 2020 and 2021 take turns."""
    return [
        Record(abstract=abstract, source=Source("a.jsonl", number), key=key, year=2020 + number % 2)
        for number, (key, abstract) in enumerate(sorted(abstracts.items()))
    ]


def engine_over(folder: Path, records: Sequence[Record], embedder: Embedder) -> Engine:
    """An engine over a new library of these records; close it by `with`."""
    library = Library.create(folder, embedder.info)
    library.ingest(records, embedder)
    return Engine(library, embedder)


def corpus_of(folder: Path, abstracts: Mapping[str, str]) -> Corpus:
    """The corpus of a new library of these abstracts, with all files closed."""
    embedder = HashingEmbedder()
    with Library.create(folder, embedder.info) as library:
        library.ingest(records_of(abstracts), embedder)
        return build_corpus(library.view())
