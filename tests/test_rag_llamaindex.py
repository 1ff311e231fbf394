from __future__ import annotations

import asyncio
import doctest
import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from corpus_kit import ABSTRACTS
from hypothesis import given
from hypothesis import strategies as st
from library_kit import HashingEmbedder
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeRelationship, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery

import rag.llamaindex
from rag.ask import Engine
from rag.chunks import sentence_chunks
from rag.embed import Embedder, default_embedder
from rag.errors import BadQuestion, InputError, MissingLibrary
from rag.filters import parse_filter
from rag.index import Library
from rag.llamaindex import (
    CitewiseEmbedding,
    CitewiseQueryEngine,
    CitewiseRetriever,
    SentenceNodeParser,
    library_vector_store,
)
from rag.records import Paper, Record, Source

MOS = "We propose MoS, which shares shards of adapters across layers."


def engine_of(folder: Path, abstracts: Mapping[str, str], embedder: Embedder) -> Engine:
    """An engine over a new library of these abstracts by key, all of 2024; close it by `with`."""
    records = [
        Record(text, Source("a.jsonl", number), key, year=2024)
        for number, (key, text) in enumerate(abstracts.items(), start=1)
    ]
    library = Library.create(folder, embedder.info)
    library.ingest(records, embedder)
    return Engine(library, embedder)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with engine_of(tmp_path / "library", ABSTRACTS, HashingEmbedder()) as found:
        yield found


def test_the_documented_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_of(tmp_path / "library", ABSTRACTS, default_embedder()):
        pass
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(rag.llamaindex.__doc__ or "", {}, "llamaindex", None, 0)
    result = doctest.DocTestRunner().run(example)
    assert result.failed == 0 < result.attempted


def test_an_embedding_gives_the_embedders_vectors() -> None:
    embedder = HashingEmbedder()
    model = CitewiseEmbedding(embedder)
    texts = [f"text {number}" for number in range(600)]
    expected = embedder.embed(texts)
    embedder.texts = 0
    assert isinstance(model, BaseEmbedding)
    assert (model.model_name, model.embed_batch_size, model.class_name()) == ("hashing@1", 256, "CitewiseEmbedding")
    assert np.allclose(model.get_text_embedding_batch(texts), expected, atol=1e-6)
    assert embedder.texts == 600
    assert np.allclose(model.get_query_embedding(texts[3]), expected[3], atol=1e-6)
    assert np.allclose(model.get_text_embedding(texts[3]), expected[3], atol=1e-6)
    assert np.allclose(asyncio.run(model.aget_text_embedding_batch(texts)), expected, atol=1e-6)
    assert np.allclose(asyncio.run(model.aget_query_embedding(texts[3])), expected[3], atol=1e-6)
    assert json.loads(model.to_json())["model_name"] == "hashing@1"


def test_nodes_are_the_chunks_with_exact_offsets() -> None:
    # The words of the second sentence stand in the first one too, those of the third are the second's again.
    text = "Say (it works.) twice, e.g. so. it works. it works."
    document = Document(text=text, id_="d1", metadata={"abstract": text, "paper_id": "p1", "year": 2024})
    nodes = SentenceNodeParser().get_nodes_from_documents([document])
    expected = [(c.start_char, c.end_char, c.text) for c in sentence_chunks(Paper("p1", text))]
    assert [(n.start_char_idx, n.end_char_idx, n.text) for n in nodes] == expected
    assert all(text[node.start_char_idx : node.end_char_idx] == node.text for node in nodes)
    assert [n.metadata for n in nodes] == [{"paper_id": "p1", "start_char": a, "end_char": b} for a, b, _ in expected]
    assert [node.node_id for node in nodes] == [f"p1#{a}-{b}" for a, b, _ in expected]
    assert {node.ref_doc_id for node in nodes} == {"d1"}
    assert {node.get_content(MetadataMode.EMBED) == node.text for node in nodes} == {True}
    assert [node.prev_node.node_id if node.prev_node else None for node in nodes[:2]] == [None, nodes[0].node_id]
    assert "abstract" not in nodes[0].to_json()


