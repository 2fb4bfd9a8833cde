"""docs/sources.md: its declarations are accepted, and it names every field, choice and reason."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import orjson
import pytest

from api.models import SourceBody
from connectors import declaration
from connectors.formats.format import REASONS
from connectors.tables import spec
from connectors.tables.spec import TableSpec

PAGE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text()
EXAMPLES = re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S)
DECLARED = {"name", "schema", "key"}


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_a_source(text: str) -> None:
    body = SourceBody.model_validate(orjson.loads(text))
    if body.columns is not None:
        spec = body.spec("orders", "quarantine")
        assert TableSpec.from_json(spec.to_json()) == spec


def test_every_field_is_described() -> None:
    missing = {f.name for f in fields(TableSpec)} - DECLARED
    assert {name for name in missing if f"| `{name}` |" not in PAGE} == set()


@pytest.mark.parametrize(
    "choices",
    [
        spec.Format,
        declaration.Metadata,
        declaration.Resolution,
        declaration.ReplicaIdentity,
        declaration.Encoding,
        declaration.OnError,
    ],
)
def test_every_choice_is_described(choices: object) -> None:
    assert {choice for choice in get_args(choices) if f"`{choice}`" not in PAGE} == set()


def test_every_reason_is_described() -> None:
    assert {reason for reason in REASONS if f"`{reason}`" not in PAGE} == set()
