from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.rows.interner import Interner

MOVES_TOGETHER: bool
"""Whether the kernel lets a block be made of the pages of several."""

def share_work(do: Callable[[int], object], parts: int, threads: int) -> None:
    """Call `do` with each number below `parts`, by several threads."""

class Chore:
    """A chore lets helpers call `do`, which must not raise, with each number below `parts`."""

    def __init__(self, do: Callable[[int], object], parts: int, threads: int) -> None: ...
    def end(self) -> None:
        """Do the parts that no helper has begun, and wait for the rest: once."""

class Block:
    """A block with room for so many bytes, given back by `close`, or when nothing refers to it."""

    def __init__(self, bytes: int) -> None: ...
    @property
    def bytes(self) -> int: ...
    def view(self) -> NDArray[np.uint8]:
        """The bytes of the block, shape (bytes,), not to be used once it is closed or grows."""

    def grow(self, bytes: int) -> None:
        """Make room for so many bytes."""

    def close(self) -> None:
        """Give the block back."""

def hash_of(
    values: Sequence[object], schema: pa.Schema, key: Sequence[int], interner: Interner
) -> int:
    """Hash the columns at positions `key` of one row of Python values."""

def hash_of_first(values: Sequence[object], schema: pa.Schema, n: int, interner: Interner) -> int:
    """Hash the first `n` columns of one row of Python values."""

def content_of(interner: Interner, word: int) -> bytes:
    """Give the content of a word."""

def order_of(interner: Interner, a: int, b: int) -> int:
    """Compare contents: negative, zero or positive, as a is below, equal to or above b."""

def order_prefix_of(interner: Interner, word: int) -> int:
    """Give the prefix word that orders the content of `word` among all that have another prefix."""

def content_hash_of(interner: Interner, word: int) -> int:
    """Hash a word's content."""

def keep_only(interner: Interner, words: Iterable[int]) -> None:
    """Release every string but those of `words` and those pinned."""
