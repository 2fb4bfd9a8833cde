"""Column encoders read Arrow's buffers and write order-preserving words, without the GIL.

Rows are written in blocks, so that the rows of a block stay in the cache from column to column.
"""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t,
)

from ivm.rows.arrow cimport ArrowArray
from ivm.rows.layout cimport (
    BITS, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, INT128, UINT8, UINT16, UINT32, UINT64,
    UINT128,
    Layout, Slot, Storage,
)
from ivm.rows.interner cimport TOGETHER, Strings, intern_together
from ivm.rows.words cimport SIGN, encode_double, encode_signed

cdef extern from *:
    uint64_t byteswap "__builtin_bswap64"(uint64_t) noexcept nogil

cdef enum:
    BLOCK = 256     # rows of which one column is written after the other, within the first cache


cdef Column describe(object array, const Slot* slot):
    cdef Column column
    buffers = array.buffers()
    column.slot = slot
    column.offset = array.offset
    column.validity = NULL
    if buffers[0] is not None and array.null_count:
        column.validity = <const uint8_t*> <uintptr_t> buffers[0].address
    column.values = NULL
    if buffers[1] is not None:
        column.values = <const char*> <uintptr_t> buffers[1].address
    column.content = NULL
    if len(buffers) > 2 and buffers[2] is not None:
        column.content = <const char*> <uintptr_t> buffers[2].address
    return column


cdef bint describe_all(const ArrowArray* batch, Layout layout, Column* columns) noexcept:
    cdef const ArrowArray* array
    cdef int c
    for c in range(layout.columns):
        array = batch.children[c]
        columns[c].slot = &layout.slots[c]
        columns[c].offset = array.offset
        columns[c].validity = <const uint8_t*> array.buffers[0] if array.null_count != 0 else NULL
        columns[c].values = <const char*> array.buffers[1]
        columns[c].content = <const char*> array.buffers[2] if array.n_buffers > 2 else NULL
        if columns[c].validity != NULL and not layout.slots[c].nullable:
            return False
    return True


cdef inline bint is_set(const uint8_t* bitmap, Py_ssize_t i) noexcept nogil:
    return (bitmap[i >> 3] >> (i & 7)) & 1


cdef void read_numbers(
    const number* values, uint64_t* words, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if number is float or number is double:
            words[i * stride] = encode_double(values[i])
        elif number is uint8_t or number is uint16_t or number is uint32_t or number is uint64_t:
            words[i * stride] = values[i]
        else:
            words[i * stride] = encode_signed(values[i])


cdef void read_bits(
    const uint8_t* bits, Py_ssize_t offset, uint64_t* words, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i * stride] = is_set(bits, offset + i)


cdef void read_decimals(
    const uint64_t* values, uint64_t* words, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i * stride] = values[2 * i + 1] ^ SIGN
        words[i * stride + 1] = values[2 * i]


cdef void read_uuids(
    const uint64_t* values, uint64_t* words, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i * stride] = byteswap(values[2 * i])
        words[i * stride + 1] = byteswap(values[2 * i + 1])


cdef int read_bytes(
    const Column* column, Py_ssize_t start, uint64_t* words, Py_ssize_t stride, Py_ssize_t n,
    Strings* strings
) noexcept nogil:
    cdef const int32_t* offsets = <const int32_t*> column.values + start
    cdef const char* data[TOGETHER]
    cdef Py_ssize_t lengths[TOGETHER]
    cdef Py_ssize_t rows[TOGETHER]
    cdef uint64_t interned[TOGETHER]
    cdef Py_ssize_t i
    cdef int taken = 0, t
    for i in range(n):
        if column.validity == NULL or is_set(column.validity, start + i):
            data[taken] = column.content + offsets[i]
            lengths[taken] = offsets[i + 1] - offsets[i]
            rows[taken] = i
            taken += 1
        if taken == TOGETHER or i == n - 1:
            if intern_together(strings, data, lengths, taken, interned) < 0:
                return -1
            for t in range(taken):
                words[rows[t] * stride] = interned[t]
            taken = 0
    return 0


cdef int read_column(
    const Column* column, Py_ssize_t start, uint64_t* rows, Py_ssize_t stride, Py_ssize_t n,
    Strings* strings
) noexcept nogil:
    """Fills one column of `n` rows from row `start` of the batch on; -1 where memory is short."""
    cdef uint64_t* words = rows + column.slot.first
    cdef Py_ssize_t at = column.offset + start, i
    cdef Storage storage = column.slot.storage
    if storage == BITS:
        read_bits(<const uint8_t*> column.values, at, words, stride, n)
    elif storage == INT8:
        read_numbers(<const int8_t*> column.values + at, words, stride, n)
    elif storage == INT16:
        read_numbers(<const int16_t*> column.values + at, words, stride, n)
    elif storage == INT32:
        read_numbers(<const int32_t*> column.values + at, words, stride, n)
    elif storage == INT64:
        read_numbers(<const int64_t*> column.values + at, words, stride, n)
    elif storage == UINT8:
        read_numbers(<const uint8_t*> column.values + at, words, stride, n)
    elif storage == UINT16:
        read_numbers(<const uint16_t*> column.values + at, words, stride, n)
    elif storage == UINT32:
        read_numbers(<const uint32_t*> column.values + at, words, stride, n)
    elif storage == UINT64:
        read_numbers(<const uint64_t*> column.values + at, words, stride, n)
    elif storage == FLOAT32:
        read_numbers(<const float*> column.values + at, words, stride, n)
    elif storage == FLOAT64:
        read_numbers(<const double*> column.values + at, words, stride, n)
    elif storage == INT128:
        read_decimals(<const uint64_t*> column.values + 2 * at, words, stride, n)
    elif storage == UINT128:
        read_uuids(<const uint64_t*> column.values + 2 * at, words, stride, n)
    elif read_bytes(column, at, words, stride, n, strings) < 0:
        return -1
    if column.validity != NULL:
        for i in range(n):
            if not is_set(column.validity, at + i):
                rows[i * stride + column.slot.null_word] |= <uint64_t> 1 << column.slot.null_bit
                words[i * stride] = 0
                words[i * stride + column.slot.width - 1] = 0
    return 0


cdef int read_rows(
    const Column* columns, int count, Py_ssize_t start, Py_ssize_t end, uint64_t* rows,
    Py_ssize_t stride, Strings* strings
) noexcept nogil:
    cdef Py_ssize_t size, i
    cdef int c
    while start < end:
        size = end - start if end - start < BLOCK else BLOCK
        for c in range(count):
            if columns[c].slot.opens:
                for i in range(size):
                    rows[i * stride + columns[c].slot.null_word] = 0
            if read_column(&columns[c], start, rows, stride, size, strings) < 0:
                return -1
        rows += size * stride
        start += size
    return 0
