from libc.stdint cimport int64_t, uint32_t, uint64_t

from ivm.operators.groups cimport Groups
from ivm.trace.times cimport MAX_COORDINATES

# The histories of one key: entries of input values in `block`, then entries of output values.
#
# An entry is a value's words, a sweep time, a diff. Entries of one history ascend strictly in
# (value, sweep time), and no diff is zero.
cdef struct Curve:
    uint64_t* block
    uint32_t inputs             # entries of the input's history
    uint32_t input_capacity
    uint32_t outputs            # entries of the output's history
    uint32_t output_capacity
    uint64_t step               # 1 + the lower bound of the step that touched the key last
    uint64_t visit              # the visit that evaluated the key last
    uint64_t low[MAX_COORDINATES]   # the greatest lower bound of the times that this step changed


# Writes a time of `n` coordinates in the order in which a loop is swept: the root comes last.
cdef inline void to_sweep(const uint64_t* time, uint64_t* sweep, int n) noexcept nogil:
    cdef int i
    for i in range(1, n):
        sweep[i - 1] = time[i]
    sweep[n - 1] = time[0]


cdef inline void from_sweep(const uint64_t* sweep, uint64_t* time, int n) noexcept nogil:
    cdef int i
    for i in range(1, n):
        time[i] = sweep[i - 1]
    time[0] = sweep[n - 1]


# The input's and output's history of every key.
cdef class Curves:
    cdef readonly Groups groups
    cdef readonly tuple in_strings      # words of an input value that hold strings, complemented?
    cdef readonly tuple out_strings
    cdef int time_words
    cdef int in_words                   # words of an input value
    cdef int out_words                  # words of an output value
    cdef int in_stride                  # words of an entry
    cdef int out_stride
    cdef size_t block_bytes             # of all blocks
    # The curve of `key`, as of the step that starts at `lower`: what is older lies at root 0.
    cdef uint32_t touch(self, const uint64_t* key, uint64_t lower) except? 0xFFFFFFFF nogil
    cdef Curve* curve(self, uint32_t entry) noexcept nogil
    cdef const uint64_t* key(self, uint32_t entry) noexcept nogil
    # Adds `diff` to the entry of (value, sweep time); `input` tells in which history.
    cdef int add(self, Curve* curve, bint input, const uint64_t* value, const uint64_t* time,
                 int64_t diff) except -1 nogil
    # Forgets a key, which must have no entries.
    cdef void forget(self, uint32_t entry) noexcept nogil
    cdef int _freshen(self, Curve* curve, uint64_t step) except -1 nogil
    cdef int _reserve(self, Curve* curve, uint32_t inputs, uint32_t outputs) except -1 nogil


