"""Collecting aggregates: all values of a group become one value, a list or a text."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset
from libcpp.vector cimport vector

from ivm.operators.aggregates.cell cimport cell_of, is_null, read_cell
from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.rows.nested cimport Bytes, release_bytes
from ivm.rows.interner cimport NO_STRING, Interner
from ivm.rows.updates cimport Updates, push

cdef enum:
    MAX_BYTES = 1 << 30     # of a value, as in PostgreSQL


cdef class Gathering(Logic):
    """Collects column `column` of values in `source`, the ordered format of `ordering`.

    Only rows where the boolean column `where` is true count (-1: all). `target` is the output's
    ordered format of one column, and `too_long` the word of the error's message.
    """

    def __init__(self, Ordering ordering, source, int column, int where, target,
                 uint64_t too_long, Interner interner):
        self.ordering = ordering
        self.value = cell_of(source.places[column])
        self.conditional = where >= 0
        if self.conditional:
            self.where = cell_of(source.places[where])
        self.out = target.places[0].word + 1
        self.out_null = target.places[0].null_word + 1 if target.places[0].null_word >= 0 else -1
        self.out_words = target.words + 1
        self.too_long = too_long
        self.interner = interner

    def __dealloc__(self):
        release_bytes(&self.bytes)

    cdef int gather(self, const uint64_t* words, int64_t copies) noexcept nogil:
        return -1

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef uint64_t* update
        cdef uint64_t word
        if group.empty():
            return 0
        self.ordering.sort(group)
        word = self.gathered(group)
        update = push(result)
        if update == NULL or word == NO_STRING:
            with gil:
                raise MemoryError("no memory to gather a group's values")
        memset(update, 0, self.out_words * sizeof(uint64_t))
        if word == self.too_long:
            update[0] = word
        elif self.members == 0 and self.out_null >= 0:
            update[self.out_null] = 1
        else:
            update[self.out] = word
        update[result.stride - 1] = 1
        return 0

    # Returns the word of all values together, or that of the error; NO_STRING where memory is short.
    cdef uint64_t gathered(self, const vector[Candidate]* group) noexcept nogil:
        cdef uint64_t words[2]
        cdef const uint64_t* val
        cdef const uint64_t* value
        cdef int64_t copies
        cdef size_t i, before
        self.bytes.length = self.members = 0
        for i in range(group.size()):
            val = group[0][i].val
            if not self.counts(val):
                continue
            value = NULL
            if not is_null(&self.value, val):
                read_cell(&self.value, val, words)
                value = words
            copies = 1 if self.distinct else group[0][i].count
            before = self.bytes.length
            if copies > MAX_BYTES:
                return self.too_long
            if self.gather(value, 1) < 0:
                return NO_STRING
            if (self.bytes.length - before + self.between) * copies + before > MAX_BYTES:
                return self.too_long
            if copies > 1 and self.gather(value, copies - 1) < 0:
                return NO_STRING
        return self.interner.encode(self.bytes.data, self.bytes.length)

    cdef bint counts(self, const uint64_t* val) noexcept nogil:
        cdef uint64_t words[2]
        if self.conditional:
            if is_null(&self.where, val):
                return False
            read_cell(&self.where, val, words)
            if words[0] == 0:
                return False
        return self.all_values or not is_null(&self.value, val)
