"""All values of a group as one list, in order: the aggregates `list` and `set`."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset
from libcpp.vector cimport vector

from ivm.operators.logic cimport Logic
from ivm.operators.ordering cimport Candidate, Ordering
from ivm.rows.lists cimport Bytes, Element, append_element, element_of, release_bytes
from ivm.rows.strings cimport NO_STRING, Interner
from ivm.rows.updates cimport Updates, push

cdef enum:
    MAX_BYTES = 1 << 30     # of a list, which is PostgreSQL's bound for a value


cdef class Listing(Logic):
    """The first column of `source`, the ordered format of `ordering`, as a list of type `type`.

    The output is one word for an error (`too_long`, a string's word) and the list in the ordered
    format `target`. With `distinct` each value is taken once.
    """

    cdef Interner interner
    cdef Element element
    cdef bint distinct
    cdef int null_word              # of a value: its flag, or -1
    cdef int word
    cdef int out
    cdef uint64_t too_long
    cdef Bytes bytes

    def __init__(self, Ordering ordering, source, target, type, bint distinct, uint64_t too_long,
                 Interner interner):
        self.ordering = ordering
        self.element = element_of(type)
        self.null_word = source.places[0].null_word
        self.word = source.places[0].word
        self.out = target.places[0].word + 1
        self.out_words = target.words + 1
        self.distinct = distinct
        self.too_long = too_long
        self.interner = interner

    def __dealloc__(self):
        release_bytes(&self.bytes)

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef uint64_t* update
        cdef uint64_t word
        if group.empty():
            return 0
        self.ordering.sort(group)
        word = self._list(group)
        update = push(result)
        if update == NULL or word == NO_STRING:
            with gil:
                raise MemoryError("no memory for the list of a group's values")
        memset(update, 0, self.out_words * sizeof(uint64_t))
        update[0 if word == self.too_long else self.out] = word
        update[result.stride - 1] = 1
        return 0

    # The word of the list, or that of the error; NO_STRING where memory is short.
    cdef uint64_t _list(self, const vector[Candidate]* group) noexcept nogil:
        cdef const uint64_t* val
        cdef int64_t copies
        cdef size_t i, before
        self.bytes.length = 0
        for i in range(group.size()):
            val = group[0][i].val
            copies = 1 if self.distinct else group[0][i].count
            if copies > MAX_BYTES:
                return self.too_long
            before = self.bytes.length
            if append_element(&self.bytes, self._value(val), self.element, 1,
                              self.interner.strings) < 0:
                return NO_STRING
            if (self.bytes.length - before) * copies + before > MAX_BYTES:
                return self.too_long
            if copies > 1 and append_element(&self.bytes, self._value(val), self.element, copies - 1,
                                             self.interner.strings) < 0:
                return NO_STRING
        return self.interner.encode(self.bytes.data, self.bytes.length)

    # The words of a value of the group; NULL for a NULL.
    cdef inline const uint64_t* _value(self, const uint64_t* val) noexcept nogil:
        if self.null_word >= 0 and val[self.null_word] != 0:
            return NULL
        return val + self.word
