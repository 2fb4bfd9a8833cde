"""JSON texts to Python values."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import orjson

from connectors.formats.faults import NOT_JSON, Fault


def parse(texts: Sequence[bytes]) -> list[Any]:
    """The value of each text, or a Fault where it is not JSON in UTF-8."""
    try:
        return list(map(orjson.loads, texts))
    except orjson.JSONDecodeError:
        return [_parse(text) for text in texts]


def parse_exactly(text: bytes) -> Any:
    """The value of a text that `parse` took, with fractional numbers as Decimal; slow."""
    return json.loads(text, parse_float=Decimal)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Fault(NOT_JSON, f"not JSON: {error}")
