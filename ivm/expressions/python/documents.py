"""Functions of JSON documents, as PostgreSQL's of jsonb."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.families import family
from ivm.expressions.python.forms import reader, writer
from ivm.expressions.python.script import Script
from ivm.values.documents import Document, canonical, dump, key_order, parse, plain, type_of
from ivm.values.types import JSON

_ABSENT = object()


def _member(document: Document, key: str) -> Any:
    return document.get(key, _ABSENT) if isinstance(document, dict) else _ABSENT


def _item(document: Document, position: int) -> Any:
    if not isinstance(document, list | dict):
        document = [document]  # as PostgreSQL holds it
    if not isinstance(document, list) or not -len(document) <= position < len(document):
        return _ABSENT
    return document[position]


def _at_path(document: Document, path: list[str | None]) -> Any:
    for step in path:
        if step is None:
            return _ABSENT
        if isinstance(document, list):
            digits = step.strip().removeprefix("-")
            document = _item(document, int(step)) if digits.isdigit() else _ABSENT
        else:
            document = _member(document, step)
        if document is _ABSENT:
            return _ABSENT
    return document


def _taking(
    get: Callable[[Document, Any], Any], show: Callable[[Document], str | None]
) -> Callable[[str, Any], str | None]:
    """Make the function that finds a part of a document by a key, and writes it."""

    def take(text: str, key: Any) -> str | None:
        found = get(parse(text), key)
        return None if found is _ABSENT else show(found)

    return take


def contains(whole: Document, part: Document) -> bool:
    """Test containment, `@>`; at the top an array contains a scalar too."""
    if isinstance(whole, list) and not isinstance(part, list | dict):
        return any(same(v, part) for v in whole)
    return _contains(whole, part)


def _contains(whole: Document, part: Document) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            k in whole and _contains(whole[k], v) for k, v in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(_contains(w, p) for w in whole) for p in part)
    return not isinstance(whole, list | dict) and same(whole, part)


def same(a: Document, b: Document) -> bool:
    """Compare scalars; unlike in Python, true is not 1."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def has(document: Document, key: str) -> bool:
    """Test `?`: a key of an object, a string of an array, or the string itself."""
    match document:
        case dict():
            return key in document
        case list():
            return any(v == key for v in document if isinstance(v, str))
        case _:
            return isinstance(document, str) and document == key


def _length(text: str) -> int:
    document = parse(text)
    if not isinstance(document, list):
        raise ValueError(text)
    return len(document)


def builder(type_: pa.DataType) -> Callable[[Any], Document]:
    """Make the function from values of a type to documents, as `to_jsonb` (raises Unsupported)."""
    if isinstance(type_, pa.ListType):
        element = builder(type_.value_type)
        return lambda values: [None if v is None else element(v) for v in values]
    if isinstance(type_, pa.StructType):
        named = [(field.name, builder(field.type)) for field in type_]
        return lambda values: {
            name: None if v is None else build(v)
            for (name, build), v in zip(named, values, strict=True)
        }
    match family(type_):
        case "json":
            return parse
        case "bool" | "signed" | "unsigned" | "decimal" | "text":
            return lambda value: value
        case "float":
            write = writer(type_)
            return lambda value: Decimal(write(value)) if math.isfinite(value) else write(value)
        case "timestamp":
            write = writer(type_)
            return lambda value: _iso(write(value))
        case _:
            return writer(type_)


def _iso(text: str) -> str:
    moment = text.replace(" ", "T", 1)
    return moment + ":00" if moment.endswith("+00") else moment


def _to_json(call: Call) -> Callable[[Any], str]:
    build = builder(call.arguments[0].type)
    return lambda value: dump(build(value))


def _put(call: Call) -> Callable[[str, str | None, Any], str]:
    """`{…document, key: value}`; the value may be NULL, the key may not."""
    build = builder(call.arguments[2].type)

    def put(text: str, key: str | None, value: Any) -> str:
        if key is None:
            raise ValueError("a key that is NULL")
        return dump({**parse(text), key: None if value is None else build(value)})

    return put


def _push(call: Call) -> Callable[[str, Any], str]:
    """`[…document, value]`; the value may be NULL."""
    build = builder(call.arguments[1].type)
    return lambda text, value: dump([*parse(text), None if value is None else build(value)])


def _pretty(document: Document, indent: str = "") -> str:
    """Write a document in lines, each level four blanks further right."""
    inside = indent + "    "
    match document:
        case dict():
            parts = [
                f"{inside}{dump(k)}: {_pretty(document[k], inside)}"
                for k in sorted(document, key=key_order)
            ]
            ends = "{}"
        case list():
            parts = [inside + _pretty(v, inside) for v in document]
            ends = "[]"
        case _:
            return dump(document)
    body = ",\n".join(parts)
    return f"{ends[0]}\n{body}{chr(10) if body else ''}{indent}{ends[1]}"


