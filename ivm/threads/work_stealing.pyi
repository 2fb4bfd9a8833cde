from collections.abc import Iterable

def parts_taken(slices: int, parts: int, takers: Iterable[int]) -> list[int | None]:
    """Which part each of `takers`, numbers of slices of `parts` parts, takes in turn: for tests."""
