from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.comoment cimport int128
from ivm.operators.aggregates.aggregate cimport Logic
from ivm.rows.updates cimport Updates

cdef struct Term:
    int function        # one of the functions in linear.pyx
    int null_word       # the input's flag, or -1; for count of rows there is no input
    int word            # the input's first word
    int words           # 1, or 2 for a decimal
    int other_null      # the same of a second input
    int other           # or -1
    int kind            # how the input's words encode a number
    int state           # first word of the state
    int out_null        # the output's flag word, or -1
    int out             # the output's first word
    int out_kind        # how the output's words encode a number
    bint narrow         # the output is a float32
    int scale           # digits after the point of the input
    int more            # and how many more the output has
    int128 bound        # greatest absolute output
    int128 limit        # bound / 10^more


# An accumulation holds counts, sums and averages of a group: a state that takes values with diffs in any
# order.
cdef class Accumulation(Logic):
    cdef readonly int state_words   # word 0 counts the group's rows
    cdef vector[Term] terms
    cdef uint64_t overflow          # the word of the error's message
    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t diff) noexcept nogil
    # Adds the state of other values.
    cdef void merge(self, uint64_t* state, const uint64_t* other) noexcept nogil
    # Appends a group's output with diff 1; nothing for a state without rows.
    cdef int put(self, const uint64_t* state, Updates* result) except -1 nogil
    # Writes `out_words` words: 0 or an error's word, then the outputs.
    cdef void finish(self, const uint64_t* state, uint64_t* out) noexcept nogil
