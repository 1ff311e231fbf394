"""The layout's promises: who imports what, how long files and functions are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RAG = sorted((ROOT / "rag").rglob("*.py"))
PRODUCT = RAG + sorted((ROOT / "eval").glob("*.py"))


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("path", PRODUCT, ids=lambda path: path.stem)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 250
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 40, node.name


def test_rag_imports_neither_eval_nor_ui() -> None:
    assert not [path.name for path in RAG if _imported(path) & {"eval", "ui", "gradio"}]


def test_chroma_and_tantivy_have_a_file_each() -> None:
    assert [path.name for path in RAG if "chromadb" in _imported(path)] == ["vectors.py"]
    assert [path.name for path in RAG if "tantivy" in _imported(path)] == ["lexical.py"]


def test_llama_index_has_a_file_that_the_others_leave_alone() -> None:
    assert [path.name for path in RAG if "llama_index" in _imported(path)] == ["llamaindex.py"]
    assert not [path.name for path in RAG if "rag.llamaindex" in path.read_text() and path.name != "llamaindex.py"]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, rag.cli; heavy = {'chromadb', 'llama_index', 'gradio', 'onnxruntime', 'numpy', 'tantivy'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
