"""Programs that read values of an Avro schema natively."""

from collections.abc import Mapping
from typing import Any

from connectors.formats.slots import Slots
from connectors.native.avro import Program

_PLAIN = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
# Types within types; a schema of more is read by fastavro.
_MOST = 10_000

_Step = tuple[str, int, int, list[int]]


def program(schema: Any, named: Mapping[str, Any], slots: Slots) -> Program | None:
    """The program for values of a parsed schema, whose unions and symbols are dicts by index.

    None for one that is too large.
    """
    steps: list[_Step] = []
    try:
        _add(steps, schema, named, 0, slots.members)
    except OverflowError:
        return None
    return Program(steps, slots.count)


def _add(
    steps: list[_Step],
    node: Any,
    named: Mapping[str, Any],
    slot: int,
    members: Mapping[str, Any],
) -> int:
    """Add the steps of a type, whose own comes first; its number."""
    if len(steps) == _MOST:
        raise OverflowError
    node = _resolved(node, named)
    kind = node if isinstance(node, str) else "record" if node["type"] == "error" else node["type"]
    number = len(steps)
    steps.append((kind, slot, 0, []))
    size, inner = 0, []
    if kind == "record":
        for each in node["fields"]:
            at, within = members.get(each["name"], (-1, {}))
            inner.append(_add(steps, each["type"], named, at, within))
    elif kind == "union":
        branches = [node[index] for index in range(len(node) - 1)]
        inner = [_add(steps, branch, named, slot, members) for branch in branches]
    elif kind in ("array", "map"):
        inner = [_add(steps, node["items" if kind == "array" else "values"], named, -1, {})]
    elif kind == "fixed":
        size = node["size"]
    elif kind == "enum":
        size = len(node["symbols"])
    steps[number] = (kind, slot, size, inner)
    return number


def _resolved(node: Any, named: Mapping[str, Any]) -> Any:
    """A type without names that stand for it, or types around it."""
    while True:
        if isinstance(node, str):
            if node in _PLAIN:
                return node
            node = named[node]
        elif isinstance(node["type"], dict) or node["type"] in _PLAIN or node["type"] in named:
            node = node["type"]
        else:
            return node
