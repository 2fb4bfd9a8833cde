"""Stable hashes of keys: column by column, NULL as a value of its own, strings by content."""

from libc.stdint cimport uint64_t

from ivm.rows.codec cimport encode_key
from ivm.rows.layout cimport STRING, Layout, Slot
from ivm.rows.strings cimport Interner, content_hash

cdef extern from *:
    """
    static inline uint64_t ivm_fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128) a * b;
        return (uint64_t) product ^ (uint64_t) (product >> 64);
    }
    """
    uint64_t fold "ivm_fold"(uint64_t a, uint64_t b) noexcept nogil

cdef uint64_t SEED = 0x2545F4914F6CDD1Du
cdef uint64_t NULL_HASH = 0xD6E8FEB86659FD93u
cdef uint64_t FACTOR = 0xE7037ED1A0B428DBu


cdef inline uint64_t add_column(
    uint64_t h, const uint64_t* row, int column, Layout layout, Interner interner
) noexcept nogil:
    cdef const Slot* slot = &layout.slots[column]
    cdef int i
    if slot.nullable and (row[slot.null_word] >> slot.null_bit) & 1:
        return fold(h ^ NULL_HASH, FACTOR)
    if slot.kind == STRING:
        return fold(h ^ content_hash(interner.strings, row[slot.first]), FACTOR)
    for i in range(slot.width):
        h = fold(h ^ row[slot.first + i], FACTOR)
    return h


cdef uint64_t hash_key(
    const uint64_t* row, const int* key, int n, Layout layout, Interner interner
) noexcept nogil:
    cdef uint64_t h = SEED
    cdef int i
    for i in range(n):
        h = add_column(h, row, key[i], layout, interner)
    return fold(h, SEED)


cdef uint64_t hash_prefix(
    const uint64_t* row, int n, Layout layout, Interner interner
) noexcept nogil:
    cdef uint64_t h = SEED
    cdef int i
    for i in range(n):
        h = add_column(h, row, i, layout, interner)
    return fold(h, SEED)


def hash_of(values, schema, key, Interner interner):
    """The hash of the columns at positions `key` of one row of Python values."""
    cdef Layout layout = Layout(schema)
    cdef uint64_t row[256]
    cdef int columns[64]
    for i, column in enumerate(key):
        columns[i] = column
    encode_key(values, layout, interner, row)
    return hash_key(row, columns, len(key), layout, interner)


def hash_of_first(values, schema, int n, Interner interner):
    """The hash of the first `n` columns of one row of Python values."""
    cdef Layout layout = Layout(schema)
    cdef uint64_t row[256]
    encode_key(values, layout, interner, row)
    return hash_prefix(row, n, layout, interner)
