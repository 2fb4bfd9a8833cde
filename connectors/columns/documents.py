"""Values that a writer's schema describes, as JSON documents."""

import math
from base64 import b64encode
from decimal import Decimal
from typing import Any

from ivm.values.documents import Document, canonical_of


def described_text(value: Any) -> str:
    """Write a value as a canonical text: its floats by their shortest digits, its bytes in base64.

    Raises ValueError where no JSON text holds it.

    >>> described_text({"x": 0.5, "wkb": b"\\x01", "far": math.inf})
    '{"x": 0.5, "far": "Infinity", "wkb": "AQ=="}'
    """
    return canonical_of(_document(value))


def _document(value: Any) -> Document:
    """The document of a value, whose floats are Decimals where another column is of decimals."""
    if isinstance(value, dict):
        return {name: _document(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_document(one) for one in value]
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, (float, Decimal)):
        return _number(float(value))
    return value


def _number(value: float) -> Decimal | str:
    if math.isfinite(value):
        return Decimal(repr(value))
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
