from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.windows.frames cimport Frame
from ivm.operators.windows.rows cimport Stretch

# The scope of a change: the rows whose results it can reach.
cdef enum Scope:
    NEAR        # rows at most `reach` rows, `reach_groups` groups or a `measured` distance away
    ONWARD      # these, and all later rows
    WHOLE       # all of the partition

# One column of values or results.
cdef struct Cell:
    int null_word       # its flag, or -1
    int word
    int words


# A window function computes a result for each row of a partition. A row's results are `stride` words: 0 or an
# error's word, then every call's, zeros so far.
cdef class WindowFunction:
    cdef Scope scope
    cdef int64_t reach
    cdef int64_t reach_groups
    cdef Frame measured
    cdef readonly bint asks_head        # needs the partition's first row beside the stretch
    cdef readonly bint asks_peers       # depends on the groups of peers
    cdef readonly int state_words       # words of the state of the rows before, if it is ONWARD
    cdef Cell result
    # Sets the scope of a function that depends on the rows of `frame`.
    cdef int look_through(self, Frame frame) except -1
    # Adds `count` copies of a value to a state.
    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil
    # Writes the results of the rows from `first` to `last`. `results` are those of row 0, and `before` is the
    # state of the rows before the stretch.
    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil
