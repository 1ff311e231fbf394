"""What the operating system and the stores say when a disk or a file fails, in the words of the error tree.

The one place that knows the messages of SQLite, Chroma and tantivy; it imports none of the latter two.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from rag.errors import CorruptLibrary, DiskFull, LibraryBusy, LibraryError, ReadOnlyLibrary

_NO_ROOM = ("database or disk is full", "no space left", "os error 28", "code: 28", "disk quota exceeded")
_NO_WRITE = (
    "readonly database",
    "read-only",
    "permission denied",
    "os error 13",
    "os error 30",
    "code: 13",
    "code: 30",
)
_DAMAGED = ("file is not a database", "malformed", "no such table", "no such column", "database corruption")
# Below this, a failure without a clear cause is put down to lack of room: SQLite and Chroma report some as I/O errors.
_NEARLY_FULL_BYTES = 256 * 1024


def library_error(exc: BaseException, folder: Path, part: str) -> LibraryError:
    """The error of the tree that `exc`, met in `part` of the library `folder`, stands for. Never raises."""
    if isinstance(exc, LibraryError):
        return exc
    # Clients bury the cause under what failed while they cleaned up after it.
    chain = _chain(exc)
    text = " ".join(str(one) for one in chain).lower()
    damaged = isinstance(exc, sqlite3.DatabaseError | UnicodeDecodeError) and not isinstance(
        exc, sqlite3.OperationalError
    )
    if _is_no_room(chain, text) or _nearly_full(folder):
        error: LibraryError = disk_full(folder)
    elif _is_no_write(chain, text):
        error = read_only(folder)
    elif isinstance(exc, sqlite3.OperationalError) and "locked" in text:
        error = LibraryBusy(f"the library {folder} is being written by another process; try again in a moment")
    elif "unable to open database file" in text:
        error = unreadable(folder)
    elif damaged or any(words in text for words in _DAMAGED):
        error = corrupt(folder, f"its {part} can't be read ({_short(exc)})")
    elif isinstance(exc, OSError) and part == "folder":
        error = LibraryError(
            f"the folder {folder} can't be made: {_short(exc)}; name another folder for the library with --library"
        )
    else:
        error = LibraryError(
            f"the {part} of the library {folder} failed: {_short(exc)}; `citewise doctor --library {folder}` tells more"
        )
    return error


def disk_full(folder: Path) -> DiskFull:
    """No room; what was there stays."""
    return DiskFull(
        f"no room is left on the disk that holds the library {folder}; what was in it is intact, "
        "make room and run the same command again"
    )


def read_only(folder: Path) -> ReadOnlyLibrary:
    """The folder can be read and not written."""
    return ReadOnlyLibrary(
        f"the library {folder} can't be written by this user; asking it works, to add papers get write permission "
        "or name another folder with --library"
    )


def unreadable(folder: Path) -> LibraryError:
    """This user may not look."""
    return LibraryError(
        f"the library {folder} can't be opened by this user; get read permission or name another folder with --library"
    )


def corrupt(folder: Path, what: str) -> CorruptLibrary:
    """Damaged beyond what the next ingest repairs by itself."""
    return CorruptLibrary(
        f"the library {folder} is damaged: {what}; restore it from a copy, or remove the folder and run "
        f"`citewise ingest PATH --library {folder}` again"
    )


def _chain(exc: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    link: BaseException | None = exc
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return chain


def _has_errno(chain: list[BaseException], *numbers: int | None) -> bool:
    return any(isinstance(exc, OSError) and exc.errno in numbers for exc in chain)


def _is_no_room(chain: list[BaseException], text: str) -> bool:
    return _has_errno(chain, errno.ENOSPC, getattr(errno, "EDQUOT", None)) or any(words in text for words in _NO_ROOM)


def _is_no_write(chain: list[BaseException], text: str) -> bool:
    return _has_errno(chain, errno.EACCES, errno.EPERM, errno.EROFS) or any(words in text for words in _NO_WRITE)


def _nearly_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _NEARLY_FULL_BYTES
    except OSError:
        return False


def _short(exc: BaseException) -> str:
    said = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    first = (said.strip() or type(exc).__name__).splitlines()[0]
    return first if len(first) <= 200 else first[:199] + "…"
