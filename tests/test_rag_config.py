"""Settings: flags over environment over `citewise.toml`, and what is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import platformdirs
import pytest

from rag.config import SETTINGS_FILE, Settings, library_folder, load_settings
from rag.errors import SettingsError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user's folder for settings, which the user's own file on this machine can't reach."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Path(platformdirs.user_config_dir("citewise"))


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / SETTINGS_FILE
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults(folder: Path) -> None:
    assert load_settings({}, folder, {}) == Settings()
    assert Settings().model_dump() == {
        "library": None,
        "top": 10,
        "model": None,
        "base_url": None,
        "embedding_model": None,
        "embedding_base_url": None,
        "lock_timeout_s": 60.0,
    }


@pytest.mark.parametrize(
    ("flag", "env", "file", "expected"),
    [
        (None, None, None, 10),
        (None, None, 7, 7),
        (None, "8", None, 8),
        (9, None, None, 9),
        (None, "8", 7, 8),
        (9, None, 7, 9),
        (9, "8", None, 9),
        (9, "8", 7, 9),
        (None, "", 7, 7),
    ],
)
def test_flags_go_before_environment_before_file(
    folder: Path, flag: int | None, env: str | None, file: int | None, expected: int
) -> None:
    write(folder, "" if file is None else f"top = {file}\n")
    given = {} if env is None else {"CITEWISE_TOP": env}
    assert load_settings({"top": flag}, folder, given).top == expected


def test_each_setting_comes_from_the_strongest_place_that_has_it(folder: Path) -> None:
    write(folder, 'top = 1\nmodel = "file"\nlibrary = "from/file"\nlock_timeout_s = 0.5\n')
    settings = load_settings({"top": 3, "library": None}, folder, {"CITEWISE_TOP": "2", "CITEWISE_MODEL": "env"})
    assert settings == Settings(top=3, model="env", library=Path("from/file"), lock_timeout_s=0.5)


def test_the_working_folder_goes_before_the_users_folder(folder: Path, home: Path) -> None:
    write(home, 'top = 5\nmodel = "user"\n')
    assert load_settings({}, folder, {}) == Settings(top=5, model="user")
    write(folder, "top = 6\n")
    assert load_settings({}, folder, {}) == Settings(top=6)


@pytest.mark.parametrize(
    ("name", "value"),
    [("OPENAI_API_KEY", "sk-1"), ("OPENAI_BASE_URL", "http://x"), ("CITEWISE_TEST_X", "1"), ("citewise_top", "3")],
)
def test_other_variables_set_nothing(folder: Path, name: str, value: str) -> None:
    assert load_settings({}, folder, {name: value}) == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tpo = 3", r"unknown setting tpo in .*citewise\.toml; did you mean top\?"),
        ("zzz = 3", r"unknown setting zzz in .*citewise\.toml; known: library, top, model, base_url"),
        ("[section]\ntop = 3", "unknown setting section in "),
        ("TOP = 3", "unknown setting TOP in "),
        ('api_key = "sk-1"', "unknown setting api_key in "),
        ("top = ", r"citewise\.toml is not valid TOML"),
        ("top = 1\ntop = 2", r"citewise\.toml is not valid TOML"),
        ("top = 0", r"top in .*citewise\.toml is 0, it should be greater than or equal to 1"),
        ("top = 1001", r"top in .*citewise\.toml is 1001, .*less than or equal to 1000"),
        ('top = "ten"', r"top in .*citewise\.toml is 'ten', it should be a valid integer"),
        ("top = 2.5", r"top in .* is 2\.5, it should be a valid integer"),
        ("top = [1]", r"top in .* is \[1\], "),
        ("lock_timeout_s = 0", r"lock_timeout_s in .* is 0, it should be greater than 0"),
        ("model = 3", r"model in .* is 3, it should be a valid string"),
    ],
)
def test_a_bad_file_is_one_clear_line(folder: Path, text: str, said: str) -> None:
    write(folder, text)
    with pytest.raises(SettingsError, match=said) as caught:
        load_settings({}, folder, {})
    assert "\n" not in str(caught.value)
    assert caught.value.code == "bad_settings"


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"CITEWISE_TPO": "3"}, r"unknown setting CITEWISE_TPO in the environment; did you mean CITEWISE_TOP\?"),
        ({"CITEWISE_XYZ": "3"}, "unknown setting CITEWISE_XYZ in the environment; known: CITEWISE_LIBRARY,"),
        ({"CITEWISE_TOP": "many"}, "CITEWISE_TOP in the environment is 'many', it should be a valid integer"),
        (
            {"CITEWISE_LOCK_TIMEOUT_S": "-1"},
            "CITEWISE_LOCK_TIMEOUT_S in the environment is '-1', it should be greater than 0",
        ),
    ],
)
def test_a_bad_variable_is_one_clear_line(folder: Path, env: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        load_settings({}, folder, env)


def test_an_unknown_flag_and_a_bad_one_are_errors(folder: Path) -> None:
    with pytest.raises(SettingsError, match="--colour"):
        load_settings({"colour": "red"}, folder, {})
    with pytest.raises(SettingsError, match="--top is 0, it should be greater than or equal to 1"):
        load_settings({"top": 0}, folder, {})


def test_a_wrong_value_is_named_with_where_it_came_from(folder: Path) -> None:
    path = write(folder, "top = 0")
    with pytest.raises(SettingsError, match=re.escape(str(path))):
        load_settings({}, folder, {})
    with pytest.raises(SettingsError, match="CITEWISE_TOP"):
        load_settings({}, folder, {"CITEWISE_TOP": "0"})


def test_a_weaker_wrong_value_is_overruled_by_a_right_flag(folder: Path) -> None:
    assert load_settings({"top": 4}, folder, {"CITEWISE_TOP": "many"}).top == 4


def test_files_that_cannot_be_read(folder: Path) -> None:
    (folder / SETTINGS_FILE).write_bytes(b'model = "\xff"')
    with pytest.raises(SettingsError, match="can't be read"):
        load_settings({}, folder, {})
    (folder / SETTINGS_FILE).unlink()
    (folder / SETTINGS_FILE).mkdir()
    with pytest.raises(SettingsError, match="can't be read"):
        load_settings({}, folder, {})


def test_settings_and_arguments_do_not_change(folder: Path) -> None:
    flags = {"top": None, "model": "m"}
    settings = load_settings(flags, folder, {})
    assert flags == {"top": None, "model": "m"}
    with pytest.raises(Exception, match="frozen"):
        settings.top = 3


def test_a_byte_order_mark_is_no_error(folder: Path) -> None:
    (folder / SETTINGS_FILE).write_bytes(b"\xef\xbb\xbftop = 3\r\n")
    assert load_settings({}, folder, {}).top == 3


def test_the_librarys_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if sys.platform == "linux":
        assert library_folder(Settings(), folder) == tmp_path / "data" / "citewise" / "library"
    (folder / ".citewise").mkdir()
    assert library_folder(Settings(), folder) == folder / ".citewise"
    assert library_folder(Settings(library=Path("/x/y")), folder) == Path("/x/y")
    assert library_folder(Settings(library=Path("~/y")), folder) == tmp_path / "home" / "y"
