"""Arrow record batches to updates and back, straight from and to Arrow's buffers, without the GIL.

Rows are handled in blocks, so that a block's rows stay in the cache while its columns come and go.
"""

from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t,
)
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import pyarrow as pa

from ivm.errors import SchemaMismatch, Unsupported

from ivm.rows.layout cimport Layout, Slot
from ivm.rows.strings cimport NO_STRING, Interner, Strings, intern, view
from ivm.rows.updates cimport Updates, empty_updates, release, reserve
from ivm.rows.words cimport SIGN, decode_double, decode_signed, encode_double, encode_signed

cdef enum:
    BLOCK = 1024

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


def storage_of(type_):
    """How Arrow stores columns of a supported type."""
    if pa.types.is_boolean(type_):
        return BITS
    if pa.types.is_decimal(type_):
        return INT128
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return BYTES
    if pa.types.is_float32(type_):
        return FLOAT32
    if pa.types.is_float64(type_):
        return FLOAT64
    if pa.types.is_unsigned_integer(type_):
        return {8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}[type_.bit_width]
    return {8: INT8, 16: INT16, 32: INT32, 64: INT64}[type_.bit_width]


def plain(array, type_):
    """`array` without dictionary or wide offsets, where that is all that differs from `type_`."""
    given = array.type
    if pa.types.is_dictionary(given) and given.value_type == type_:
        return array.cast(type_)
    if pa.types.is_large_string(given) and pa.types.is_string(type_):
        return array.cast(type_)
    if pa.types.is_large_binary(given) and pa.types.is_binary(type_):
        return array.cast(type_)
    return array


def fitted(batch, schema):
    """The arrays of `batch`, which must fit `schema` (raises SchemaMismatch)."""
    if batch.num_columns != len(schema):
        raise SchemaMismatch(f"{batch.num_columns} columns were given; the schema has {len(schema)}")
    arrays = []
    for given, wanted, array in zip(batch.schema, schema, batch.columns):
        array = plain(array, wanted.type)
        if given.name != wanted.name:
            raise SchemaMismatch(f"column '{given.name}' was given where '{wanted.name}' belongs")
        if array.type != wanted.type:
            raise SchemaMismatch(f"column '{wanted.name}' is {wanted.type}, not {given.type}")
        if array.null_count and not wanted.nullable:
            raise SchemaMismatch(f"column '{wanted.name}' has a NULL but is declared NOT NULL")
        arrays.append(array)
    return arrays


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


cdef int read_bytes(
    const Column* column, Py_ssize_t start, uint64_t* words, Py_ssize_t stride, Py_ssize_t n,
    Strings* strings
) noexcept nogil:
    cdef const int32_t* offsets = <const int32_t*> column.values + start
    cdef Py_ssize_t i
    cdef uint64_t word
    for i in range(n):
        if column.validity != NULL and not is_set(column.validity, start + i):
            continue
        word = intern(strings, column.content + offsets[i], offsets[i + 1] - offsets[i])
        if word == NO_STRING:
            return -1
        words[i * stride] = word
    return 0


cdef int read_column(
    const Column* column, Py_ssize_t start, uint64_t* rows, Py_ssize_t stride, Py_ssize_t n,
    Strings* strings
) noexcept nogil:
    """Fills one column of `n` rows from row `start` of the batch on; -1 where memory is short."""
    cdef uint64_t* words = rows + column.slot.first
    cdef Py_ssize_t at = column.offset + start, i
    cdef Storage storage = column.storage
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
    elif read_bytes(column, at, words, stride, n, strings) < 0:
        return -1
    if column.validity != NULL:
        for i in range(n):
            if not is_set(column.validity, at + i):
                rows[i * stride] |= <uint64_t> 1 << column.index
                words[i * stride] = 0
                words[i * stride + column.slot.width - 1] = 0
    return 0


cdef int read_rows(
    const Column* columns, int count, bint has_mask, Py_ssize_t n, uint64_t* rows,
    Py_ssize_t stride, Strings* strings
) noexcept nogil:
    cdef Py_ssize_t start = 0, size, i
    cdef int c
    while start < n:
        size = n - start if n - start < BLOCK else BLOCK
        if has_mask:
            for i in range(size):
                rows[(start + i) * stride] = 0
        for c in range(count):
            if read_column(&columns[c], start, rows + start * stride, stride, size, strings) < 0:
                return -1
        start += size
    return 0


cdef int encode(
    object batch, Layout layout, Interner interner, const uint64_t* times, uint64_t time,
    const int64_t* diffs, int64_t diff, Updates* out
) except -1:
    cdef Py_ssize_t n = batch.num_rows, i
    cdef uint64_t* rows
    cdef int failed
    arrays = fitted(batch, layout.schema)
    cdef Column* columns = <Column*> calloc(layout.columns + 1, sizeof(Column))
    if columns == NULL or reserve(out, n) < 0:
        free(columns)
        raise MemoryError
    for c, array in enumerate(arrays):
        describe(array, &columns[c])
        columns[c].slot = &layout.slots[c]
        columns[c].index = c
    rows = out.words + out.length * out.stride
    with nogil:
        failed = read_rows(
            columns, layout.columns, layout.has_mask, n, rows, out.stride, interner.strings
        )
        for i in range(n):
            rows[i * out.stride + out.row_words] = time if times == NULL else times[i]
            rows[(i + 1) * out.stride - 1] = <uint64_t> (diff if diffs == NULL else diffs[i])
    free(columns)
    if failed:
        raise MemoryError
    out.length += n
    return 0


cdef int describe(object array, Column* column) except -1:
    """Fills in what `column` knows of an Arrow array; the array must outlive it."""
    buffers = array.buffers()
    column.storage = storage_of(array.type)
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
    """One bit for each row: bit `bit` of its word."""
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


