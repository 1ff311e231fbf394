"""The options that commands of `citewise` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag.output import print_version

LibraryOption = Annotated[
    Path | None,
    typer.Option(
        "--library", metavar="DIR", help="Folder of the library [default: ./.citewise if there, else the user's]"
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout; everything else goes to stderr")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="F",
        help="Only papers like 'year>=2024; venue=ICLR; source=seeds/*; keyword=moe' (all must hold)",
    ),
]
TopOption = Annotated[
    int | None, typer.Option("--top", min=1, max=1000, metavar="N", help="How many papers to show [default: 10]")
]
BatchOption = Annotated[
    Path | None,
    typer.Option(
        "--batch", metavar="FILE", help='JSON Lines of {"id","question","history"}; one JSON line each, same order'
    ),
]
VersionOption = Annotated[
    bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=print_version)
]
