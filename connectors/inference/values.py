"""Columns by the values of the first records, where no schema describes them.

A type is taken if the decoder makes it of every value, the narrower before the wider. That all
values of a sample have a form does not make it a rule: what might be otherwise is in doubt.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from connectors.columns.encodings import by_text
from connectors.columns.faults import ValueFault
from connectors.columns.to_arrow import Converter, to_array
from connectors.inference.guess import Guess
from ivm.values.types import JSON, UUID

_INT64 = 2**63
_SCALED = re.compile(r"[+-]?\d+\.(\d+)")
# Digits behind zeros, as of postal codes, are no numbers.
_CODE = re.compile(r"[+-]?0\d+")
# Texts that the short forms of ISO 8601 make dates and times of, and any number is.
_SHORT = re.compile(r"[\d.,]+")
# Milliseconds since the epoch, from 2001 to 2096.
_MILLIS = (10**12, 4 * 10**12)
_SPELLED = (
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.timestamp("us"),
    pa.time64("us"),
    UUID,
)
_NUMBERS = (pa.int64(), pa.float64())


def guesses(rows: Sequence[Mapping[str, Any]]) -> dict[str, Guess]:
    """The columns of documents, in the order in which their members come."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: guess([row.get(name) for row in rows]) for name in names}


def guess(values: Sequence[Any]) -> Guess:
    """The column of these values of JSON, of which None may be any."""
    found = [value for value in values if value is not None]
    is_nullable = len(found) < len(values)
    kinds = {type(value) for value in found}
    if not kinds:
        return Guess(pa.string(), True, "only NULL was seen")
    if kinds == {bool}:
        return Guess(pa.bool_(), is_nullable)
    if kinds == {int}:
        return _of_integers(found, is_nullable)
    if kinds <= {int, float}:
        doubt = "a float rounds; as numeric(p, s) it has the digits that are written"
        return Guess(pa.float64(), is_nullable, doubt)
    if kinds == {str}:
        return _of_texts(found, is_nullable)
    if kinds == {list}:
        return _of_lists(found, is_nullable)
    if str not in kinds:
        return Guess(JSON, is_nullable)
    others = ", ".join(sorted(kind.__name__ for kind in kinds - {str}))
    return Guess(pa.string(), is_nullable, f"texts were seen, and {others}, which utf8 refuses")


def guess_spelled(texts: Sequence[str | None]) -> Guess:
    """The column of texts that spell values, as the fields of a line do."""
    found = [text for text in texts if text is not None]
    is_nullable = len(found) < len(texts)
    if found and {text.lower() for text in found} <= {"true", "false"}:
        return Guess(pa.bool_(), is_nullable)
    if not any(map(_CODE.fullmatch, found)):
        for dtype in _NUMBERS if found else ():
            if _takes(dtype, found, by_text(dtype)):
                return Guess(dtype, is_nullable)
    return guess(texts)


def _of_integers(found: Sequence[int], is_nullable: bool) -> Guess:
    least, most = min(found), max(found)
    if not -_INT64 <= least <= most < _INT64:
        return Guess(pa.uint64() if least >= 0 else pa.decimal128(38, 0), is_nullable)
    if _MILLIS[0] <= least <= most < _MILLIS[1]:
        doubt = "if it counts milliseconds, declare it timestamp[us] with the encoding 'ms'"
        return Guess(pa.int64(), is_nullable, doubt)
    return Guess(pa.int64(), is_nullable)


def _of_texts(found: Sequence[str], is_nullable: bool) -> Guess:
    for dtype in _SPELLED if not any(map(_SHORT.fullmatch, found)) else ():
        if _takes(dtype, found):
            return Guess(dtype, is_nullable)
    scales = {len(match[1]) if (match := _SCALED.fullmatch(text)) else 0 for text in found}
    scale = scales.pop()
    dtype = pa.decimal128(38, min(scale, 38))
    if scale and not scales and _takes(dtype, found):
        return Guess(dtype, is_nullable, "its texts all look like decimals with as many digits")
    return Guess(pa.string(), is_nullable)


def _of_lists(found: Sequence[list[Any]], is_nullable: bool) -> Guess:
    elements = [element for one in found for element in one]
    if any(isinstance(element, list | dict) for element in elements):
        return Guess(JSON, is_nullable)
    listed = pa.list_(guess(elements).dtype or JSON)
    return Guess(listed if _takes(listed, found) else JSON, is_nullable)


def _takes(dtype: pa.DataType, found: Sequence[Any], convert: Converter | None = None) -> bool:
    try:
        to_array(list(found), pa.field("", dtype), convert)
    except ValueFault:
        return False
    return True
