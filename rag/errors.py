"""Every error a user can meet: what happened, where, and what to do next, in one line.

CitewiseError
├── InputError          a path, record, question or option that can't be used
│   ├── MissingPath
│   └── BadQuestion
├── SettingsError       an unknown or malformed setting
├── LibraryError        the library on disk
│   ├── MissingLibrary
│   ├── CorruptLibrary
│   ├── EmbedderMismatch  built with another embedding model
│   ├── ReadOnlyLibrary
│   ├── LibraryBusy     another process writes (retryable)
│   └── DiskFull        (retryable once there is room)
└── EmbedderError       the embedding model can't be loaded or reached
"""

from __future__ import annotations


class CitewiseError(Exception):
    """Base of all errors shown to a user. `str(error)` is one clear line; `code` names it in JSON.

    `retryable` tells whether the same call may succeed later with nothing changed by the user.
    """

    code = "error"
    retryable = False

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class InputError(CitewiseError):
    """Something the user gave can't be used."""

    code = "bad_input"


class MissingPath(InputError):
    """A file or folder that isn't there."""

    code = "missing_path"


class BadQuestion(InputError):
    """A question that is empty or too long."""

    code = "bad_question"


class SettingsError(CitewiseError):
    """A setting that is unknown or has a wrong value."""

    code = "bad_settings"


class LibraryError(CitewiseError):
    """The library on disk can't be used."""

    code = "library"


class MissingLibrary(LibraryError):
    """There is no library at the given folder."""

    code = "missing_library"


class CorruptLibrary(LibraryError):
    """The library's files are damaged or incomplete."""

    code = "corrupt_library"


class EmbedderMismatch(LibraryError):
    """The library was built with another embedding model or another chunking."""

    code = "embedder_mismatch"


class ReadOnlyLibrary(LibraryError):
    """The library must be written to and can't be."""

    code = "read_only_library"


class LibraryBusy(LibraryError):
    """Another process holds the writer's lock."""

    code = "library_busy"
    retryable = True


class DiskFull(LibraryError):
    """No room is left on the disk that holds the library."""

    code = "disk_full"
    retryable = True


class EmbedderError(CitewiseError):
    """The embedding model can't be loaded or reached."""

    code = "embedder"
