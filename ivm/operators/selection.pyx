"""Selection of a group's rows by position: top-k; min and max (top-1); distinct (top-1 of nothing).

Values are in an ordered format, so their words' order is the order asked for, except where a
column holds strings: from the first such column on, candidates that tie in the words before it are
compared by content.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.logic cimport Candidate, Logic
from ivm.rows.strings cimport Interner, Strings, compare
from ivm.rows.updates cimport Updates, push
from ivm.trace.times cimport compare_words

cdef extern from "<stdlib.h>" nogil:
    void qsort_r(void* base, size_t n, size_t size,
                 int (*compare)(const void*, const void*, void*) noexcept nogil, void* context)

cdef struct OrderedColumn:
    int null_word       # its flag, or -1
    int word
    int words
    bint is_string
    uint64_t flip       # all ones where descending

cdef struct Ordering:
    OrderedColumn* columns
    Py_ssize_t length
    Strings* strings


cdef int _by_content(const void* x, const void* y, void* context) noexcept nogil:
    cdef const uint64_t* a = (<const Candidate*> x).val
    cdef const uint64_t* b = (<const Candidate*> y).val
    cdef Ordering* ordering = <Ordering*> context
    cdef OrderedColumn* c
    cdef Py_ssize_t i
    cdef int order
    for i in range(ordering.length):
        c = ordering.columns + i
        if c.null_word >= 0 and a[c.null_word] != b[c.null_word]:
            return -1 if a[c.null_word] < b[c.null_word] else 1
        order = compare_words(a + c.word, b + c.word, c.words)
        if order == 0:
            continue
        if c.is_string:
            order = compare(ordering.strings, a[c.word] ^ c.flip, b[c.word] ^ c.flip)
            return order if c.flip == 0 else -order
        return order
    return 0


cdef class Selection(Logic):
    """The copies at positions `offset` to `offset + limit` (None: to the end).

    `format` is the ordered format of values; `strings` tells for each column whether it is one.
    """

    cdef int64_t offset
    cdef int64_t limit
    cdef int exact_words            # leading words whose order is the columns' order
    cdef bint exact                 # that is all of them
    cdef vector[OrderedColumn] columns
    cdef Interner interner

    def __init__(self, format, strings, offset, limit, Interner interner):
        self.out_words = format.words
        self.selects = True
        self.offset = offset
        self.limit = 2**62 if limit is None else limit
        self.interner = interner
        self.exact = not any(strings)
        self.exact_words = format.words
        for place, is_string in zip(format.places, strings, strict=True):
            if is_string and self.exact_words == format.words:
                self.exact_words = place.word
            self.columns.push_back(OrderedColumn(
                place.null_word, place.word, place.words, is_string,
                0xFFFFFFFFFFFFFFFF if place.flipped else 0,
            ))

    cdef bint enough(self, vector[Candidate]* group, int64_t total, const uint64_t* next) noexcept nogil:
        if total < self.limit + self.offset:
            return False
        return self.exact or compare_words(group.back().val, next, self.exact_words) != 0

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef Ordering ordering
        cdef int64_t position = 0, first, last
        cdef size_t i
        cdef uint64_t* update
        if not self.exact and group.size() > 1:
            ordering.columns = self.columns.data()
            ordering.length = self.columns.size()
            ordering.strings = self.interner.strings
            qsort_r(group.data(), group.size(), sizeof(Candidate), _by_content, &ordering)
        for i in range(group.size()):
            first = max(position, self.offset)
            position += group[0][i].count
            last = min(position, self.offset + self.limit)
            if first < last:
                update = push(result)
                if update == NULL:
                    with gil:
                        raise MemoryError("no memory for a group's selected rows")
                memcpy(update, group[0][i].val, self.out_words * sizeof(uint64_t))
                update[result.stride - 1] = <uint64_t> (last - first)
            if position >= self.offset + self.limit:
                break
        return 0
