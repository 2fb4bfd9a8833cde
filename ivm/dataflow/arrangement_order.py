"""The column order of arrangements: the key's columns first, then the others, ascending.

A collection of three columns (a, b, c) arranged by c is stored as (c | a, b): its order is
(2, 0, 1), and its columns 0, 1 and 2 are found at 1, 2 and 0.
"""


def arrangement_order(width: int, key: tuple[int, ...]) -> tuple[int, ...]:
    """The columns of a collection of `width` columns, in the order that its arrangement has."""
    return (*key, *(i for i in range(width) if i not in key))


def arranged_positions(width: int, key: tuple[int, ...]) -> dict[int, int]:
    """Where an arrangement has each column of its collection: the inverse of its order."""
    return {column: i for i, column in enumerate(arrangement_order(width, key))}
