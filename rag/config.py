"""Typed settings: command-line flags over environment over `citewise.toml`; unknown keys are errors.

Loaded once at the entry point and passed down; nothing here is global.
A model is used only when one is named, never because a key lies in the environment.
"""

from __future__ import annotations

import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.errors import SettingsError

ENV_PREFIX = "CITEWISE_"
TEST_PREFIX = "CITEWISE_TEST_"
SETTINGS_FILE = "citewise.toml"


class Settings(BaseModel):
    """What can be set. `library` is the library's folder; `top` the number of papers shown for a question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    library: Path | None = None
    top: int = Field(default=10, ge=1, le=1000)
    model: str | None = None
    base_url: str | None = None
    embedding_model: str | None = None
    embedding_base_url: str | None = None
    lock_timeout_s: float = Field(default=60.0, gt=0)


def load_settings(flags: dict[str, Any], folder: Path | None = None, env: dict[str, str] | None = None) -> Settings:
    """The settings in force.

    `flags` holds the options given on the command line (None means not given), `folder` is where
    `citewise.toml` is looked for first (default: the working folder; then the user's configuration folder).
    Raises SettingsError for unknown keys and wrong values, naming where they came from.
    """
    given = {key: value for key, value in flags.items() if value is not None}
    from_file, file = _from_file(folder or Path.cwd())
    from_env = _from_env(dict(os.environ) if env is None else env)
    try:
        return Settings(**{**from_file, **from_env, **given})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        where = f"{name} in {file}"
        if name in from_env:
            where = f"{ENV_PREFIX}{name.upper()} in the environment"
        if name in given:
            where = f"--{name.replace('_', '-')}"
        wanted = first["msg"].removeprefix("Input should be ").split(", unable")[0]
        raise SettingsError(f"{where} is {first['input']!r}, it should be {wanted}") from None


def _from_file(folder: Path) -> tuple[dict[str, Any], Path | None]:
    """The settings of the first file there is, and that file."""
    for path in (folder / SETTINGS_FILE, Path(platformdirs.user_config_dir("citewise")) / SETTINGS_FILE):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path} can't be read: {error}") from None
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{path} is not valid TOML: {error}") from None
        _refuse_unknown(values, str(path))
        return values, path
    return {}, None


def _from_env(env: dict[str, str]) -> dict[str, Any]:
    values = {
        key.removeprefix(ENV_PREFIX).lower(): value
        for key, value in env.items()
        if key.startswith(ENV_PREFIX) and not key.startswith(TEST_PREFIX) and value != ""
    }
    _refuse_unknown(values, "the environment", ENV_PREFIX)
    return values


def _refuse_unknown(values: dict[str, Any], where: str, prefix: str = "") -> None:
    for key in values:
        if key in Settings.model_fields:
            continue
        near = get_close_matches(key, Settings.model_fields, n=1)
        shown = (lambda name: f"{prefix}{name.upper()}") if prefix else str
        hint = (
            f"; did you mean {shown(near[0])}?" if near else f"; known: {', '.join(map(shown, Settings.model_fields))}"
        )
        raise SettingsError(f"unknown setting {shown(key)} in {where}{hint}")


def library_folder(settings: Settings, folder: Path | None = None) -> Path:
    """The library's folder: the one that is set, else `.citewise` in the working folder if present, else the user's."""
    if settings.library is not None:
        return settings.library.expanduser()
    here = (folder or Path.cwd()) / ".citewise"
    return here if here.is_dir() else Path(platformdirs.user_data_dir("citewise")) / "library"
