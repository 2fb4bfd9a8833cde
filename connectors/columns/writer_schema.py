"""The type of a value by its writer's schema: one small tree for Avro and Kafka Connect's JSON.

`kind` is how the value is written, `name` what it means, under the names of Kafka Connect and
Debezium; Avro's own logical types have theirs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal["bool", "int", "float", "string", "bytes", "array", "map", "struct", "other"]

_SHOWN = 2_000  # letters of a type
_PRECISION = "connect.decimal.precision"

_CONNECT: dict[str, Kind] = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "int"),
    **dict.fromkeys(("float", "float32", "float64", "double"), "float"),
    "boolean": "bool",
    "string": "string",
    "bytes": "bytes",
    "array": "array",
    "map": "map",
    "struct": "struct",
}
# The Arrow types that hold exactly the numbers of a type.
_CONNECT_NUMBERS = {
    **{name: name for name in ("int8", "int16", "int32", "int64", "float32", "float64")},
    "float": "float32",
    "double": "float64",
}
_AVRO_NUMBERS = {"int": "int32", "long": "int64", "float": "float32", "double": "float64"}
_AVRO: dict[str, Kind] = {
    **dict.fromkeys(("int", "long"), "int"),
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(("bytes", "fixed"), "bytes"),
    **dict.fromkeys(("string", "enum"), "string"),
    **dict.fromkeys(("record", "error"), "struct"),
    "boolean": "bool",
    "array": "array",
    "map": "map",
}


@dataclass(frozen=True, slots=True)
class Logical:
    """The type of a written value; `length` is that of Debezium's Bits.

    `scale` and `precision` are a decimal's; 0 is a precision that is not told. `number` names the
    Arrow type that holds exactly the numbers of an integer or a float. `is_optional`: it may be
    null.
    """

    kind: Kind
    name: str = ""
    scale: int = 0
    length: int = 0
    precision: int = 0
    number: str = ""
    is_optional: bool = False
    element: "Logical | None" = None
    fields: Mapping[str, "Logical"] = field(default_factory=dict)

    def __str__(self) -> str:
        """As in messages: `{id: int, at: int io.debezium.time.Date}`; cut where it is very long.

        Types within each other share their parts, so a whole text could be longer than memory.
        """
        text = ""
        for part in self._parts():
            text += part
            if len(text) > _SHOWN:
                return f"{text[:_SHOWN]}…"
        return text

    def _parts(self) -> Iterator[str]:
        if self.element is not None:
            yield f"{self.kind} of "
            yield from self.element._parts()
        elif self.fields:
            before = "{"
            for name, one in self.fields.items():
                yield f"{before}{name}: "
                yield from one._parts()
                before = ", "
            yield "}"
        else:
            yield self.kind
        if self.name:
            yield f" {self.name}"


# The type of what was written without a schema, beside others that were.
UNDESCRIBED = Logical("other")


def of_connect(node: Any) -> Logical:
    """The type that a schema of Connect's JSON converter describes; `other` for any else."""
    if type(node) is not dict:
        return Logical("other")
    kind = _CONNECT.get(str(node.get("type")), "other")
    name = str(node.get("name") or "")
    parameters = node.get("parameters")
    if type(parameters) is not dict:
        parameters = {}
    element, fields = None, {}
    if kind == "array":
        element = of_connect(node.get("items"))
    elif kind == "map":
        element = of_connect(node.get("values"))
    elif kind == "struct":
        listed = node.get("fields")
        for one in listed if type(listed) is list else ():
            if type(one) is dict and type(one.get("field")) is str:
                fields[one["field"]] = of_connect(one)
    return Logical(
        kind,
        name,
        _number(parameters, "scale"),
        _number(parameters, "length"),
        _number(parameters, _PRECISION),
        _CONNECT_NUMBERS.get(str(node.get("type")), ""),
        node.get("optional") is True,
        element,
        fields,
    )


def of_avro(node: Any, named: Mapping[str, Any]) -> Logical:
    """The type that a parsed Avro schema describes; `named` holds its named types.

    A union with null is that of its other branch; any other union, and a type that holds itself,
    is `other`.
    """
    return _of_avro(node, named, (), {})


def _of_avro(
    node: Any, named: Mapping[str, Any], seen: Iterable[str], known: dict[str, Logical]
) -> Logical:
    """The same within the types `seen`; `known` holds the records made before, by name."""
    if type(node) is list:
        branches = [branch for branch in node if branch != "null"]
        if len(branches) != 1:
            return Logical("other", is_optional="null" in node)
        made = _of_avro(branches[0], named, seen, known)
        return replace(made, is_optional=True) if "null" in node else made
    if type(node) is str:
        if node in _AVRO:
            return Logical(_AVRO[node], number=_AVRO_NUMBERS.get(node, ""))
        if node in seen or node not in named:
            return Logical("other")
        return known.get(node) or _of_avro(named[node], named, seen, known)
    kind = _AVRO.get(str(node["type"]), "other")
    if kind == "other" and type(node["type"]) in (dict, list):
        return _of_avro(node["type"], named, seen, known)
    name = str(node.get("connect.name") or node.get("logicalType") or "")
    parameters = node.get("connect.parameters") or {}
    element, fields = None, {}
    if kind == "array":
        element = _of_avro(node["items"], named, seen, known)
    elif kind == "map":
        element = _of_avro(node["values"], named, seen, known)
    elif kind == "struct":
        within = {*seen, node["name"]}
        fields = {f["name"]: _of_avro(f["type"], named, within, known) for f in node["fields"]}
        name = name if name.startswith("io.debezium.data") else node["name"]
    scale = node["scale"] if type(node.get("scale")) is int else _number(parameters, "scale")
    made = Logical(
        kind,
        name,
        scale,
        _number(parameters, "length"),
        _number(node, "precision") or _number(parameters, _PRECISION),
        _AVRO_NUMBERS.get(str(node["type"]), ""),
        element=element,
        fields=fields,
    )
    if kind == "struct":
        known[node["name"]] = made
    return made


def _number(parameters: Mapping[str, Any], name: str) -> int:
    try:
        return int(parameters.get(name, 0))
    except (TypeError, ValueError):
        return 0
