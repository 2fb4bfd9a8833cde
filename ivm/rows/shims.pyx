"""Python's face of blocks of memory, which the engine takes without the GIL: for tests."""

from libc.stdint cimport uint8_t

import numpy as np

from ivm.rows.blocks cimport give_block, grow_block, moves_together, take_block, whole_pages

MOVES_TOGETHER = moves_together


cdef class Block:
    """A block with room for so many bytes, given back by `close`, or when nothing refers to it."""

    cdef void* start
    cdef readonly size_t bytes

    def __cinit__(self, size_t bytes):
        self.bytes = whole_pages(bytes)
        self.start = take_block(self.bytes)
        if self.start == NULL:
            raise MemoryError("no memory for a block")

    def __dealloc__(self):
        self.close()

    def view(self):
        """The bytes of the block, shape (bytes,) of uint8, to be dropped before it is closed or grows."""
        return np.asarray(<uint8_t[:self.bytes]> <uint8_t*> self.start)

    def grow(self, size_t bytes):
        """Make room for so many bytes."""
        cdef void* grown = grow_block(self.start, self.bytes, whole_pages(bytes))
        if grown == NULL:
            raise MemoryError("no memory for a block")
        self.start = grown
        self.bytes = whole_pages(bytes)

    def close(self):
        """Give the block back."""
        if self.start != NULL:
            give_block(self.start, self.bytes)
        self.start = NULL
