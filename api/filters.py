"""Filters of rows by parameters: `column=value`, or `filter[column]=value`; `part=i/n` by keys."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zlib import crc32

import orjson

from api.errors import BadParameter
from api.values import is_natural, parse
from connectors.sinks.json_rows import json_values
from ivm.values.types import arrow_array
from views.catalog import View

_FILTER = re.compile(r"filter\[(.*)\]", re.DOTALL)
PARTS = 1024  # of a view, at most

Row = Mapping[str, Any]


def values_of(
    parameters: Iterable[tuple[str, str]], view: View, reserved: frozenset[str]
) -> dict[str, Any]:
    """The values by column, typed; `reserved` parameters are none (raises BadParameter)."""
    values: dict[str, Any] = {}
    for parameter, text in parameters:
        if parameter in reserved:
            continue
        match = _FILTER.fullmatch(parameter)
        name = match[1] if match is not None else parameter
        if name not in view.schema.names:
            raise BadParameter(
                f"view {view.name!r} has no column {name!r}; its columns are "
                f"{', '.join(view.schema.names)}"
            )
        if name in values:
            raise BadParameter(f"column {name!r} is given twice")
        values[name] = parse(text, view.schema.field(name))
    return values


def accepting(values: Mapping[str, Any], view: View) -> Callable[[Row], bool]:
    """Whether a row, in the form of answers, has these values."""
    wanted = [
        (name, json_values(arrow_array([value], view.schema.field(name).type))[0])
        for name, value in values.items()
    ]
    return lambda row: all(row[name] == value for name, value in wanted)


def in_part(text: str, view: View) -> Callable[[Row], bool]:
    """Whether a row, in the form of answers, is in a part of a view: `0/4` is the first of four.

    That is so by a hash of its key (of all columns where there is none), so that a row's changes
    are all in its part, at any time and after any start. Raises BadParameter.
    """
    number, _, parts = text.partition("/")
    if not (is_natural(number) and is_natural(parts) and int(number) < int(parts) <= PARTS):
        raise BadParameter(
            f"part={text!r}: write it as 0/4, the first of four parts, or up to 3/4, the last; "
            f"there are {PARTS} at most"
        )
    columns, wanted, modulus = view.key or tuple(view.schema.names), int(number), int(parts)
    return lambda row: crc32(orjson.dumps([row[c] for c in columns])) % modulus == wanted
