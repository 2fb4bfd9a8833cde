# Arrow columns, and how their values become words.

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)

from ivm.rows.layout cimport Slot
from ivm.rows.strings cimport Strings

# How Arrow stores a column.
cdef enum Storage:
    BITS
    INT8
    INT16
    INT32
    INT64
    UINT8
    UINT16
    UINT32
    UINT64
    FLOAT32
    FLOAT64
    INT128
    UINT128    # 16 bytes, big-endian
    BYTES

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
    Storage storage
    const Slot* slot
    int index
    Py_ssize_t offset         # the first row's position in the buffers
    const uint8_t* validity   # a bitmap, or NULL where nothing is NULL
    const char* values
    const char* content       # of BYTES


# Fills in what `column` knows of an Arrow array; the array must outlive it.
cdef int describe(object array, Column* column) except -1

# Writes `n` rows of `count` columns, `stride` words apart; -1 where memory is short.
cdef int read_rows(
    const Column* columns, int count, bint has_mask, Py_ssize_t n, uint64_t* rows,
    Py_ssize_t stride, Strings* strings
) noexcept nogil
