"""Functions of JSON documents, as PostgreSQL's of jsonb."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.families import family
from ivm.expressions.python.forms import writer
from ivm.expressions.python.script import Script, constant
from ivm.values.documents import Document, canonical, dump, parse, plain

_ABSENT = object()


def _member(document: Document, key: str) -> Any:
    return document.get(key, _ABSENT) if isinstance(document, dict) else _ABSENT


def _item(document: Document, position: int) -> Any:
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


def type_of(document: Document) -> str:
    """Name the type of a document, as `jsonb_typeof`."""
    match document:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"


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


def _joined(a: str, b: str) -> str:
    """Concatenate, `||`: two objects to one; else arrays, a document that is none being an item."""
    one, other = parse(a), parse(b)
    if isinstance(one, dict) and isinstance(other, dict):
        return dump({**one, **other})
    first = one if isinstance(one, list) else [one]
    return dump([*first, *(other if isinstance(other, list) else [other])])


def _without(text: str, key: str) -> str:
    """Delete, `-`, a key of an object or a string of an array."""
    document = parse(text)
    if isinstance(document, dict):
        return dump({k: v for k, v in document.items() if k != key})
    if isinstance(document, list):
        return dump([v for v in document if v != key])
    raise ValueError(text)


def _without_item(text: str, position: int) -> str:
    document = parse(text)
    if not isinstance(document, list):
        raise ValueError(text)
    at = position + len(document) if position < 0 else position
    return dump([v for i, v in enumerate(document) if i != at])


def _without_path(text: str, path: list[str | None]) -> str:
    """Delete the part at a path, `#-`."""
    document = parse(text)
    if not isinstance(document, list | dict):
        raise ValueError(text)
    return dump(_cut(document, path))


def _cut(document: Document, path: list[str | None]) -> Document:
    if not path or not document:
        return document
    (key, *rest), whole = path, document
    if key is None:
        raise ValueError("a step is NULL")
    if isinstance(whole, dict) and key in whole:
        return {k: _cut(v, rest) if k == key else v for k, v in whole.items() if k != key or rest}
    if isinstance(whole, list):
        position = int(key)
        at = position + len(whole) if position < 0 else position
        return [_cut(v, rest) if i == at else v for i, v in enumerate(whole) if i != at or rest]
    return document


def _set(call: Call) -> Callable[[str, list[str | None], str], str]:
    """`jsonb_set(document, path, value, create)`, `create` being constant."""
    create = bool(constant(call, 3))

    def change(text: str, path: list[str | None], value: str) -> str:
        document = parse(text)
        if not isinstance(document, list | dict) or None in path:
            raise ValueError(text)
        return dump(_put_at(document, path, parse(value), create) if path else document)

    return change


def _put_at(document: Document, path: list[Any], value: Document, create: bool) -> Document:
    key, *rest = path
    if isinstance(document, dict):
        if key in document:
            new = _put_at(document[key], rest, value, create) if rest else value
            return {**document, key: new}
        return {**document, key: value} if create and not rest else document
    if not isinstance(document, list):
        return document
    position = int(key)
    at = position + len(document) if position < 0 else position
    if 0 <= at < len(document):
        new = _put_at(document[at], rest, value, create) if rest else value
        return [*document[:at], new, *document[at + 1 :]]
    if create and not rest:
        return [value, *document] if at < 0 else [*document, value]
    return document


def _strip_nulls(document: Document) -> Document:
    match document:
        case dict():
            return {k: _strip_nulls(v) for k, v in document.items() if v is not None}
        case list():
            return [_strip_nulls(v) for v in document]
        case _:
            return document


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
    "json_strip_nulls": Script(lambda text: dump(_strip_nulls(parse(text))), ("json",)),
    "json_concat": Script(_joined, ("json", "json")),
    "json_without": Script(_without, ("json", "text")),
    "json_without_item": Script(_without_item, ("json", "signed")),
    "json_without_path": Script(_without_path, ("json", "list")),
    "json_set": Script(_set, ("json", "list", "json", "bool"), made=True, constants=(3,)),
    "json_put": Script(_put, ("json", "text", "any"), strict=False, made=True),
    "json_push": Script(_push, ("json", "any"), strict=False, made=True),
    "to_json": Script(_to_json, ("any",), made=True),
}
