"""The column order of arrangements: the key's columns first, then the others, ascending.

A collection of three columns (a, b, c) arranged by c is stored as (c | a, b): its order is
(2, 0, 1), and its columns 0, 1 and 2 are found at 1, 2 and 0.
"""


def arrangement_order(width: int, key: tuple[int, ...]) -> tuple[int, ...]:
    """List a collection's columns in the order of its arrangement by `key`.

    >>> arrangement_order(3, (2,))
    (2, 0, 1)
    """
    return (*key, *(i for i in range(width) if i not in key))


def arranged_positions(width: int, key: tuple[int, ...]) -> dict[int, int]:
    """Map each column of a collection to its position in the arrangement: the inverse order.

    >>> arranged_positions(3, (2,))
    {2: 0, 0: 1, 1: 2}
    """
    return {column: i for i, column in enumerate(arrangement_order(width, key))}