def test_a_documents_metadata_is_taken_over_on_demand() -> None:
    document = Document(
        text="One. Two.", id_="d1", metadata={"year": 2024, "note": "n"}, excluded_embed_metadata_keys=["note"]
    )
    parser = SentenceNodeParser(include_metadata=True, id_func=lambda number, parent: f"{parent.node_id}/{number}")
    first, second = parser.get_nodes_from_documents([document])
    assert first.metadata == {"paper_id": "d1", "start_char": 0, "end_char": 4, "year": 2024, "note": "n"}
    assert [first.node_id, second.node_id] == ["d1/0", "d1/1"]
    assert second.get_content(MetadataMode.EMBED) == "year: 2024\n\nTwo."


@given(st.text())
def test_no_text_breaks_the_offsets(text: str) -> None:
    # LlamaIndex itself drops what UTF-8 can't hold when it hashes a document.
    text = text.encode("utf-8", "ignore").decode("utf-8")
    for node in SentenceNodeParser().get_nodes_from_documents([Document(text=text)]):
        assert text[node.start_char_idx : node.end_char_idx] == node.text != ""


def test_a_pipeline_cuts_and_embeds() -> None:
    embedder = HashingEmbedder()
    pipeline = IngestionPipeline(transformations=[SentenceNodeParser(), CitewiseEmbedding(embedder)])
    nodes = pipeline.run(documents=[Document(text=ABSTRACTS["mos"], id_="mos")], in_place=True)
    assert [node.node_id for node in nodes] == ["mos#0-32", "mos#33-95", "mos#96-141"]
    assert np.allclose(nodes[1].embedding, embedder.embed([MOS])[0], atol=1e-6)
    again = pipeline.run(documents=[Document(text=ABSTRACTS["mos"], id_="mos")])
    assert [node.node_id for node in again] == [node.node_id for node in nodes]


def test_the_retriever_ranks_papers_as_the_engine_does(engine: Engine) -> None:
    found = CitewiseRetriever(engine, top=3).retrieve("Which method shares shards of adapters?")
    hits, _, _ = engine.search("Which method shares shards of adapters?", top=3)
    assert [(n.node.ref_doc_id, n.score) for n in found] == [(hit.paper.id, hit.score) for hit in hits]
    node = found[0].node
    assert (node.text, node.start_char_idx, node.end_char_idx, node.node_id) == (ABSTRACTS["mos"], 0, 141, "mos#paper")
    assert node.metadata == {
        "paper_id": "mos",
        "label": "MoS",
        "sources": "a.jsonl:4",
        "start_char": 0,
        "end_char": 141,
    }
    assert node.get_content(MetadataMode.LLM).startswith("paper_id: mos\nlabel: MoS\n\nAdapters")
    assert node.relationships[NodeRelationship.SOURCE].node_id == "mos"


def test_the_retriever_gives_the_nearest_sentence(engine: Engine) -> None:
    retriever = CitewiseRetriever(engine, top=2, unit="sentence", clauses=parse_filter(["year=2024"]))
    bundle = QueryBundle("Which method shares shards of adapters across layers?")
    found = asyncio.run(retriever.aretrieve(bundle))
    assert [n.node.node_id for n in found] == [n.node.node_id for n in retriever.retrieve(bundle)]
    node = found[0].node
    assert (node.text, node.start_char_idx, node.end_char_idx, node.node_id) == (MOS, 33, 95, "mos#33-95")
    assert len({n.node.ref_doc_id for n in found}) == 2


def test_a_query_engine_of_llamaindex_takes_the_retriever(engine: Engine) -> None:
    theirs = RetrieverQueryEngine.from_args(CitewiseRetriever(engine, top=1), llm=MockLLM())
    response = theirs.query("What does MoS share?")  # this model answers with its prompt
    assert f"paper_id: mos\nlabel: MoS\n\n{ABSTRACTS['mos']}\n---" in str(response)
    assert [node.node.ref_doc_id for node in response.source_nodes] == ["mos"]


