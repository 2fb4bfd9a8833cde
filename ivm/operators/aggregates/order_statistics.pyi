from collections.abc import Iterable

from ivm.operators.aggregates.ordering import Ordering

class Ranking:
    """Values in the order of `ordering`, each with a count that is not zero."""

    def __init__(self, ordering: Ordering) -> None: ...
    @property
    def length(self) -> int: ...
    def account(self) -> tuple[int, int]:
        """Values held and bytes of memory; it may be called beside a step."""

def ranked(
    ordering: Ordering, filled: int, changes: Iterable[tuple[tuple[int, ...], int]], wanted: int
) -> list[tuple[tuple[int, ...], int]]:
    """The first `wanted` copies after `changes` (value words and diff), as (value, count).

    The first `filled` changes, whose values are distinct, are filled in and the others are added.
    """

def positioned(
    ordering: Ordering, filled: int, changes: Iterable[tuple[tuple[int, ...], int]]
) -> list[tuple[int, ...]]:
    """The value of every copy by its position, after `changes` as of `ranked`."""
