from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates

# A column of which only the sum is asked for.
cdef struct Summed:
    int word        # of its value,
    int words       # one of an integer, two of a decimal
    int null_word   # where its NULL is told, by `null_bit`; -1 if it is never NULL
    int null_bit

# Puts fewer updates in the place of many that add up to the same, where that is much less.
cdef int combine(Updates* updates, const vector[Summed]* summed) except -1 nogil
