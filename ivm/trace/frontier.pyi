from collections.abc import Iterable, Iterator, Sequence

class Antichain:
    """The minimal elements among `times`, each a tuple of `time_words` coordinates (1 to 8)."""

    def __init__(self, time_words: int, times: Iterable[Sequence[int]] = ()) -> None: ...
    @property
    def time_words(self) -> int: ...
    def insert(self, time: Sequence[int]) -> bool:
        """Add a time; False, and nothing changes, if an element is at or before it."""

    def less_equal(self, time: Sequence[int]) -> bool:
        """True if `time` is at or after some element."""

    def meet(self, other: Antichain) -> Antichain:
        """The frontier of the times that either frontier stands for: their greatest lower bound."""

    def join(self, other: Antichain) -> Antichain:
        """The frontier of the times that both frontiers stand for: their least upper bound."""

    def advance(self, time: Sequence[int]) -> tuple[int, ...] | None:
        """The representative of the times indistinguishable from `time` as of this frontier."""

    def __iter__(self) -> Iterator[tuple[int, ...]]: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]
