"""Members of objects as `.keyvalue()` of a JSON path gives them: `id`, `key` and `value`.

An object's `id` is where it lies in PostgreSQL's binary form of the document, which is laid out
here: a word for the container and for each key, value or element, then what they hold; numbers and
containers begin at words.

>>> item = {"a": 1}
>>> members(item, place_of(item, [True, item]))
[{'id': 12, 'key': 'a', 'value': 1}]
"""

from collections.abc import Iterator
from decimal import Decimal

from ivm.values.documents import Document, key_order

_WORD = 4
_GROUP = 4  # decimal digits that numbers hold together
_MOST_WEIGHT, _MOST_SCALE = 63, 63  # of a number with a short header


def members(item: dict[str, Document], place: int) -> list[Document]:
    """List the members of an object that lies at `place`."""
    return [{"id": place, "key": k, "value": item[k]} for k in sorted(item, key=key_order)]


def place_of(item: dict[str, Document], document: Document) -> int:
    """Find where an object lies in the document that holds it; 0 where none does."""
    return next((place for each, place in _laid_out(document, 0) if each is item), 0)


def _laid_out(document: Document, begin: int) -> Iterator[tuple[Document, int]]:
    """Yield the containers of a document that begins at `begin`, with their places."""
    if not isinstance(document, dict | list):
        return
    yield document, begin
    for value, place in _contents(document, begin):
        yield from _laid_out(value, place)


def _contents(container: Document, begin: int) -> Iterator[tuple[Document, int]]:
    """Yield what a container holds, keys left out, with the places."""
    assert isinstance(container, dict | list)
    if isinstance(container, dict):
        keys = sorted(container, key=key_order)
        at = begin + _WORD + 2 * _WORD * len(keys) + sum(len(k.encode()) for k in keys)
        values = [container[k] for k in keys]
    else:
        at, values = begin + _WORD + _WORD * len(container), container
    for value in values:
        if not isinstance(value, str | bool | None):
            at = -(-at // _WORD) * _WORD
        yield value, at
        at += _size(value, at)


def _size(value: Document, at: int) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if value is None or isinstance(value, bool):
        return 0
    if isinstance(value, dict | list):
        empty = at + _WORD + _WORD * len(value) * (1 + isinstance(value, dict))
        ends = [place + _size(inner, place) for inner, place in _contents(value, at)]
        keys = sum(len(k.encode()) for k in value) if isinstance(value, dict) else 0
        return (ends[-1] if ends else empty + keys) - at
    return _size_of_number(Decimal(value))


def _size_of_number(number: Decimal) -> int:
    """A header of three or four half words, then the groups of digits without zeros around."""
    if not number:
        return 6
    digits, exponent = number.as_tuple().digits, int(number.as_tuple().exponent)
    before = len(digits) + exponent
    text = "".join(map(str, digits)).rjust(len(digits) + -before % _GROUP, "0")
    text = text.ljust(-(-len(text) // _GROUP) * _GROUP, "0")
    groups = [text[i : i + _GROUP] for i in range(0, len(text), _GROUP)]
    kept = "".join("0" if set(group) == {"0"} else "1" for group in groups).strip("0")
    weight = -(-before // _GROUP) - 1
    is_short = abs(weight) <= _MOST_WEIGHT and -exponent <= _MOST_SCALE
    return (6 if is_short else 8) + 2 * len(kept)
