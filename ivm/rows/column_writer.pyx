"""The column writer fills the buffers of Arrow's columns with the words of rows, without the GIL."""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memcpy

from ivm.errors import Unsupported

from ivm.rows.arrow cimport ArrowArray, add_buffer, start_column
from ivm.rows.columns cimport number
from ivm.rows.interner cimport Interner, Strings, view
from ivm.rows.layout cimport (
    BITS, BYTES, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, INT128, UINT8, UINT16, UINT32, UINT64,
    UINT128,
    Slot, Storage,
)
from ivm.rows.words cimport SIGN, decode_double, decode_signed

cdef extern from *:
    uint64_t byteswap "__builtin_bswap64"(uint64_t) noexcept nogil


cdef int write_column(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, const Slot* slot, Interner interner,
    ArrowArray* column
) except -1:
    cdef int failed
    cdef int64_t text = 0
    start_column(column, n, 3 if slot.storage == BYTES else 2)
    with nogil:
        failed = write_validity(slot, words, stride, n, column)
        if slot.storage == BYTES:
            failed |= write_text(words + slot.first, stride, n, interner.strings, column, &text)
        else:
            failed |= write_values(slot, words, stride, n, column)
    if text > MOST_TEXT:
        raise Unsupported(f"{text} bytes of text in one batch: at most 2 GiB fit; ask for fewer rows")
    if failed != 0:
        raise MemoryError("no memory for a column")
    return 0


# These three return -1 where memory is short.
cdef int write_validity(
    const Slot* slot, const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, ArrowArray* column
) noexcept nogil:
    cdef uint8_t* bits
    if not slot.nullable:
        return 0
    column.null_count = -1
    bits = <uint8_t*> add_buffer(column, 0, (n + 7) // 8)
    if bits == NULL:
        return -1
    write_bits(words + slot.null_word, stride, n, slot.null_bit, True, bits)
    return 0


# Writes no contents if there are more than MOST_TEXT bytes.
cdef int write_text(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, const Strings* strings,
    ArrowArray* column, int64_t* text
) noexcept nogil:
    cdef int32_t* offsets = <int32_t*> add_buffer(column, 1, sizeof(int32_t) * (n + 1))
    cdef char* contents
    if offsets == NULL:
        return -1
    text[0] = write_offsets(words, stride, n, strings, offsets)
    if text[0] > MOST_TEXT:
        return 0
    contents = <char*> add_buffer(column, 2, text[0])
    if contents == NULL:
        return -1
    write_contents(words, stride, n, strings, contents)
    return 0


cdef int write_values(
    const Slot* slot, const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, ArrowArray* column
) noexcept nogil:
    cdef const uint64_t* first = words + slot.first
    cdef const uint64_t* mask = words + slot.null_word if slot.nullable else NULL
    cdef Storage storage = slot.storage
    cdef void* values = add_buffer(column, 1, (n * value_bits(storage) + 7) // 8)
    if values == NULL:
        return -1
    if storage == INT8:
        write_numbers(first, stride, n, <int8_t*> values)
    elif storage == INT16:
        write_numbers(first, stride, n, <int16_t*> values)
    elif storage == INT32:
        write_numbers(first, stride, n, <int32_t*> values)
    elif storage == INT64:
        write_numbers(first, stride, n, <int64_t*> values)
    elif storage == UINT8:
        write_numbers(first, stride, n, <uint8_t*> values)
    elif storage == UINT16:
        write_numbers(first, stride, n, <uint16_t*> values)
    elif storage == UINT32:
        write_numbers(first, stride, n, <uint32_t*> values)
    elif storage == UINT64:
        write_numbers(first, stride, n, <uint64_t*> values)
    elif storage == FLOAT32:
        write_numbers(first, stride, n, <float*> values)
    elif storage == FLOAT64:
        write_numbers(first, stride, n, <double*> values)
    elif storage == INT128:
        write_decimals(first, stride, n, mask, slot.null_bit, <uint64_t*> values)
    elif storage == UINT128:
        write_uuids(first, stride, n, <uint64_t*> values)
    else:
        write_bits(first, stride, n, 0, False, <uint8_t*> values)
    return 0


cdef void write_numbers(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, number* values
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if number is float or number is double:
            values[i] = <number> decode_double(words[i * stride])
        elif number is uint8_t or number is uint16_t or number is uint32_t or number is uint64_t:
            values[i] = <number> words[i * stride]
        else:
            values[i] = <number> decode_signed(words[i * stride])


cdef void write_bits(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, int bit, bint inverted, uint8_t* bits
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if i & 7 == 0:
            bits[i >> 3] = 0
        bits[i >> 3] |= (((words[i * stride] >> bit) & 1) ^ inverted) << (i & 7)


cdef void write_decimals(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, const uint64_t* mask, int bit,
    uint64_t* values
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        values[2 * i] = words[i * stride + 1]
        values[2 * i + 1] = words[i * stride] ^ SIGN
        if mask != NULL and (mask[i * stride] >> bit) & 1:
            values[2 * i + 1] = 0


cdef void write_uuids(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, uint64_t* values
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        values[2 * i] = byteswap(words[i * stride])
        values[2 * i + 1] = byteswap(words[i * stride + 1])


cdef int64_t write_offsets(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, const Strings* strings, int32_t* offsets
) noexcept nogil:
    """Offsets of the contents, one after another, and the bytes that they take."""
    cdef char buffer[8]
    cdef Py_ssize_t i, length
    cdef int64_t total = 0
    for i in range(n):
        offsets[i] = <int32_t> total
        view(strings, words[i * stride], buffer, &length)
        total += length
    offsets[n] = <int32_t> total
    return total


cdef void write_contents(
    const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, const Strings* strings, char* content
) noexcept nogil:
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, length
    for i in range(n):
        data = view(strings, words[i * stride], buffer, &length)
        memcpy(content, data, length)
        content += length


cdef inline Py_ssize_t value_bits(Storage storage) noexcept nogil:
    if storage == BITS:
        return 1
    if storage == INT8 or storage == UINT8:
        return 8
    if storage == INT16 or storage == UINT16:
        return 16
    if storage == INT32 or storage == UINT32 or storage == FLOAT32:
        return 32
    return 128 if storage == INT128 or storage == UINT128 else 64
