"""Functions that change JSON documents: give a new one, as PostgreSQL's of jsonb."""

from collections.abc import Callable
from typing import Any

from ivm.expressions.python.script import Script
from ivm.values.documents import Document, dump, parse

_NULL_TREATMENTS = ("delete_key", "raise_exception", "return_target", "use_json_null")


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


def _without_all(text: str, keys: list[str | None]) -> str:
    """Delete, `-`, keys of an object or strings of an array."""
    document, gone = parse(text), set(keys) - {None}
    if isinstance(document, dict):
        return dump({k: v for k, v in document.items() if k not in gone})
    if isinstance(document, list):
        return dump([v for v in document if not isinstance(v, str) or v not in gone])
    raise ValueError(text)


def _changed(
    text: str, path: list[str | None], change: Callable[[Document, list[Any]], Document]
) -> str:
    """Change a document that is no scalar, at a path that is not empty."""
    document = parse(text)
    if not isinstance(document, list | dict) or None in path:
        raise ValueError(text)
    return dump(change(document, path) if path else document)


def _set(text: str, path: list[str | None], value: str, create: bool) -> str:
    """`jsonb_set(document, path, value, create)`."""
    return _changed(text, path, lambda whole, at: _put_at(whole, at, parse(value), create))


def _set_lax(
    text: str | None,
    path: list[str | None] | None,
    value: str | None,
    create: bool | None,
    treatment: str | None,
) -> str | None:
    """`jsonb_set_lax`: as `jsonb_set`, with a treatment of a value that is NULL."""
    if text is None or path is None or create is None:
        return None
    if value is not None:
        return _set(text, path, value, create)
    if treatment not in _NULL_TREATMENTS or treatment == "raise_exception":
        raise ValueError(treatment)
    if treatment == "use_json_null":
        return _set(text, path, "null", create)
    return text if treatment == "return_target" else _without_path(text, path)


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


def _insert(text: str, path: list[str | None], value: str, after: bool) -> str:
    """`jsonb_insert(document, path, value, after)`."""
    return _changed(text, path, lambda whole, at: _inserted(whole, at, parse(value), after))


def _inserted(document: Document, path: list[Any], value: Document, after: bool) -> Document:
    key, *rest = path
    if isinstance(document, dict):
        if rest:
            inner = document.get(key)
            return (
                {**document, key: _inserted(inner, rest, value, after)}
                if key in document
                else document
            )
        if key in document:
            raise ValueError(f"the key {key!r} is there")
        return {**document, key: value}
    if not isinstance(document, list):
        return document
    position = int(key)
    at = position + len(document) if position < 0 else position
    if rest:
        if not 0 <= at < len(document):
            return document
        return [*document[:at], _inserted(document[at], rest, value, after), *document[at + 1 :]]
    at = 0 if at < 0 else at + after
    return [*document[:at], value, *document[at:]]


def _strip_nulls(document: Document) -> Document:
    match document:
        case dict():
            return {k: _strip_nulls(v) for k, v in document.items() if v is not None}
        case list():
            return [_strip_nulls(v) for v in document]
        case _:
            return document


SCRIPTS: dict[str, Script] = {
    "json_concat": Script(_joined, ("json", "json")),
    "json_insert": Script(_insert, ("json", "list", "json", "bool")),
    "json_set": Script(_set, ("json", "list", "json", "bool")),
    "json_set_lax": Script(_set_lax, ("json", "list", "json", "bool", "text"), strict=False),
    "json_strip_nulls": Script(lambda text: dump(_strip_nulls(parse(text))), ("json",)),
    "json_without": Script(_without, ("json", "text")),
    "json_without_all": Script(_without_all, ("json", "list")),
    "json_without_item": Script(_without_item, ("json", "signed")),
    "json_without_path": Script(_without_path, ("json", "list")),
}
