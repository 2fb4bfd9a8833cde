"""Forms: how a native reader makes a column of values, where it makes the same as a converter."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import pyarrow as pa

from connectors.columns.encodings import by_text, counted, of_unscaled
from connectors.columns.to_arrow import BOUNDS, Converter, converter
from ivm.values.types import INTERVAL

Name = Literal[
    "integers",
    "doubles",
    "floats",
    "truths",
    "texts",
    "base64",
    "decimals",
    "unscaled",
    "counts",
    "verbatim",
    "contents",
]


@dataclass(frozen=True, slots=True)
class Form:
    """The parts of `connectors.native.columns.Shape` that the values of a column decide.

    A `verbatim` column has JSON texts, and one of `contents` texts or bytes; of these the converter
    makes the values.
    """

    form: Name
    width: int = 0
    is_spelled: bool = False
    bounds: tuple[int, int] = (0, 0)
    unit: tuple[int, int] = (1, 1)
    is_guarded: bool = False
    clock: Literal["", "date", "time", "naive", "zoned"] = ""
    digits: tuple[int, int, int] = (0, 0, 0)


VERBATIM, CONTENTS = Form("verbatim"), Form("contents")


def form_of(dtype: pa.DataType, convert: Converter | None) -> Form:
    """The form of a column of this type whose values `convert` makes."""
    if convert is None or convert is converter(dtype):
        return _plain(dtype, is_spelled=False)
    if convert is by_text(dtype):
        return _plain(dtype, is_spelled=True)
    if isinstance(convert, partial):
        if convert.func is counted and dtype != INTERVAL:
            return _counts(dtype, unit=convert.keywords["unit"])
        if convert.func is of_unscaled and isinstance(dtype, pa.Decimal128Type):
            digits = dtype.precision, dtype.scale, convert.keywords["scale"]
            return Form("unscaled", 16, digits=digits)
    return VERBATIM


def _plain(dtype: pa.DataType, *, is_spelled: bool) -> Form:
    """Values as JSON has them, or texts that spell them."""
    if pa.types.is_integer(dtype):
        return Form("integers", dtype.bit_width // 8, is_spelled, _range(dtype))
    if pa.types.is_floating(dtype):
        name: Name = "doubles" if dtype == pa.float64() else "floats"
        return Form(name, dtype.bit_width // 8, is_spelled)
    if isinstance(dtype, pa.Decimal128Type):
        return Form("decimals", 16, is_spelled, digits=(dtype.precision, dtype.scale, 0))
    if pa.types.is_temporal(dtype) and dtype != INTERVAL:
        return _counts(dtype, is_spelled=is_spelled, is_text=True)
    return _SIMPLE.get(dtype, VERBATIM) if not is_spelled or dtype == pa.string() else VERBATIM


_SIMPLE: Mapping[Any, Form] = {
    pa.bool_(): Form("truths", 1),
    pa.string(): Form("texts"),
    pa.binary(): Form("base64"),
}


def _range(dtype: pa.DataType) -> tuple[int, int]:
    """The integers of a type that an int64 holds."""
    bits = dtype.bit_width
    if pa.types.is_unsigned_integer(dtype):
        return 0, min(2**bits, 2**63) - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _counts(
    dtype: pa.DataType,
    *,
    unit: tuple[int, int] = (1, 1),
    is_spelled: bool = False,
    is_text: bool = False,
) -> Form:
    """Counts of a unit; `is_text`: ISO texts too, and counts in doubt are refused."""
    is_timestamp = pa.types.is_timestamp(dtype)
    clock: Any = ""
    if is_text:
        names = {pa.date32(): "date", pa.time64("us"): "time", pa.timestamp("us"): "naive"}
        clock = names.get(dtype, "zoned")
    return Form(
        "counts",
        dtype.bit_width // 8,
        is_spelled,
        BOUNDS[dtype.id],
        unit,
        is_text and is_timestamp,
        clock,
    )