cdef void write_fixed(
    Storage storage, const uint64_t* words, Py_ssize_t stride, Py_ssize_t n, void* values
) noexcept nogil:
    if storage == INT8:
        write_numbers(words, stride, n, <int8_t*> values)
    elif storage == INT16:
        write_numbers(words, stride, n, <int16_t*> values)
    elif storage == INT32:
        write_numbers(words, stride, n, <int32_t*> values)
    elif storage == INT64:
        write_numbers(words, stride, n, <int64_t*> values)
    elif storage == UINT8:
        write_numbers(words, stride, n, <uint8_t*> values)
    elif storage == UINT16:
        write_numbers(words, stride, n, <uint16_t*> values)
    elif storage == UINT32:
        write_numbers(words, stride, n, <uint32_t*> values)
    elif storage == UINT64:
        write_numbers(words, stride, n, <uint64_t*> values)
    elif storage == FLOAT32:
        write_numbers(words, stride, n, <float*> values)
    elif storage == FLOAT64:
        write_numbers(words, stride, n, <double*> values)
    else:
        write_bits(words, stride, n, 0, False, <uint8_t*> values)


cdef list strings_buffers(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, Interner interner
):
    """The offsets and the contents of a string column (raises Unsupported beyond 2 GiB)."""
    offsets = pa.allocate_buffer(4 * (n + 1))
    cdef int32_t* positions = <int32_t*> <uintptr_t> offsets.address
    cdef int64_t total
    cdef char* target
    with nogil:
        total = write_offsets(words, stride, n, interner.strings, positions)
    if total > 0x7FFFFFFF:
        raise Unsupported(f"{total} bytes of text in one batch: at most 2 GiB fit; ask for fewer rows")
    contents = pa.allocate_buffer(total)
    target = <char*> <uintptr_t> contents.address
    with nogil:
        write_contents(words, stride, n, interner.strings, target)
    return [offsets, contents]


cdef object decode(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, Layout layout, Interner interner
):
    cdef int c
    if layout.columns == 0:
        empty = pa.StructArray.from_buffers(pa.struct([]), n, [None])
        return pa.RecordBatch.from_struct_array(empty)
    columns = [decode_column(words, n, stride, c, layout, interner) for c in range(layout.columns)]
    return pa.RecordBatch.from_arrays(columns, schema=layout.schema)


cdef object decode_column(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, int c, Layout layout, Interner interner
):
    cdef const Slot* slot = &layout.slots[c]
    cdef const uint64_t* first = words + slot.first
    cdef const uint64_t* mask = words if slot.nullable else NULL
    cdef uintptr_t target
    type_ = layout.schema.field(c).type
    cdef Storage storage = storage_of(type_)
    validity = None
    if slot.nullable:
        validity = pa.allocate_buffer((n + 7) // 8)
        target = validity.address
        with nogil:
            write_bits(words, stride, n, c, True, <uint8_t*> target)
    if storage == BYTES:
        buffers = strings_buffers(first, n, stride, interner)
    else:
        values = pa.allocate_buffer((n * type_.bit_width + 7) // 8)
        target = values.address
        buffers = [values]
        with nogil:
            if storage == INT128:
                write_decimals(first, stride, n, mask, c, <uint64_t*> target)
            else:
                write_fixed(storage, first, stride, n, <void*> target)
    return pa.Array.from_buffers(type_, n, [validity, *buffers])


cdef int encode_key(object values, Layout layout, Interner interner, uint64_t* out) except -1:
    cdef Updates row = empty_updates(layout.words, 1)
    if len(values) != layout.columns:
        raise SchemaMismatch(f"{len(values)} values were given for {layout.columns} key columns")
    arrays = []
    for value, field in zip(values, layout.schema):
        try:
            if isinstance(value, float) and pa.types.is_integer(field.type):
                raise TypeError     # Arrow would cut its fraction off
            arrays.append(pa.array([value], field.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise SchemaMismatch(f"column '{field.name}' is {field.type}: {value!r} does not fit") from None
    batch = pa.RecordBatch.from_arrays(arrays, schema=layout.schema)
    try:
        encode(batch, layout, interner, NULL, 0, NULL, 1, &row)
        memcpy(out, row.words, layout.words * sizeof(uint64_t))
    finally:
        release(&row)
    return 0


def round_trip(batch, schema, Interner interner):
    """`batch` encoded as rows of `schema` and decoded again."""
    cdef Layout layout = Layout(schema)
    cdef Updates updates = empty_updates(layout.words, 1)
    try:
        encode(batch, layout, interner, NULL, 0, NULL, 1, &updates)
        return decode(updates.words, updates.length, updates.stride, layout, interner)
    finally:
        release(&updates)


def words_of_rows(batch, schema, Interner interner, times, diffs):
    """Every update's words, as lists: the row's, then its time and diff."""
    cdef Layout layout = Layout(schema)
    cdef Updates updates = empty_updates(layout.words, 1)
    cdef uintptr_t time_data = times.ctypes.data, diff_data = diffs.ctypes.data
    cdef Py_ssize_t i, j
    try:
        encode(
            batch, layout, interner, <const uint64_t*> time_data, 0, <const int64_t*> diff_data, 0,
            &updates,
        )
        return [
            [updates.words[i * updates.stride + j] for j in range(updates.stride)]
            for i in range(updates.length)
        ]
    finally:
        release(&updates)


def words_of_key(values, schema, Interner interner):
    """The words of one row of Python values."""
    cdef Layout layout = Layout(schema)
    cdef uint64_t words[256]
    encode_key(values, layout, interner, words)
    return [words[i] for i in range(layout.words)]
