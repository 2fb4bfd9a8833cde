"""Counts of what was published, for whoever watches a sink."""

from dataclasses import dataclass


@dataclass(slots=True)
class Transactions:
    """Counts of a connection's transactions, and the seconds that writing them took."""

    committed: int = 0
    given_up: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Sent:
    """The messages published of a view, their bytes, and the bytes of the deltas that wait."""

    messages: int
    bytes: int
    waiting: int
