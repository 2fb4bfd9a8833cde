"""Python's view of times: the lexicographic coordinate of prioritised loops.

The engine's own functions on times are inline, in `times.pxd`.
"""


def pack(priority, round) -> int:
    """The word for (priority, round): words compare as these pairs do, lexicographically.

    Raises OverflowError for a half that is negative or does not fit 32 bits.
    """
    return pack_coordinate(priority, round)


def unpack(coordinate) -> tuple[int, int]:
    """The (priority, round) of a word that `pack` made."""
    return priority_of(coordinate), round_of(coordinate)
