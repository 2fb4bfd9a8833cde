"""Maps of named parts, of which a declaration chooses one."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar


class Named(Protocol):
    """A part with the name by which declarations choose it."""

    name: str


T = TypeVar("T", bound=Named)


def by_name(*parts: T) -> Mapping[str, T]:
    """The parts by their names, in this order."""
    found = {part.name: part for part in parts}
    assert len(found) == len(parts), "a name has one part"
    return MappingProxyType(found)
