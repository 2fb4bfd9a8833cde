from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.strings cimport Interner

cdef struct Move:
    int kind            # one of the kinds in packing.pyx
    int segment         # which source
    int source_word
    int source_bit
    int target_word
    int target_bit
    uint64_t flip       # exclusive-or of the moved word or flag; of BITS so many ones
    int count           # words of a RUN, or BITS


# Copies chosen columns of up to three source rows into one target row of another format.
cdef class Packing:
    cdef readonly int words             # of the target
    cdef readonly bint identity         # one source, whose words it copies as they are
    cdef vector[Move] moves
    cdef Interner interner              # for the first bytes of strings
    cdef void pack(self, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint64_t* target) noexcept nogil
