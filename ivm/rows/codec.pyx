"""The codec encodes Arrow record batches as updates and decodes them, buffer to buffer, without the GIL."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

import numpy as np
import pyarrow as pa

from ivm.values import types
from ivm.errors import SchemaMismatch, Unsupported
from ivm.values.python_values import column_of

from ivm.rows.queue_writer cimport append_rows
from ivm.rows.arrow cimport ArrowArray, start_batch
from ivm.rows.column_writer cimport MOST_TEXT, write_bits, write_column
from ivm.rows.columns cimport Column, describe, describe_all
from ivm.rows.intervals cimport (
    INTERVAL_BYTES, Interval, pack_interval, unpack_interval,
)
from ivm.rows.layout cimport Layout, Slot
from ivm.rows.nested cimport Bytes, Element, append_element, element_of, read_element, read_elements, release_bytes
from ivm.rows.interner cimport Interner, Strings, view
from ivm.rows.updates cimport Updates, empty_updates, push, release


def plain(array, type_):
    """Drop a dictionary or wide offsets from `array`, if only these differ from `type_`."""
    given = array.type
    if pa.types.is_dictionary(given) and given.value_type == type_:
        return array.cast(type_)
    if pa.types.is_large_string(given) and pa.types.is_string(type_):
        return array.cast(type_)
    if pa.types.is_large_binary(given) and pa.types.is_binary(type_):
        return array.cast(type_)
    if pa.types.is_large_list(given) and pa.types.is_list(type_) and given.value_type == type_.value_type:
        return array.cast(type_)
    return array


def fitted(batch, schema):
    """Check that `batch` fits `schema` and give its arrays (raises SchemaMismatch)."""
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


cdef int encode(
    object batch, Layout layout, Interner interner, const uint64_t* times, uint64_t time,
    const int64_t* diffs, int64_t diff, Updates* out
) except -1:
    return encode_to_queues(batch, layout, interner, times, time, diffs, diff, &out, 1)


cdef int encode_to_queues(
    object batch, Layout layout, Interner interner, const uint64_t* times, uint64_t time,
    const int64_t* diffs, int64_t diff, Updates** queues, int count
) except -1:
    cdef Py_ssize_t n = batch.num_rows
    cdef ArrowArray exported
    cdef Column* columns = <Column*> calloc(layout.columns + 1, sizeof(Column))
    if columns == NULL:
        raise MemoryError
    exported.release = NULL
    arrays = None       # as long as the columns are read
    try:
        # What fits as it is, as most does, is read without a Python object for each column and buffer.
        if layout.direct and batch.schema.equals(layout.schema):
            batch._export_to_c(<uintptr_t> &exported)
        if exported.release == NULL or not describe_all(&exported, layout, columns):
            arrays = [packed(array, interner) for array in fitted(batch, layout.schema)]
            for c, array in enumerate(arrays):
                columns[c] = describe(array, &layout.slots[c])
        append_rows(columns, layout, interner, n, times, time, diffs, diff, queues, count)
    finally:
        free(columns)
        if exported.release != NULL:
            exported.release(&exported)
    return 0


cdef object decode(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, Layout layout, Interner interner
):
    cdef ArrowArray batch
    cdef int c
    start_batch(&batch, n, layout.columns)
    try:
        for c in range(layout.columns):
            if layout.slots[c].direct:
                write_column(words, n, stride, &layout.slots[c], interner, batch.children[c])
            else:
                unpacked(words, n, stride, c, layout, interner)._export_to_c(
                    <uintptr_t> batch.children[c])
        return pa.RecordBatch._import_from_c(<uintptr_t> &batch, layout.schema)
    finally:
        if batch.release != NULL:   # it was not handed over
            batch.release(&batch)


cdef object unpacked(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, int c, Layout layout, Interner interner
):
    """The array of column `c`, whose values are strings in rows and something else in Arrow."""
    cdef const Slot* slot = &layout.slots[c]
    cdef uintptr_t bits
    validity = None
    if slot.nullable:
        validity = pa.allocate_buffer((n + 7) // 8)
        bits = validity.address
        write_bits(words + slot.null_word, stride, n, slot.null_bit, True, <uint8_t*> bits)
    if layout.types[c] == types.INTERVAL:
        return unpack_intervals(words + slot.first, n, stride, validity, interner)
    if pa.types.is_struct(layout.types[c]):
        return unpack_structs(words + slot.first, n, stride, layout.types[c], validity, interner)
    return unpack_lists(words + slot.first, n, stride, layout.types[c], validity, interner)


def packed(array, Interner interner):
    """Pack an array of lists, structs or intervals as the strings that rows hold; others stay."""
    if pa.types.is_list(array.type):
        return pack_lists(array, interner)
    if pa.types.is_struct(array.type):
        return pack_structs(array, interner)
    return pack_intervals(array) if array.type == types.INTERVAL else array


def pack_intervals(array):
    """Pack an interval array as a binary array, as in `ivm.rows.intervals`; parts of a microsecond are cut off."""
    cdef Py_ssize_t n = len(array), i
    cdef const int32_t* given
    cdef int64_t nanos
    cdef Interval value
    buffers = array.buffers()
    cdef const char* values = <const char*> <uintptr_t> buffers[1].address + 16 * <Py_ssize_t> array.offset
    contents = pa.allocate_buffer(INTERVAL_BYTES * n)
    cdef char* target = <char*> <uintptr_t> contents.address
    for i in range(n):
        given = <const int32_t*> (values + 16 * i)
        memcpy(&nanos, given + 2, 8)
        value.months = given[0]
        value.days = given[1]
        value.micros = nanos // 1000
        pack_interval(value, target + INTERVAL_BYTES * i)
    ends = pa.py_buffer(np.arange(n + 1, dtype=np.int32) * INTERVAL_BYTES)
    validity = pa.array(array.is_valid().to_numpy(zero_copy_only=False)).buffers()[1]
    return pa.Array.from_buffers(pa.binary(), n, [validity, ends, contents])


cdef object unpack_intervals(const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, validity,
                             Interner interner):
    """The intervals of `n` words, with the bitmap `validity` or None."""
    values = pa.allocate_buffer(16 * n)
    cdef char* target = <char*> <uintptr_t> values.address
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, length
    cdef Interval value
    for i in range(n):
        data = view(interner.strings, words[i * stride], buffer, &length)
        value = unpack_interval(data, length)
        value.micros *= 1000
        memcpy(target + 16 * i, &value, 16)
    return pa.Array.from_buffers(types.INTERVAL, n, [validity, values])


cdef Layout element_layout(type_):
    """Lay out the elements of a list type."""
    return Layout(pa.schema([pa.field("element", type_.value_type)]))


def pack_lists(array, Interner interner):
    """Pack a list array as a binary array, as in `ivm.rows.nested`."""
    cdef Py_ssize_t n = len(array), i, j
    cdef Layout layout = element_layout(array.type)
    cdef Element element = element_of(array.type.value_type)
    cdef Updates rows = empty_updates(layout.words, 1)
    cdef Bytes content
    cdef const int32_t[::1] starts = array.offsets.to_numpy()
    cdef int32_t[::1] ends = np.zeros(n + 1, np.int32)
    cdef const uint8_t[::1] valid = array.is_valid().cast(pa.uint8()).to_numpy()
    cdef const uint64_t* row
    cdef const uint64_t* value
    cdef int failed = 0
    memset(&content, 0, sizeof(Bytes))
    try:
        values = pa.RecordBatch.from_arrays([array.values], schema=layout.schema)
        encode(values, layout, interner, NULL, 0, NULL, 1, &rows)
        for i in range(n):
            for j in range(starts[i], starts[i + 1] if valid[i] else starts[i]):
                row = rows.words + j * rows.stride
                value = row + 1
                if row[0]:
                    value = NULL
                failed |= append_element(&content, value, element, 1, interner.strings)
            ends[i + 1] = _end_of(&content)
        if failed:
            raise MemoryError("no memory to pack lists")
        return _contents(&content, ends, valid)
    finally:
        release(&rows)
        release_bytes(&content)


# Gives the offset of the next content (raises Unsupported beyond 2 GiB).
cdef int32_t _end_of(const Bytes* content) except -1:
    if content.length > MOST_TEXT:
        raise Unsupported(f"{content.length} bytes of lists or structs in one batch: at most 2 GiB fit")
    return <int32_t> content.length


cdef object _contents(const Bytes* content, ends, valid):
    """The binary array of contents that end there, NULL where they are not valid."""
    data = pa.py_buffer(content.data[:content.length])
    validity = pa.array(np.asarray(valid).astype(bool)).buffers()[1]
    return pa.Array.from_buffers(pa.binary(), len(valid), [validity, pa.py_buffer(ends), data])


cdef Layout struct_layout(type_):
    """Lay out the fields of a struct type, each of which may be NULL."""
    return Layout(pa.schema([pa.field(f.name, f.type) for f in type_]))


cdef vector[Element] elements_of(type_) except *:
    """Describe the words of a struct type's fields."""
    cdef vector[Element] elements
    for f in type_:
        elements.push_back(element_of(f.type))
    return elements