def test_what_the_retriever_refuses(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unit"):
        CitewiseRetriever(engine, unit="chapter")  # type: ignore[arg-type]
    with pytest.raises(BadQuestion):
        CitewiseRetriever(engine).retrieve(" ")
    with pytest.raises(InputError):
        CitewiseRetriever(engine, clauses=parse_filter(["year=1999"])).retrieve("adapters")
    with engine_of(tmp_path / "empty", {}, HashingEmbedder()) as empty:
        assert CitewiseRetriever(empty).retrieve("adapters") == []


def test_a_response_holds_the_quotes_and_the_answer(engine: Engine) -> None:
    response = CitewiseQueryEngine(engine=engine, top=3).query("How do MoS and Ada-K differ?")
    answer = engine.ask("How do MoS and Ada-K differ?", top=3)
    assert str(response) == answer.answer
    citations = sorted({c for sentence in answer.sentences for c in sentence.citations}, key=lambda cited: cited.n)
    assert {cited.paper_id for cited in citations} == {"mos", "ada"}
    assert [
        (n.node.ref_doc_id, n.node.start_char_idx, n.node.end_char_idx, n.node.text) for n in response.source_nodes
    ] == [(c.paper_id, c.start_char, c.end_char, c.quote) for c in citations]
    scores = {hit.paper.id: hit.score for hit in answer.papers}
    assert [n.score for n in response.source_nodes] == [scores[c.paper_id] for c in citations]
    assert response.source_nodes[0].node.metadata["sources"] in ("a.jsonl:4", "a.jsonl:1")
    metadata = json.loads(json.dumps(response.metadata))
    assert (metadata["refused"], metadata["mode"], len(metadata["papers"])) == (False, "quotes", len(answer.papers))
    again = asyncio.run(CitewiseQueryEngine(engine=engine, top=3).aquery("How do MoS and Ada-K differ?"))
    assert str(again) == str(response)


def test_a_refusal_has_no_source_nodes(tmp_path: Path) -> None:
    with engine_of(tmp_path / "empty", {}, HashingEmbedder()) as empty:
        response = CitewiseQueryEngine(engine=empty).query("What is MoS?")
        answer = empty.ask("What is MoS?")
    assert (response.source_nodes, str(response)) == ([], answer.answer)
    assert (response.metadata["refused"], response.metadata["reason"]) == (True, "empty_library")


def test_llamaindexs_chroma_store_finds_our_chunks(engine: Engine, tmp_path: Path) -> None:
    sentences = MetadataFilters(filters=[MetadataFilter(key="kind", value="sentence")])
    with library_vector_store(tmp_path / "library") as store:
        index = VectorStoreIndex.from_vector_store(store, embed_model=CitewiseEmbedding(HashingEmbedder()))
        found = index.as_retriever(similarity_top_k=3, filters=sentences).retrieve(MOS)
        every = store.query(VectorStoreQuery(similarity_top_k=100))
    node = found[0].node
    assert (node.text, node.node_id, found[0].score) == (MOS, "mos#33-95", pytest.approx(1.0, abs=1e-5))
    assert node.metadata == {"paper_id": "mos", "kind": "sentence", "start_char": 33, "end_char": 95, "generation": 1}
    assert len(every.nodes or ()) == 6 + sum(len(sentence_chunks(Paper("", text))) for text in ABSTRACTS.values())
    for node in every.nodes or ():
        start, end = node.metadata["start_char"], node.metadata["end_char"]
        assert ABSTRACTS[node.metadata["paper_id"]][start:end] == node.text


def test_a_client_of_ones_own_finds_them_too(engine: Engine, tmp_path: Path) -> None:
    import chromadb
    from chromadb.config import Settings
    from llama_index.vector_stores.chroma import ChromaVectorStore

    folder = str(tmp_path / "library" / "chroma-1")
    with closing(chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))) as client:
        store = ChromaVectorStore(chroma_collection=client.get_collection("abstracts", embedding_function=None))
        index = VectorStoreIndex.from_vector_store(store, embed_model=CitewiseEmbedding(HashingEmbedder()))
        found = index.as_retriever(similarity_top_k=1).retrieve(MOS)
    assert (found[0].node.text, found[0].node.metadata["start_char"]) == (MOS, 33)


def test_there_must_be_a_library(tmp_path: Path) -> None:
    with pytest.raises(MissingLibrary), library_vector_store(tmp_path):
        pass
