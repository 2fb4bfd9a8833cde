"""The schemas of writers, and the names under which a registry has them."""

from typing import Literal, NamedTuple, Protocol


class SchemaId(NamedTuple):
    """A schema as a record names it."""

    kind: Literal["id", "long", "global", "content", "guid"]
    value: str

    def __str__(self) -> str:
        return f"{_KINDS[self.kind]} {self.value}"


_KINDS = {
    "id": "id",
    "long": "id",
    "global": "global id",
    "content": "content id",
    "guid": "GUID",
}


class SchemaText(NamedTuple):
    """A schema as it was registered; `name` is that by which others refer to it."""

    text: str
    name: str = ""


class Schemas(Protocol):
    """Finds the schemas of writers by the names that records give them."""

    def texts(self, name: SchemaId) -> tuple[SchemaText, ...] | None:
        """The schema so named after those that it refers to; None if there is none.

        Raises RegistryUnavailable.
        """
