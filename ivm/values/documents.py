"""JSON documents have a canonical text, that of jsonb: equal documents have equal texts.

Keys are ordered by their length in bytes, then by their bytes, and the last of equal keys counts;
a fraction has no zeros at its end. In Python a document is None, a bool, an int, a Decimal, a str,
a list or a dict.

>>> canonical('{"total": 1.50, "id": 7, "id": 8}')
'{"id": 8, "total": 1.5}'
"""

import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

Document = Any
_CACHED_CHARACTERS = 4096
_CACHED_DOCUMENTS = 4096
_MOST_DIGITS = 131_072
_INEXACT = re.compile(r"\d\.\d|\d{19}")
_quote = json.encoder.encode_basestring


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if abs(number.adjusted()) > _MOST_DIGITS:
        raise ValueError(text)
    return number


def _refuse(text: str) -> Document:
    raise ValueError(text)


def _parse(text: str) -> Document:
    return json.loads(text, parse_float=_number, parse_constant=_refuse)


def _parse_canonical(text: str) -> Document:
    """Parse a canonical text; numbers that the faster parser would round go to the exact one."""
    return _parse(text) if _INEXACT.search(text) else orjson.loads(text)


_parse_cached = lru_cache(_CACHED_DOCUMENTS)(_parse_canonical)


def parse(text: str) -> Document:
    """Parse a canonical text into a document that must not be changed, since rows share it.

    >>> parse('{"id": 8, "total": 1.5}')
    {'id': 8, 'total': Decimal('1.5')}
    """
    if len(text) <= _CACHED_CHARACTERS:
        return _parse_cached(text)
    return _parse_canonical(text)


def dump(document: Document) -> str:
    """Write the canonical text of a document.

    >>> dump({"total": Decimal("1.50"), "id": 8})
    '{"id": 8, "total": 1.5}'
    """
    match document:
        case None:
            return "null"
        case bool():
            return "true" if document else "false"
        case str():
            return _quote(document)
        case int():
            return str(document)
        case Decimal():
            return _decimal_text(document)
        case list():
            return "[" + ", ".join(map(dump, document)) + "]"
        case _:
            keys = sorted(document, key=key_order)
            return "{" + ", ".join(f"{_quote(k)}: {dump(document[k])}" for k in keys) + "}"


def key_order(key: str) -> tuple[int, bytes]:
    """Order the keys of an object as jsonb does, by length first.

    >>> sorted(["total", "id", "a"], key=key_order)
    ['a', 'id', 'total']
    """
    return len(key.encode()), key.encode()


def type_of(document: Document) -> str:
    """Name the type of a document, as `jsonb_typeof`.

    >>> type_of(Decimal(1)), type_of(None)
    ('number', 'null')
    """
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


def order_key(document: Document, top: bool = True) -> tuple[Any, ...]:
    """Give a key that sorts documents as PostgreSQL does.

    Null < texts < numbers < booleans < arrays < objects; containers by their size first. At the
    top an empty array comes before all else.

    >>> sorted([{"a": 1}, [2], True, 10, 9, "x", None, []], key=order_key)
    [[], None, 'x', 9, 10, True, [2], {'a': 1}]
    """
    match document:
        case None:
            return (0,)
        case str():
            return (1, document)
        case bool():
            return (3, document)
        case list():
            inner = tuple(order_key(v, top=False) for v in document)
            return (4 if inner or not top else -1, len(inner), inner)
        case dict():
            keys = sorted(document, key=key_order)
            return (5, len(keys), tuple((k, order_key(document[k], top=False)) for k in keys))
        case _:
            return (2, document)


def _decimal_text(number: Decimal) -> str:
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def canonical(text: str) -> str:
    """Rewrite a JSON text canonically.

    Raises ValueError for a text that is not JSON, is nested too deeply, has a NUL character in a
    string, or a number beyond 10^131072: jsonb holds none of them.

    >>> canonical('{"b": 1.50, "a": 1, "b": 2}')
    '{"a": 1, "b": 2}'
    """
    try:
        return _dump_whole(_parse(text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def canonical_of(document: Document) -> str:
    """Write the canonical text of a document that anybody made.

    Raises ValueError as `canonical` does, and for a float, which may have lost digits.

    >>> canonical_of({"n": Decimal("327267367867168100000.10"), "a": [None, True]})
    '{"a": [null, true], "n": 327267367867168100000.1}'
    """
    try:
        _check_numbers(document)
        return _dump_whole(document)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _dump_whole(document: Document) -> str:
    text = dump(document)
    if "\\u0000" in text and "\0" in dump_texts(document):
        raise ValueError("a NUL character")
    return text


def _check_numbers(document: Document) -> None:
    match document:
        case float():
            raise ValueError("a float, whose digits are not those that were written")
        case Decimal() if abs(document.adjusted()) > _MOST_DIGITS:
            raise ValueError("a number out of range")
        case list():
            for member in document:
                _check_numbers(member)
        case dict():
            for member in document.values():
                _check_numbers(member)


def dump_texts(document: Document) -> str:
    """Join all strings of a document, its keys included.

    >>> dump_texts({"a": ["b", 1]})
    'ab'
    """
    match document:
        case str():
            return document
        case list():
            return "".join(map(dump_texts, document))
        case dict():
            return "".join(k + dump_texts(v) for k, v in document.items())
        case _:
            return ""


def plain(document: Document) -> str | None:
    """Write a document as `->>` does: a string without quotes, null as NULL (None).

    >>> plain("a"), plain(["a"]), plain(None)
    ('a', '["a"]', None)
    """
    if document is None:
        return None
    return document if isinstance(document, str) else dump(document)
