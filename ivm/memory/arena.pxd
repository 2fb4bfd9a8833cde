# An arena holds the contents of strings, one after another in blocks that grow with the whole.

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

cdef enum:
    FIRST_BLOCK = 1 << 10      # bytes of the first block
    LAST_BLOCK = 1 << 18       # and at most, but for longer contents


# The contents lie behind this header.
cdef struct Block:
    Block* next


cdef struct Contents:
    Block* blocks        # the one that is being filled first
    char* room           # where the next content goes
    size_t left          # bytes until that block's end
    size_t held          # bytes of all blocks


# Lets contents go to a new block; -1 where memory is short, with nothing changed.
cdef inline int start_block(Contents* contents, size_t bytes) noexcept nogil:
    cdef Block* block = <Block*> malloc(sizeof(Block) + bytes)
    if block == NULL:
        return -1
    block.next = contents.blocks
    contents.blocks = block
    contents.room = <char*> (block + 1)
    contents.left = bytes
    contents.held += bytes
    return 0


# Room for a content of `n` bytes; NULL where memory is short.
cdef inline char* new_content(Contents* contents, uint32_t n) noexcept nogil:
    cdef size_t bytes
    if n > contents.left:
        bytes = min(max(contents.held // 2, <size_t> FIRST_BLOCK), <size_t> LAST_BLOCK)
        if start_block(contents, max(bytes, <size_t> n)) < 0:
            return NULL
    contents.room += n
    contents.left -= n
    return contents.room - n


cdef inline void free_contents(Contents* contents) noexcept nogil:
    cdef Block* block = contents.blocks
    cdef Block* next
    while block != NULL:
        next = block.next
        free(block)
        block = next
    contents.blocks = NULL
    contents.left = contents.held = 0
