"""Ingest, ask and search with no network, no home and no caches: nothing tries to leave the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_kit import PAPERS, ROOT, Done, citewise, write_papers

# Loaded by Python itself at its start, in every subprocess too. An audit hook sees also what C code of Python's own
# socket module does; it can't be removed again.
GUARD = """
import os, sys

LOOPBACK = ("127.", "::1", "localhost", "0:0:0:0:0:0:0:1", "::ffff:127.")
WATCHED = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getaddrinfo": 0,
           "socket.gethostbyname": 0, "socket.gethostbyaddr": 0, "urllib.Request": 0}


def refuse(event, args):
    if event not in WATCHED:
        return
    target = args[WATCHED[event]]
    host = target[0] if isinstance(target, tuple) and target else target
    host = host.decode() if isinstance(host, bytes) else host
    local = host in (None, "") or str(host).startswith(LOOPBACK)
    if isinstance(target, str) and event == "socket.connect" or local:  # a path is a socket of this machine
        return
    with open(os.environ["ATTEMPTS_FILE"], "a") as file:
        file.write(f"{event} {target!r} by {sys.argv}\\n")
    raise ConnectionRefusedError(f"the test allows no network: {event} {target!r}")


sys.addaudithook(refuse)
with open(os.environ["GUARDED_FILE"], "a") as file:
    file.write("guarded\\n")
"""
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def bare_environment(folder: Path) -> dict[str, str]:
    """No home, no caches, no settings of other tools; `folder` holds the guard and what it writes."""
    (folder / "guard").mkdir(exist_ok=True)
    (folder / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    (folder / "home").mkdir(exist_ok=True)
    home = str(folder / "home")
    return {
        "ORT_DISABLE_TELEMETRY": "",
        "PYTHONPATH": f"{folder / 'guard'}{os.pathsep}{ROOT}",
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CACHE_HOME": f"{home}/cache",
        "XDG_DATA_HOME": f"{home}/data",
        "XDG_CONFIG_HOME": f"{home}/config",
        "HF_HOME": f"{home}/huggingface",
        "ATTEMPTS_FILE": str(folder / "attempts"),
        "GUARDED_FILE": str(folder / "guarded"),
    }


def run(folder: Path, *arguments: object, prefix: Sequence[str] = ()) -> Done:
    done = citewise(*arguments, prefix=prefix, cwd=folder / "home", env=bare_environment(folder))
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy on this machine would make the network look like loopback."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_the_guard_refuses_and_records(tmp_path: Path) -> None:
    code = """
import socket, urllib.request
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()): pass
for attempt in (
    lambda: socket.getaddrinfo("example.org", 443),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
    lambda: socket.create_connection(("192.0.2.1", 443), timeout=1),
    lambda: urllib.request.urlopen("http://192.0.2.1/", timeout=1),
):
    try:
        attempt()
        print("reached")
    except OSError as error:
        print("the test allows no network" in str(error))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **bare_environment(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["True"] * 4, done.stdout + done.stderr
    assert len((tmp_path / "attempts").read_text().splitlines()) >= 4


def no_network() -> Sequence[str]:
    """What to put before a command to take the network from it, also from code that opens sockets past Python."""
    prefix = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        return ()  # this system lets this user make no network namespace: the guard alone must do
    return prefix


def test_ingest_ask_and_search_attempt_nothing(tmp_path: Path) -> None:
    papers = write_papers(tmp_path / "papers.jsonl")
    prefix = no_network()
    # No --library: it is made where the system keeps a user's data.
    summary = json.loads(run(tmp_path, "ingest", papers, "--json", prefix=prefix).stdout)
    assert (summary["added"], summary["rejected"]) == (len(PAPERS), 0)
    answer = json.loads(run(tmp_path, "ask", "Which logits does SlimKD ignore?", "--json", prefix=prefix).stdout)
    assert answer["papers"][0]["paper_id"] == "slim" and not answer["refused"]
    found = json.loads(run(tmp_path, "search", "routing of tokens", "--json", prefix=prefix).stdout)
    assert found["papers"][0]["paper_id"] == "ada"
    assert len((tmp_path / "guarded").read_text().splitlines()) >= 3  # the guard was there each time
    assert not (tmp_path / "attempts").exists(), (tmp_path / "attempts").read_text()
    # Nor does anything beside the library lie in wait to be sent later, as the events of a part's telemetry would.
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["data"]
    assert [path.name for path in (tmp_path / "home" / "data").iterdir()] == ["citewise"]
    assert (tmp_path / "home" / "data" / "citewise" / "library" / "papers.sqlite").is_file()
