# The C data interface of Arrow, as its specification has it.

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
    void (*release)(ArrowArray*) noexcept
    void* private_data
