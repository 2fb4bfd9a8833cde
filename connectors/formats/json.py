"""JSON texts to Python values."""

import json
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import orjson

from connectors.formats.faults import NOT_JSON, Fault


def parse(texts: Sequence[bytes]) -> list[Any]:
    """The value of each text, or a Fault where it is not JSON in UTF-8."""
    try:
        return list(map(orjson.loads, texts))
    except orjson.JSONDecodeError:
        return [_parse(text) for text in texts]


def parse_exactly(text: bytes, value: Any) -> Any:
    """`value`, which `parse` made of `text`, with a Decimal for every float; slow.

    A text too deep for the exact parser, or with an exponent that no Decimal has, keeps `value`.
    """
    try:
        return json.loads(text, parse_float=Decimal, parse_int=_integer)
    except (RecursionError, InvalidOperation):
        return value


def _integer(digits: str) -> int | Decimal:
    """An int exactly where `parse` gives one; it has floats beyond 64 bits."""
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else Decimal(digits)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Fault(NOT_JSON, f"not JSON: {error}")
