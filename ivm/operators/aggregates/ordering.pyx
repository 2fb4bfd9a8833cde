"""The order of a group's values: by words, and by content where strings tie.

Values are in an ordered format, so their words' order is the order asked for, except where a column holds
strings: from the first string's own word on, values that tie in the words before it are compared by content.
Its prefix word comes before that, so that only long strings that begin alike tie there.
"""

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.interner cimport Interner, compare as compare_contents
from ivm.trace.times cimport compare_words

cdef extern from "<stdlib.h>" nogil:
    void qsort_r(void* base, size_t n, size_t size,
                 int (*compare)(const void*, const void*, void*) noexcept nogil, void* context)

cdef enum:
    SHORT = 7       # the low byte of the prefix of a string that lies in its word, at most


cdef int _by_content(const void* a, const void* b, void* ordering) noexcept nogil:
    return (<Ordering> ordering).compare((<const Candidate*> a).val, (<const Candidate*> b).val)


cdef class Ordering:
    """Orders values of an ordered format; `strings` marks the columns of strings."""

    def __init__(self, format, strings, Interner interner):
        self.interner = interner
        self.words = format.words
        self.exact = not any(strings)
        self.exact_words = self.short_words = format.words
        unordered = []
        for place, is_string in zip(format.places, strings, strict=True):
            self.columns.push_back(OrderedColumn(
                place.null_word, place.prefix, place.word, place.words, is_string,
                0xFFFFFFFFFFFFFFFF if place.flipped else 0,
            ))
            if is_string:
                unordered.append(place.word)
        if unordered:
            self.exact_words = unordered[0]
        if len(unordered) > 1:
            self.short_words = unordered[1]

    cdef int compare(self, const uint64_t* a, const uint64_t* b) noexcept nogil:
        cdef const OrderedColumn* c = self.columns.data()
        cdef const OrderedColumn* end = c + self.columns.size()
        cdef int order
        if self.exact:
            return compare_words(a, b, self.words)
        while c != end:
            if c.null_word >= 0 and a[c.null_word] != b[c.null_word]:
                return -1 if a[c.null_word] < b[c.null_word] else 1
            if c.prefix >= 0 and a[c.prefix] != b[c.prefix]:
                return -1 if a[c.prefix] < b[c.prefix] else 1
            order = compare_words(a + c.word, b + c.word, c.words)
            if order != 0:
                if not c.is_string:
                    return order
                order = compare_contents(self.interner.strings, a[c.word] ^ c.flip, b[c.word] ^ c.flip)
                return order if c.flip == 0 else -order
            c += 1
        return 0

    cdef bint precedes(self, const uint64_t* a, const uint64_t* b) noexcept nogil:
        cdef const OrderedColumn* c
        if self.exact or compare_words(a, b, self.exact_words) != 0:
            return True
        c = self.columns.data()
        while not c.is_string:
            c += 1
        return (c.prefix >= 0 and (a[c.prefix] ^ c.flip) & 0xFF <= SHORT
                and compare_words(a, b, self.short_words) != 0)

    cdef void sort(self, vector[Candidate]* values) noexcept nogil:
        if not self.exact and values.size() > 1:
            qsort_r(values.data(), values.size(), sizeof(Candidate), _by_content, <void*> self)
