# Arrow export by the C data interface: its structs, and functions that fill them.

from libc.stdint cimport int64_t


cdef struct ArrowArray:
    int64_t length
    int64_t null_count          # -1: not counted
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void** buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept nogil
    void* private_data


# Makes `batch` a struct of `columns` arrays, each of which is still to be made. Raises MemoryError.
cdef int start_batch(ArrowArray* batch, int64_t rows, int64_t columns) except -1

# Makes `column` an array of `buffers` buffers, which are NULL so far. Raises MemoryError.
cdef int start_column(ArrowArray* column, int64_t rows, int64_t buffers) except -1

# Gives a column's buffer `which` so many bytes, undefined so far, which go with it; NULL where memory
# is short.
cdef void* add_buffer(ArrowArray* column, int64_t which, size_t bytes) noexcept nogil
