class Hashed:
    """A base of frozen dataclasses whose hash by structure is computed once.

    A subclass says `__hash__ = Hashed.__hash__`, or it would be given another one.
    """

    def __hash__(self) -> int: ...