def pack_structs(array, Interner interner):
    """Pack a struct array as a binary array, as in `ivm.rows.nested`."""
    cdef Py_ssize_t n = len(array), i
    cdef Layout layout = struct_layout(array.type)
    cdef vector[Element] elements = elements_of(array.type)
    cdef Updates rows = empty_updates(layout.words, 1)
    cdef Bytes content
    cdef int32_t[::1] ends = np.zeros(n + 1, np.int32)
    cdef const uint8_t[::1] valid = array.is_valid().cast(pa.uint8()).to_numpy()
    cdef const uint64_t* row
    cdef const uint64_t* value
    cdef const Slot* slot
    cdef int c, failed = 0
    memset(&content, 0, sizeof(Bytes))
    try:
        fields = pa.RecordBatch.from_arrays(array.flatten(), schema=layout.schema)
        encode(fields, layout, interner, NULL, 0, NULL, 1, &rows)
        for i in range(n):
            row = rows.words + i * rows.stride
            for c in range(layout.columns if valid[i] else 0):
                slot = &layout.slots[c]
                value = row + slot.first
                if row[slot.null_word] >> slot.null_bit & 1:
                    value = NULL
                failed |= append_element(&content, value, elements[c], 1, interner.strings)
            ends[i + 1] = _end_of(&content)
        if failed:
            raise MemoryError("no memory to pack structs")
        return _contents(&content, ends, valid)
    finally:
        release(&rows)
        release_bytes(&content)


