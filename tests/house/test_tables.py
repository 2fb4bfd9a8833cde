"""The tables of settings and metrics in docs/ are those of the code.

`python -m tests.house.tables` writes them anew.
"""

from pathlib import Path

import pytest
from pydantic import BaseModel

from api.security.oidc import Oidc
from api.settings import Settings
from connectors.connections import Connection
from tests.house.tables import tables, written

TABLES = [(page, name, lines) for page, found in tables().items() for name, lines in found.items()]


@pytest.mark.parametrize(("page", "name", "lines"), TABLES, ids=lambda each: str(each)[:20])
def test_a_table_is_as_the_code_has_it(page: str, name: str, lines: list[str]) -> None:
    assert written(page, name) == lines


@pytest.mark.parametrize("model", [Settings, Connection, Oidc])
def test_every_setting_says_what_it_does(model: type[BaseModel]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_the_example_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ivm.toml").write_text(
        page.read_text().partition("```toml\n")[2].partition("```")[0]
    )
    monkeypatch.setenv("IVM_WORKERS", "4")
    settings = Settings()
    assert (settings.workers, settings.port) == (4, 8081)
    assert settings.connections["main"].bootstrap_servers == "localhost:9092"
