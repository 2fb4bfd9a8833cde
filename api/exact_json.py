"""JSON read with its numbers as they are written: `orjson.dumps` writes the same digits again."""

import json
from typing import Any

import orjson


def loads(text: bytes | str) -> Any:
    """The value of a JSON text (raises ValueError, RecursionError).

    >>> orjson.dumps(loads('{"amount": 1.10}'))
    b'{"amount":1.10}'
    """
    return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refused)


def _number(digits: str) -> orjson.Fragment:
    return orjson.Fragment(digits.encode())


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON; write it as a text")
