from collections.abc import Iterable

def parts_taken(slices: int, parts: int, takers: Iterable[int]) -> list[int | None]:
    """List the part that each of `takers`, numbers of slices, takes in turn: for tests."""