cdef object unpack_structs(const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, type_, validity,
                           Interner interner):
    """The structs of `n` words, with the bitmap `validity` or None."""
    cdef Layout layout = struct_layout(type_)
    cdef vector[Element] elements = elements_of(type_)
    cdef Updates rows = empty_updates(layout.words, 0)
    cdef Py_ssize_t i
    cdef int failed = 0
    try:
        with nogil:
            for i in range(n):
                failed |= _read_struct(words[i * stride], layout, elements.data(), interner.strings, &rows)
        if failed:
            raise MemoryError("no memory to read structs")
        fields = decode(rows.words, rows.length, rows.stride, layout, interner).columns
        return pa.Array.from_buffers(type_, n, [validity], children=fields)
    finally:
        release(&rows)


# Appends the fields of a struct, all NULL for a struct that is NULL; -1 where memory is short.
cdef int _read_struct(uint64_t word, Layout layout, const Element* elements, Strings* strings,
                      Updates* rows) noexcept nogil:
    cdef char buffer[8]
    cdef Py_ssize_t length
    cdef const char* data = view(strings, word, buffer, &length)
    cdef uint64_t* row = push(rows)
    cdef const Slot* slot
    cdef int c
    if row == NULL:
        return -1
    memset(row, 0, rows.stride * sizeof(uint64_t))
    for c in range(layout.columns):
        slot = &layout.slots[c]
        if length == 0:
            row[slot.null_word] |= <uint64_t> 1 << slot.null_bit
            continue
        data = read_element(data, elements[c], strings, row + slot.null_word, slot.null_bit, row + slot.first)
        if data == NULL:
            return -1
    return 0


cdef object unpack_lists(const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, type_, validity,
                         Interner interner):
    """The lists of `n` words, with the bitmap `validity` or None."""
    cdef Layout layout = element_layout(type_)
    cdef Element element = element_of(type_.value_type)
    cdef Updates rows = empty_updates(layout.words, 0)
    cdef int32_t[::1] ends = np.zeros(n + 1, np.int32)
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, length
    cdef int failed = 0
    try:
        with nogil:
            for i in range(n):
                data = view(interner.strings, words[i * stride], buffer, &length)
                failed |= read_elements(data, length, element, interner.strings, &rows)
                ends[i + 1] = <int32_t> rows.length
        if failed:
            raise MemoryError("no memory to read lists")
        if rows.length > 0x7FFFFFFF:
            raise Unsupported(f"{rows.length} elements of lists in one batch: at most 2^31 fit")
        values = decode(rows.words, rows.length, rows.stride, layout, interner).column(0)
        return pa.Array.from_buffers(type_, n, [validity, pa.py_buffer(ends)], children=[values])
    finally:
        release(&rows)


cdef int encode_key(object values, Layout layout, Interner interner, uint64_t* out) except -1:
    cdef Updates row = empty_updates(layout.words, 1)
    if len(values) != layout.columns:
        raise SchemaMismatch(f"{len(values)} values were given for {layout.columns} key columns")
    arrays = [column_of([value], field) for value, field in zip(values, layout.schema)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=layout.schema)
    try:
        encode(batch, layout, interner, NULL, 0, NULL, 1, &row)
        memcpy(out, row.words, layout.words * sizeof(uint64_t))
    finally:
        release(&row)
    return 0


def round_trip(batch, schema, Interner interner):
    """Encode `batch` as rows of `schema`, and decode them again."""
    cdef Layout layout = Layout(schema)
    cdef Updates updates = empty_updates(layout.words, 1)
    try:
        encode(batch, layout, interner, NULL, 0, NULL, 1, &updates)
        return decode(updates.words, updates.length, updates.stride, layout, interner)
    finally:
        release(&updates)


def words_of_rows(batch, schema, Interner interner, times, diffs):
    """List every update's words: the row's, then its time and diff."""
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
    """List the words of one row of Python values."""
    cdef Layout layout = Layout(schema)
    cdef uint64_t words[256]
    encode_key(values, layout, interner, words)
    return [words[i] for i in range(layout.words)]
