# A pool of huge pages keeps large blocks that were given back for the next taker.

cdef enum:
    PAGE = 4096
    HUGE_PAGE = 2 << 20
    LARGE = 1 << 20     # bytes from which on memory is to be a block


# The bytes of a block that has room for so many.
cdef inline size_t whole_pages(size_t bytes) noexcept nogil:
    return (bytes + HUGE_PAGE - 1) // HUGE_PAGE * HUGE_PAGE


# A block of `bytes`, a multiple of HUGE_PAGE, with undefined contents; NULL where memory is short.
cdef void* take_block(size_t bytes) noexcept nogil

# A larger block that begins as `block` does, which is no longer one; NULL where memory is short, and then
# it still is.
cdef void* grow_block(void* block, size_t bytes, size_t wanted) noexcept nogil

# Gives back a block, or the last pages of one.
cdef void give_block(void* block, size_t bytes) noexcept nogil

# Gives what waits to the kernel, if nobody has needed it for long.
cdef void give_needless_back() noexcept nogil

# Says that the pages wholly within these bytes of a block are not needed while it is in use.
cdef void forget_pages(void* start, size_t bytes) noexcept nogil

# True if a block that no kept span can hold is made of the pages of several.
cdef bint moves_together
