"""The commands of the page of security run as they stand, and its settings are read."""

import re
import shlex
from pathlib import Path

import pytest

from api.security.principal import Role
from api.settings import Settings
from tests.unit.api.test_cli_rows import run

PAGE = (Path(__file__).parents[2] / "docs/security.md").read_text()
[COMMANDS] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
[TOML] = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)


def test_the_commands_make_and_list_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_DATA", str(tmp_path))
    made, listed = (run(*shlex.split(line)[1:]) for line in COMMANDS.splitlines())
    assert made.startswith("ivm_")
    assert made.split("_")[1] in listed


def test_the_settings_are_those_of_an_issuer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ivm.toml").write_text(TOML)
    issuer = Settings().oidc
    assert issuer is not None
    assert issuer.roles == {"analysts": Role.read, "platform": Role.admin}
