"""Append: every record is a row, and none is ever taken away."""

from collections.abc import Sequence
from typing import Any

from connectors.envelopes.images import Images
from connectors.formats.faults import NOT_AN_ENVELOPE, NULL_RECORD, Fault


def images(values: Sequence[Any]) -> Images:
    """A row for each value; a Fault among them stays one."""
    if all(type(value) is dict for value in values):
        return Images(list(values), [1] * len(values), list(range(len(values))))
    result = Images()
    for owner, value in enumerate(values):
        if type(value) is dict:
            result.add(owner, 1, value)
        elif isinstance(value, Fault):
            result.faults[owner] = value
        elif value is None:
            result.faults[owner] = Fault(NULL_RECORD, "the record has no value, so it is no row")
        else:
            result.faults[owner] = Fault(NOT_AN_ENVELOPE, "the value is not an object")
    return result
