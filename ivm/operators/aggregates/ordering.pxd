from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.rows.interner cimport Interner

# One value of a group with its number of copies.
cdef struct Candidate:
    const uint64_t* val
    int64_t count

cdef struct OrderedColumn:
    int null_word       # its flag, or -1
    int prefix          # the word with a string's first bytes, or -1
    int word
    int words
    bint is_string
    uint64_t flip       # all ones where descending


# An ordering compares values in an ordered format, strings by their contents.
cdef class Ordering:
    cdef readonly int words         # of a value
    cdef readonly bint exact        # values compare as their words do
    cdef int exact_words            # leading words that compare exactly
    cdef int short_words            # of these, where the first string has up to seven bytes
    cdef vector[OrderedColumn] columns
    cdef Interner interner
    # Compares: negative, zero or positive.
    cdef int compare(self, const uint64_t* a, const uint64_t* b) noexcept nogil
    # Given that a's words are below b's: True if `a` is below every value whose words are not below b's.
    cdef bint precedes(self, const uint64_t* a, const uint64_t* b) noexcept nogil
    # Sorts values that ascend by their words.
    cdef void sort(self, vector[Candidate]* values) noexcept nogil
