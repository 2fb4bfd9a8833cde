def pack(priority: int, round: int) -> int:
    """The word for (priority, round): words compare as these pairs do, lexicographically."""

def unpack(coordinate: int) -> tuple[int, int]:
    """The (priority, round) of a word that `pack` made."""
