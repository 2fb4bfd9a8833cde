"""Definition: a view as it is declared, before it is compiled."""

from collections.abc import Sequence
from dataclasses import dataclass

from connectors.sinks.target import KafkaTarget


@dataclass(frozen=True, slots=True)
class Definition:
    """A view as it is declared: its `query` in a `language`, and what is said of it besides.

    None is what is not said. A new view then is looked up by columns that are known to be unique,
    goes to its file topic alone, and keeps its rows; a replacement leaves sink and lookups as they
    are.
    """

    name: str
    query: str
    language: str = "sql"
    key: Sequence[str] | None = None
    target: KafkaTarget | None = None
    lookups: bool | None = None

    @property
    def keeps_rows(self) -> bool:
        """Whether the rows of a new view are kept."""
        return self.lookups is not False
