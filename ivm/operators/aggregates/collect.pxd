from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.cell cimport Cell
from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.aggregates.ordering cimport Candidate
from ivm.rows.nested cimport Bytes
from ivm.rows.interner cimport Interner

# Collects all values of a group in order, as one string of bytes. The output is one word for an error and the
# value in an ordered format: NULL where no value counts.
cdef class Gathering(Logic):
    cdef Interner interner
    cdef Cell value             # the column of the collected values
    cdef Cell where             # a boolean column: only rows where it is true count
    cdef bint conditional       # whether there is one
    cdef bint distinct          # each value once
    cdef bint all_values        # NULL counts too
    cdef int out                # the output's word, and its flag or -1
    cdef int out_null
    cdef uint64_t too_long      # the word of the error's message
    cdef size_t between         # bytes between two copies
    cdef size_t members         # values collected so far
    cdef Bytes bytes
    # Adds `copies` of a value's words, NULL where `words` is NULL; -1 where memory is short.
    cdef int gather(self, const uint64_t* words, int64_t copies) noexcept nogil
    cdef uint64_t gathered(self, const vector[Candidate]* group) noexcept nogil
    cdef bint counts(self, const uint64_t* val) noexcept nogil
