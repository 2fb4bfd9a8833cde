"""Functions of the SQL/JSON path language; a `silent` one has no errors of a path's items."""

from collections.abc import Iterator
from contextlib import suppress

from ivm.expressions.python.script import Script
from ivm.values.documents import Document, dump, parse
from ivm.values.json_path import PathError, Variables, items, parse_cached


def _items(
    document: str, path: str, variables: str | None, silent: bool, zoned: bool = False
) -> Iterator[Document]:
    """Yield the items of a path, up to an error of theirs if `silent`."""
    with suppress(*[PathError] if silent else []):
        yield from items(parse_cached(path), parse(document), _values(variables), zoned)


def _values(variables: str | None) -> Variables | None:
    """Parse the variables of a path, an object; without any, as None, each is null."""
    values = None if variables is None else parse(variables)
    if variables is not None and not isinstance(values, dict):
        raise ValueError(variables)
    return values


def _all(document: str, path: str, variables: str, silent: bool, zoned: bool) -> list[str]:
    return [dump(item) for item in _items(document, path, variables, silent, zoned)]


def _array(document: str, path: str, variables: str, silent: bool, zoned: bool) -> str:
    return dump(list(_items(document, path, variables, silent, zoned)))


def _first(document: str, path: str, variables: str, silent: bool, zoned: bool) -> str | None:
    found = _all(document, path, variables, silent, zoned)
    return found[0] if found else None


def _exists(
    document: str, path: str, variables: str | None, silent: bool, zoned: bool = False
) -> bool | None:
    """A lax path is followed to its first item, a strict one to its end."""
    found = items(parse_cached(path), parse(document), _values(variables), zoned)
    try:
        some = any(True for _ in found)
        if parse_cached(path).strict:
            list(found)
    except PathError:
        if silent:
            return None
        raise
    return some


def _match(
    document: str, path: str, variables: str | None, silent: bool, zoned: bool = False
) -> bool | None:
    """The item of a path that is a predicate."""
    found = list(_items(document, path, variables, silent, zoned))
    if len(found) == 1 and (found[0] is None or isinstance(found[0], bool)):
        return found[0]
    if silent:
        return None
    raise ValueError(path)


_TAKES = ("json", "text", "json", "bool", "bool")
SCRIPTS: dict[str, Script] = {
    "json_path_array": Script(_array, _TAKES),
    "json_path_exists": Script(_exists, _TAKES, nullable=True),
    "json_path_first": Script(_first, _TAKES, nullable=True),
    "json_path_items": Script(_all, _TAKES),
    "json_path_holds": Script(
        lambda document, path: _match(document, path, None, True), ("json", "text"), nullable=True
    ),
    "json_path_leads": Script(
        lambda document, path: _exists(document, path, None, True), ("json", "text"), nullable=True
    ),
    "json_path_match": Script(_match, _TAKES, nullable=True),
}
