"""Key hashes are equal in every process: column by column, NULL as a value, strings by content."""

from libc.stdint cimport uint64_t

from ivm.rows.layout cimport STRING, Layout, Slot
from ivm.rows.interner cimport Interner, content_hash

cdef uint64_t NULL_HASH = 0xD6E8FEB86659FD93u


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


# True if a column's hash is that of one word.
cdef inline bint is_plain(const Slot* slot) noexcept nogil:
    return slot.width == 1 and not slot.nullable and slot.kind != STRING


cdef class Partitioner:
    """A partitioner gives the shard that owns a row of `layout`, by its columns `key` in order."""

    def __init__(self, Layout layout, key, Interner interner):
        cdef const Slot* slot
        self.layout = layout
        self.interner = interner
        for column in key:
            self.key.push_back(column)
        self.plain = -1
        if self.key.size() == 1:
            slot = &layout.slots[self.key[0]]
            self.plain = slot.first if is_plain(slot) else -1

    cdef void hash_rows(self, const uint64_t* rows, Py_ssize_t n, Py_ssize_t stride,
                        uint64_t* hashes) noexcept nogil:
        cdef const uint64_t* words
        cdef const Slot* slot
        cdef Py_ssize_t i
        cdef int column
        if self.plain >= 0:
            words = rows + self.plain
            for i in range(n):
                hashes[i] = hash_word(words[i * stride])
            return
        for i in range(n):
            hashes[i] = SEED
        for column in self.key:
            slot = &self.layout.slots[column]
            if is_plain(slot):
                words = rows + slot.first   # as most: one multiplication need not wait for another
                for i in range(n):
                    hashes[i] = fold(hashes[i] ^ words[i * stride], FACTOR)
            else:
                for i in range(n):
                    hashes[i] = add_column(hashes[i], rows + i * stride, column, self.layout,
                                           self.interner)
        for i in range(n):
            hashes[i] = fold(hashes[i], SEED)


cdef uint64_t hash_prefix(
    const uint64_t* row, int n, Layout layout, Interner interner
) noexcept nogil:
    cdef uint64_t h = SEED
    cdef int i
    for i in range(n):
        h = add_column(h, row, i, layout, interner)
    return fold(h, SEED)
