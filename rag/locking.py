"""Turns for writers: one lock file a library, and a note saying who holds it.

Knows nothing of what is written under the lock. Readers never take it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from rag.errors import LibraryBusy, LibraryError
from rag.failures import library_error

LOCK_FILE = "writer.lock"
HOLDER_FILE = "writer.json"
POLL_INTERVAL_S = 0.01
# The file lock is not a queue. A writer that takes it again at once would starve the others, so it pauses for
# longer than their polling interval between two batches.
COURTESY_PAUSE_S = 2 * POLL_INTERVAL_S


@contextlib.contextmanager
def writer_lock(folder: Path, timeout_s: float) -> Iterator[None]:
    """Hold the library's writer lock; leave a note of pid, host, time and command beside it.

    Raises LibraryBusy, naming the holder, after `timeout_s` seconds (>= 0); ReadOnlyLibrary or DiskFull when the
    lock file can't be made. The lock goes with the process that holds it, also when that is killed.
    """
    import filelock

    lock = filelock.FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=timeout_s, poll_interval=POLL_INTERVAL_S)
    except filelock.Timeout:
        raise LibraryBusy(_busy_message(folder, timeout_s)) from None
    except OSError as exc:
        raise library_error(exc, folder, "writer's lock") from exc
    except NotImplementedError as exc:
        raise LibraryError(f"the file system of {folder} has no file locks; keep the library on a local disk") from exc
    try:
        _leave_note(folder)
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / HOLDER_FILE).unlink(missing_ok=True)
        lock.release()


def pause_for_others(released_at: float | None) -> None:
    """Wait until others have had their turn since `released_at` (time.monotonic(), None before the first lock)."""
    if released_at is not None:
        time.sleep(max(0.0, released_at + COURTESY_PAUSE_S - time.monotonic()))


def _leave_note(folder: Path) -> None:
    # The command's name and its subcommand only: later arguments may hold what is nobody's business.
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]]).strip()
    note = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": command,
    }
    # The note only helps people; a disk too full for it fails later and with a better message.
    with contextlib.suppress(OSError):
        (folder / HOLDER_FILE).write_text(json.dumps(note), encoding="utf-8")


def _busy_message(folder: Path, timeout_s: float) -> str:
    who = "another process"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        note = json.loads((folder / HOLDER_FILE).read_text(encoding="utf-8"))
        since = datetime.fromisoformat(note["since"])
        held_s = (datetime.now().astimezone() - since).total_seconds()
        who = f"process {note['pid']} on {note['host']} ({note['command']}), for {held_s:.0f} s since {since:%H:%M:%S}"
    return f"the library {folder} is being written by {who}; waited {timeout_s:g} s, try again when it has finished"
