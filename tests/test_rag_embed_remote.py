from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from rag.embed import EmbedderInfo
from rag.embed_remote import OpenAIEmbedder
from rag.errors import EmbedderError

Script = Callable[[dict[str, Any]], tuple[int, Any]]


class EmbeddingServer(ThreadingHTTPServer):
    """Answers `/v1/embeddings` by `script`, and keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: Script = answer
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        status, content = self.server.script(body)
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *args: Any) -> None:
        pass


def answer(body: dict[str, Any]) -> tuple[int, Any]:
    """The vector of a text: its length, its number of spaces, and 1; rows in the reverse order, as a server may."""
    rows = [
        {"object": "embedding", "index": n, "embedding": [len(text), text.count(" "), 1.0]}
        for n, text in enumerate(body["input"])
    ]
    return 200, {"object": "list", "data": rows[::-1], "model": body["model"], "usage": {}}


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def embedder(server: EmbeddingServer, **options: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(server.url, "mini", "sk-given", max_pause_s=0.01, **options)


def test_the_dimension_is_asked_once(server: EmbeddingServer) -> None:
    remote = embedder(server)
    assert remote.info == EmbedderInfo("mini", "served", 3, True)
    assert remote.info == remote.info
    assert len(server.requests) == 1


def test_rows_are_unit_and_in_the_order_of_the_texts(server: EmbeddingServer) -> None:
    vectors = embedder(server, dimension=3).embed(["aa", "", "a a ", " \n"])
    # (2, 0, 1) / sqrt 5; blank: the first basis vector; (4, 2, 1) / sqrt 21
    expected = [[0.894427, 0.0, 0.447214], [1.0, 0.0, 0.0], [0.872872, 0.436436, 0.218218], [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert [request["input"] for request in server.requests] == [["aa", "a a "]]


def test_many_texts_go_in_batches(server: EmbeddingServer) -> None:
    vectors = embedder(server, dimension=3).embed(["x" * n for n in range(1, 131)])
    assert [len(request["input"]) for request in server.requests] == [64, 64, 2]
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 2], np.arange(1.0, 131.0), rtol=1e-4)


def test_a_long_text_is_sent_in_windows_and_pooled(server: EmbeddingServer) -> None:
    embedder(server, dimension=3, window_chars=8).embed(["abcdefghijk"])
    assert server.requests[0]["input"] == ["abcdefg", "efghijk"]


def test_only_the_given_key_is_sent(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-lies-around")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-lies-around")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-lies-around")
    embedder(server, dimension=3).embed(["a"])
    OpenAIEmbedder(server.url, "mini", None, 3).embed(["a"])
    assert [headers["authorization"] for headers in server.headers] == ["Bearer sk-given", "Bearer none"]
    assert "lies-around" not in json.dumps(server.headers)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(server: EmbeddingServer, status: int) -> None:
    def script(body: dict[str, Any]) -> tuple[int, Any]:
        return answer(body) if len(server.requests) == 3 else (status, {"error": {"message": "later"}})

    server.script = script
    assert embedder(server, dimension=3).embed(["a"]).shape == (1, 3)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "content", "requests", "message"),
    [
        (503, {"error": {"message": "loading"}}, 4, "503"),
        (401, {"error": {"message": "bad key"}}, 1, "bad key"),
        (404, {"error": {"message": "no model mini"}}, 1, "no model mini"),
        (200, {"data": []}, 1, "expected"),
        (200, {"object": "list"}, 1, "no embeddings"),
        (200, b"<html>", 1, "embedding server at"),
        (200, {"data": [{"index": 0, "embedding": [1.0]}]}, 1, r"shape \(1, 1\)"),
        (200, {"data": [{"index": 0, "embedding": [1.0, float("nan"), 1.0]}]}, 1, "not finite"),
        (200, {"data": [{"index": 0, "embedding": ["a", "b", "c"]}]}, 1, "no embeddings"),
    ],
)
def test_a_failure_is_one_clear_line(
    server: EmbeddingServer, status: int, content: Any, requests: int, message: str
) -> None:
    server.script = lambda body: (status, content)
    with pytest.raises(EmbedderError, match=message) as caught:
        embedder(server, dimension=3, attempts=4).embed(["a"])
    assert "\n" not in str(caught.value)
    assert len(server.requests) == requests


def test_a_server_that_is_not_there_is_said(server: EmbeddingServer) -> None:
    remote = OpenAIEmbedder("http://127.0.0.1:1/v1", "mini", attempts=2, max_pause_s=0.01)
    with pytest.raises(EmbedderError, match=r"127\.0\.0\.1:1"):
        remote.info  # noqa: B018
