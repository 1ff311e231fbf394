"""citewise's parts as LlamaIndex's: embedding, node parser, retriever, query engine, and the library's vector store.

The only file that imports llama_index, and it does so at once: nothing else in `rag` imports this one. In a program
that uses LlamaIndex, with a library made by `citewise ingest PATH --library library`:

    >>> from pathlib import Path
    >>> from llama_index.core import VectorStoreIndex
    >>> from rag.ask import Engine
    >>> from rag.embed import default_embedder
    >>> from rag.index import Library
    >>> from rag.llamaindex import CitewiseEmbedding, CitewiseQueryEngine, CitewiseRetriever, library_vector_store
    >>> embedder = default_embedder()
    >>> with Engine(Library.open(Path("library")), embedder) as engine:
    ...     found = CitewiseRetriever(engine, top=1, unit="sentence").retrieve("Who chooses the number of experts?")
    ...     response = CitewiseQueryEngine(engine=engine).query("What does MoS share?")
    >>> found[0].node.text
    'We propose Ada-K, which lets each token choose its number of experts.'
    >>> node = response.source_nodes[0].node  # what [1] in str(response) stands for
    >>> node.ref_doc_id, node.start_char_idx, node.end_char_idx, node.text
    ('mos', 33, 95, 'We propose MoS, which shares shards of adapters across layers.')
    >>> response.metadata["refused"]
    False

The vectors without citewise's ranking, as LlamaIndex's own store finds them:

    >>> with library_vector_store(Path("library")) as store:
    ...     index = VectorStoreIndex.from_vector_store(store, embed_model=CitewiseEmbedding(embedder))
    ...     found = index.as_retriever(similarity_top_k=1).retrieve("storks leaving Norway")
    >>> found[0].node.metadata["paper_id"]
    'birds'
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from llama_index.core import schema
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.node_parser import NodeParser
from llama_index.core.node_parser.node_utils import default_id_func
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from rag.answer_json import answer_json
from rag.ask import Engine
from rag.chunks import sentence_chunks
from rag.derived import part_folder, require_current
from rag.embed import Embedder, default_embedder
from rag.filters import Clause
from rag.index import Library
from rag.records import Answer, Hit, Paper
from rag.store import Store
from rag.vectors import VectorStore, paper_chunk_id, sentence_chunk_id

Unit = Literal["paper", "sentence"]
# Where a text stands is no part of what it says: neither a vector nor a prompt should hold it.
_NOT_EMBEDDED = ["paper_id", "label", "sources", "start_char", "end_char"]
_NOT_PROMPTED = ["sources", "start_char", "end_char"]


class CitewiseEmbedding(BaseEmbedding):
    """An `Embedder` (the packaged one unless told) as LlamaIndex's embedding model: unit vectors, of any text.

    `model_name` names model and revision. Each text is embedded by itself, a query as any text. Raises EmbedderError.
    """

    _embedder: Embedder = PrivateAttr()

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex stores."""
        return "CitewiseEmbedding"

    def __init__(self, embedder: Embedder | None = None, embed_batch_size: int = 256, **fields: Any) -> None:
        embedder = embedder or default_embedder()
        name = f"{embedder.info.name}@{embedder.info.revision}"
        super().__init__(**{"model_name": name, **fields}, embed_batch_size=embed_batch_size)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return (await self._aget_text_embeddings([query]))[0]


