from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.windows.frames cimport Frame
from ivm.operators.windows.rows cimport Stretch

# Which rows' results a change can reach.
cdef enum Scope:
    NEAR        # those at most `reach` rows, `reach_groups` groups or a `measured` distance away
    ONWARD      # those, and all later ones
    WHOLE       # all of the partition

# One column of values or results.
cdef struct Cell:
    int null_word       # its flag, or -1
    int word
    int words


# What one call makes of each row. A row's results are `stride` words: 0 or an error's word, then
# every call's, zeros so far.
cdef class WindowFunction:
    cdef Scope scope
    cdef int64_t reach
    cdef int64_t reach_groups
    cdef Frame measured
    cdef readonly bint asks_head        # of a stretch, for the partition's first row
    cdef readonly bint asks_peers       # whether it matters who is whose peer
    cdef readonly int state_words       # of what it must know of the rows before, if it is ONWARD
    cdef Cell result
    # Settles the scope of what follows from the rows of `frame`.
    cdef int look_through(self, Frame frame) except -1
    # Adds `count` copies of a value to a state.
    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil
    # Writes the results of the rows from `first` to `last`; `results` are those of row 0, and
    # `before` is the state of the rows before the stretch.
    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil
