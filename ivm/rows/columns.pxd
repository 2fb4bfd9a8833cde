# Arrow columns, and their encoding in words.

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)

from ivm.rows.arrow cimport ArrowArray
from ivm.rows.layout cimport Layout, Slot
from ivm.rows.interner cimport Strings

ctypedef fused number:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double


cdef struct Column:
    const Slot* slot
    Py_ssize_t offset         # the first row's position in the buffers
    const uint8_t* validity   # a bitmap, or NULL where nothing is NULL
    const char* values
    const char* content       # of BYTES


# The column of an Arrow array, which must outlive it.
cdef Column describe(object array, const Slot* slot)

# Describes the columns of an exported record batch, which must outlive them. False, and nothing may be
# used, if a column without NULLs may have one.
cdef bint describe_all(const ArrowArray* batch, Layout layout, Column* columns) noexcept

# Writes the rows from `start` to `end` of `count` columns to `rows`, `stride` words apart; -1 where memory
# is short. Several threads may read the same columns.
cdef int read_rows(
    const Column* columns, int count, Py_ssize_t start, Py_ssize_t end, uint64_t* rows,
    Py_ssize_t stride, Strings* strings
) noexcept nogil
