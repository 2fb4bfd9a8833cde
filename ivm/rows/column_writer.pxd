# The column writer fills the buffers of Arrow's columns with the words of rows.
#
# The word of a column in row i is at words[i * stride], of n rows.

from libc.stdint cimport uint8_t, uint64_t

from ivm.rows.arrow cimport ArrowArray
from ivm.rows.interner cimport Interner
from ivm.rows.layout cimport Slot

cdef enum:
    MOST_TEXT = 0x7FFFFFFF      # bytes of a column, whose offsets are signed numbers of 32 bits

# Makes `column` one of values that Arrow has as they are. Raises Unsupported for more text than MOST_TEXT, MemoryError.
cdef int write_column(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, const Slot* slot, Interner interner,
    ArrowArray* column
) except -1

# Writes one bit for each row: bit `bit` of its word.
cdef void write_bits(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, int bit, bint inverted, uint8_t* bits
) noexcept nogil
