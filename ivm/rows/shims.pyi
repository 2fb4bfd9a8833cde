import numpy as np
from numpy.typing import NDArray

MOVES_TOGETHER: bool
"""Whether the kernel lets a block be made of the pages of several."""

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