class SentenceNodeParser(NodeParser):
    """Documents -> a TextNode a sentence, cut as a library's chunks are (`rag.chunks`).

    `document.text[node.start_char_idx:node.end_char_idx] == node.text`, counted in code points; so do the metadata
    `start_char` and `end_char`. `paper_id` is the document's metadata of that name, else its id. Nothing else of the
    document is in the nodes' metadata unless `include_metadata`. A node's id follows from paper and offsets, unless
    `id_func` is given: the same document parsed twice gives the same ids. A vector is made of the sentence alone.
    """

    include_metadata: bool = Field(default=False, description="Whether nodes take over the document's metadata.")

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex stores."""
        return "SentenceNodeParser"

    def _parse_nodes(self, nodes: Sequence[schema.BaseNode], *_: Any, **__: Any) -> list[schema.BaseNode]:
        return [sentence for node in nodes for sentence in self._sentences(node)]

    def _postprocess_parsed_nodes(
        self, nodes: list[schema.BaseNode], parent_doc_map: dict[str, schema.Document]
    ) -> list[schema.BaseNode]:
        found = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node in found:
            # LlamaIndex looks for each text anew, and takes an earlier place where it finds the same words.
            if isinstance(node, schema.TextNode):
                node.start_char_idx, node.end_char_idx = node.metadata["start_char"], node.metadata["end_char"]
        return found

    def _sentences(self, parent: schema.BaseNode) -> Iterator[schema.TextNode]:
        paper_id = str(parent.metadata.get("paper_id") or parent.node_id)
        paper = Paper(paper_id, parent.get_content(metadata_mode=schema.MetadataMode.NONE))
        source = parent.as_related_node_info()
        source.metadata = source.metadata if self.include_metadata else {}
        for number, chunk in enumerate(sentence_chunks(paper)):
            node = _node(paper_id, chunk.start_char, chunk.end_char, chunk.text, source)
            if self.id_func is not default_id_func:
                node.id_ = str(self.id_func(number, parent))
            if self.include_metadata:
                node.excluded_embed_metadata_keys += parent.excluded_embed_metadata_keys
                node.excluded_llm_metadata_keys += parent.excluded_llm_metadata_keys
            yield node


class CitewiseRetriever(BaseRetriever):
    """The best `top` papers of an engine's library for a query, best first, as citewise ranks them.

    `unit` "paper": the node is the whole abstract. "sentence": it is that paper's sentence nearest to the query, so
    still one node a paper. `score` is the paper's, 0..1. `start_char_idx` and `end_char_idx` count code points of the
    abstract; metadata: paper_id, label, sources ("FILE:POSITION; ..."), start_char, end_char. `ref_doc_id` is the
    paper's id. `clauses` (`rag.filters.parse_filter`) choose papers. Raises BadQuestion and InputError, as `Engine`.
    """

    def __init__(
        self, engine: Engine, top: int = 10, unit: Unit = "paper", clauses: Sequence[Clause] = (), **options: Any
    ) -> None:
        if unit not in ("paper", "sentence"):
            raise ValueError(f'unit is "paper" or "sentence", not {unit!r}')
        super().__init__(**options)
        self._engine, self._top, self._unit, self._clauses = engine, top, unit, tuple(clauses)

    def _retrieve(self, query_bundle: schema.QueryBundle) -> list[schema.NodeWithScore]:
        found, _, _ = self._engine.search(query_bundle.query_str, self._clauses, self._top)
        return [schema.NodeWithScore(node=_hit_node(hit, self._unit), score=hit.score) for hit in found]

    async def _aretrieve(self, query_bundle: schema.QueryBundle) -> list[schema.NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class CitewiseQueryEngine(CustomQueryEngine):
    """`Engine.ask` as a query engine.

    The response's text is the answer as Markdown, `metadata` the answer as `citewise ask --json` prints it, and
    `source_nodes[n - 1]` the quote that `[n]` stands for, with the score of its paper (None when the paper is not
    among the `top` ranked ones). A refusal is a response without source nodes: see `metadata["refused"]`.
    """

    engine: Engine = Field(exclude=True)
    top: int = Field(default=10, gt=0)
    clauses: tuple[Clause, ...] = Field(default=(), exclude=True)

    def custom_query(self, query_str: str) -> Response:
        """The answer to a question. Raises BadQuestion and InputError, as `Engine.ask`."""
        answer = self.engine.ask(query_str, clauses=self.clauses, top=self.top)
        return Response(response=answer.answer, source_nodes=_cited(answer), metadata=answer_json(answer))

    async def acustom_query(self, query_str: str) -> Response:
        """The same, in a thread."""
        return await asyncio.to_thread(self.custom_query, query_str)


@contextmanager
def library_vector_store(folder: Path) -> Iterator[BasePydanticVectorStore]:
    """A library's Chroma collection as LlamaIndex's store, for reading; closed on leaving.

    Its nodes are the papers (metadata kind "paper") and the sentences ("sentence"), with paper_id, start_char and
    end_char in the metadata (LlamaIndex leaves `start_char_idx` unset); scores are its exp(cosine similarity - 1). It
    does not see what is ingested after opening; don't write through it. Raises MissingLibrary and CorruptLibrary.
    """
    from llama_index.vector_stores.chroma import ChromaVectorStore

    with Library.open(folder), closing(Store(folder)) as store:
        manifest = store.manifest()
        require_current(folder, manifest, "chroma")
    with closing(VectorStore(part_folder(folder, manifest, "chroma"), folder, create=False)) as vectors:
        yield ChromaVectorStore(chroma_collection=vectors.collection)


def _node(
    paper_id: str, start: int, end: int, text: str, source: schema.RelatedNodeInfo | None = None, hit: Hit | None = None
) -> schema.TextNode:
    metadata: dict[str, str | int] = {"paper_id": paper_id}
    if hit is not None:
        metadata["label"] = hit.label
        metadata["sources"] = "; ".join(f"{place.file}:{place.position}" for place in hit.paper.sources)
    source = source or schema.RelatedNodeInfo(node_id=paper_id, node_type=schema.ObjectType.DOCUMENT)
    return schema.TextNode(
        id_=sentence_chunk_id(paper_id, start, end),
        text=text,
        start_char_idx=start,
        end_char_idx=end,
        metadata={**metadata, "start_char": start, "end_char": end},
        excluded_embed_metadata_keys=list(_NOT_EMBEDDED),
        excluded_llm_metadata_keys=list(_NOT_PROMPTED),
        relationships={schema.NodeRelationship.SOURCE: source},
    )


def _hit_node(hit: Hit, unit: Unit) -> schema.TextNode:
    paper = hit.paper
    if unit == "paper" or not hit.quotes:
        node = _node(paper.id, 0, len(paper.abstract), paper.abstract, hit=hit)
        node.id_ = paper_chunk_id(paper.id)
        return node
    quote = hit.quotes[0]
    return _node(paper.id, quote.start_char, quote.end_char, quote.quote, hit=hit)


def _cited(answer: Answer) -> list[schema.NodeWithScore]:
    hits = {hit.paper.id: hit for hit in answer.papers}
    citations = {cited.n: cited for sentence in answer.sentences for cited in sentence.citations}
    nodes = []
    for _, cited in sorted(citations.items()):
        hit = hits.get(cited.paper_id)
        node = _node(cited.paper_id, cited.start_char, cited.end_char, cited.quote, hit=hit)
        nodes.append(schema.NodeWithScore(node=node, score=hit.score if hit else None))
    return nodes