def _object(pairs: list[Any]) -> str:
    """`jsonb_object(text[])`: keys and values by turns, or as pairs."""
    if pairs and isinstance(pairs[0], list):
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(pairs)
        return _object_of([k for k, _ in pairs], [v for _, v in pairs])
    if len(pairs) % 2:
        raise ValueError(pairs)
    return _object_of(pairs[::2], pairs[1::2])


def _object_of(keys: list[str | None], values: list[str | None]) -> str:
    """`jsonb_object(keys, values)`."""
    if None in keys:
        raise ValueError("a key that is NULL")
    return dump(dict(zip(keys, values, strict=True)))


def _scalar(kind: str) -> Callable[[str], Any]:
    """Make the function that gives a scalar of this kind; it raises ValueError for others."""

    def value(text: str) -> Any:
        document = parse(text)
        if type_of(document) != kind:
            raise ValueError(text)
        return document

    return value


_number_of = _scalar("number")


def _whole(text: str) -> int:
    return int(Decimal(_number_of(text)).to_integral_value("ROUND_HALF_UP"))


def _float(text: str) -> float:
    number = _number_of(text)
    value = float(number)
    if math.isinf(value) or (value == 0) != (number == 0):
        raise OverflowError(text)
    return value


def _field(call: Call) -> Callable[[str, str], Any]:
    """Make the function that gives an object's member as a value of the call's type."""
    convert = _converter(call.type)

    def field(text: str, key: str) -> Any:
        document = parse(text)
        if not isinstance(document, dict):
            raise ValueError(text)
        member = document.get(key)
        return None if member is None else convert(member)

    return field


def _converter(type_: pa.DataType) -> Callable[[Document], Any]:
    """Make the function from documents to values, as `jsonb_to_record` (raises Unsupported)."""
    if type_ == JSON:
        return dump
    if not isinstance(type_, pa.ListType):
        read = reader(type_)
        return lambda document: read(document if isinstance(document, str) else dump(document))
    element = _converter(type_.value_type)

    def elements(document: Document) -> list[Any]:
        if not isinstance(document, list):
            raise ValueError("no array")
        return [None if v is None else element(v) for v in document]

    return elements


CASTS: dict[tuple[str, str], Script] = {
    ("text", "json"): Script(canonical, ("text",)),
    ("json", "bool"): Script(_scalar("boolean"), ("json",)),
    ("json", "signed"): Script(_whole, ("json",)),
    ("json", "unsigned"): Script(_whole, ("json",)),
    ("json", "decimal"): Script(lambda text: Decimal(_number_of(text)), ("json",)),
    ("json", "float"): Script(_float, ("json",)),
}
SCRIPTS: dict[str, Script] = {
    "json_member": Script(_taking(_member, dump), ("json", "text"), nullable=True),
    "json_member_text": Script(_taking(_member, plain), ("json", "text"), nullable=True),
    "json_item": Script(_taking(_item, dump), ("json", "signed"), nullable=True),
    "json_item_text": Script(_taking(_item, plain), ("json", "signed"), nullable=True),
    "json_path": Script(_taking(_at_path, dump), ("json", "list"), nullable=True),
    "json_path_text": Script(_taking(_at_path, plain), ("json", "list"), nullable=True),
    "json_contains": Script(lambda a, b: contains(parse(a), parse(b)), ("json", "json")),
    "json_has": Script(lambda text, key: has(parse(text), key), ("json", "text")),
    "json_has_any": Script(
        lambda text, keys: any(has(parse(text), k) for k in keys), ("json", "list")
    ),
    "json_has_all": Script(
        lambda text, keys: all(has(parse(text), k) for k in keys), ("json", "list")
    ),
    "json_typeof": Script(lambda text: type_of(parse(text)), ("json",)),
    "json_array_length": Script(_length, ("json",)),
    "json_put": Script(_put, ("json", "text", "any"), strict=False, made=True),
    "json_push": Script(_push, ("json", "any"), strict=False, made=True),
    "json_object": Script(_object, ("list",)),
    "json_object_of": Script(_object_of, ("list", "list")),
    "json_pretty": Script(lambda text: _pretty(parse(text)), ("json",)),
    "json_field": Script(_field, ("json", "text"), nullable=True, made=True),
    "to_json": Script(_to_json, ("any",), made=True),
}
