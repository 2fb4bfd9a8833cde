"""Cells: columns of Arrow, and what does not change from row to row, as they are written."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.string cimport string


cdef enum Form:
    CONSTANT
    VERBATIM  # bytes as they are
    SIGN  # of an integer: + or -
    # JSON
    INTEGER
    NATURAL  # of 64 bits
    TRUTH
    TEXT
    DECIMAL
    DATE
    TIME
    NAIVE
    ZONED
    # Avro
    VARINT
    VARBYTES  # after their length
    FIXED  # as the processor has it, which begins with the least
    BIT
    WIDE  # 16 bytes, which begin with the most, after their length


cdef class Cells:
    cdef Form form
    cdef object held  # owns what the pointers point into
    cdef const uint8_t* valid  # NULL: all are
    cdef const int32_t* ends  # of texts and bytes, one of both
    cdef const int64_t* wide_ends
    cdef const char* data
    cdef Py_ssize_t offset  # of the first row
    cdef Py_ssize_t length
    cdef int width  # bytes of a value, where all have as many
    cdef int scale
    cdef string constant
    cdef string before  # a value, if it is one
    cdef string absent  # in place of a value

    cdef int write(self, string* into, Py_ssize_t row) except -1 nogil
