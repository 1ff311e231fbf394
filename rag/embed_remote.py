"""Embeddings from any server that speaks OpenAI's `/embeddings`: OpenAI, Ollama, llama.cpp, LM Studio, vLLM, TEI."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rag.embed import EmbedderInfo, Vectors, split_windows, unit_rows
from rag.errors import EmbedderError

if TYPE_CHECKING:
    from openai import OpenAI

BATCH_TEXTS = 64
WINDOW_CHARS = 6000  # 1,500 to 3,000 tokens, below the context of the hosted models
OVERLAP_CHARS = 400
PROBE = "What is the dimension of this vector?"


class OpenAIEmbedder:
    """An embedding model behind `base_url`, a URL that ends before `/embeddings` (usually in `/v1`).

    Texts go out in batches of 64; one longer than `window_chars` characters is split into overlapping windows and its
    vector is the normalised sum of theirs. A blank text isn't sent, since servers refuse it: its vector is the first
    basis vector. Connection failures, timeouts, and answers of status 408, 409, 429 and 5xx are tried `attempts` times
    in all, with a random pause that grows to `max_pause_s` seconds; nothing else is. Only `api_key` is ever sent: keys
    and organisations that lie in the environment aren't. `dimension` is asked of the server unless given.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        dimension: int | None = None,
        *,
        attempts: int = 5,
        max_pause_s: float = 20.0,
        timeout_s: float = 60.0,
        window_chars: int = WINDOW_CHARS,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._api_key = api_key
        self._dimension = dimension
        self._attempts = attempts
        self._max_pause_s = max_pause_s
        self._timeout_s = timeout_s
        self._window_chars = window_chars
        self._lock = threading.Lock()
        self._client: OpenAI | None = None

    @property
    def info(self) -> EmbedderInfo:
        """See `Embedder.info`. A server doesn't tell a model's revision, hence it is always "served"."""
        if self._dimension is None:
            self._dimension = self._request([PROBE]).shape[1]
        return EmbedderInfo(self._model, "served", self._dimension)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        owners: list[int] = []
        windows: list[str] = []
        overlap = min(OVERLAP_CHARS, self._window_chars // 4)
        for owner, text in enumerate(texts):
            clean = text.encode("utf-8", "replace").decode("utf-8")
            for window in split_windows(clean, self._window_chars, overlap):
                if window.strip():
                    owners.append(owner)
                    windows.append(window)
        sums = np.zeros((len(texts), self.info.dimension), dtype=np.float32)
        for start in range(0, len(windows), BATCH_TEXTS):
            rows = self._request(windows[start : start + BATCH_TEXTS])
            np.add.at(sums, owners[start : start + BATCH_TEXTS], rows)
        return unit_rows(sums)

    def _request(self, texts: list[str]) -> Vectors:
        """Return the unit vectors of at most one batch of texts that aren't blank."""
        import openai
        from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=wait_random_exponential(multiplier=0.5, max=self._max_pause_s),
            retry=retry_if_exception(_may_pass),
            reraise=True,
        )
        try:
            # Base64, the client's default, isn't known to every server.
            response = retrying(
                self._connected().embeddings.create, model=self._model, input=texts, encoding_format="float"
            )
            rows = sorted(response.data, key=lambda item: item.index)
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except openai.OpenAIError as error:
            raise EmbedderError(f"the embedding server at {self._base_url} failed: {error}") from error
        except (AttributeError, TypeError, ValueError) as error:
            raise EmbedderError(f"the embedding server at {self._base_url} sent no embeddings: {error}") from error
        return self._checked(vectors, len(texts))

    def _checked(self, vectors: Vectors, count: int) -> Vectors:
        """Refuse what would corrupt a library in silence."""
        expected = f"({count}, {self._dimension or 'dimension'})"
        right_width = vectors.ndim == 2 and vectors.shape[1] == (self._dimension or vectors.shape[1]) != 0
        if not right_width or len(vectors) != count or not np.isfinite(vectors).all():
            raise EmbedderError(
                f"the embedding server at {self._base_url} sent vectors of shape {vectors.shape} or not finite; "
                f"expected {expected} from {self._model}"
            )
        return unit_rows(vectors)

    def _connected(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                import openai

                client = openai.OpenAI(
                    base_url=self._base_url,
                    api_key=self._api_key or "none",  # None would be looked up in the environment, as these two are
                    max_retries=0,
                    timeout=self._timeout_s,
                )
                client.organization = client.project = None
                self._client = client
            return self._client


def _may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code in {408, 409, 429} or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)
