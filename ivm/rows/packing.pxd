from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.interner cimport Interner

cdef struct Move:
    int kind            # one of the kinds in packing.pyx
    int segment         # which source
    int source_word
    int source_bit
    int target_word
    int target_bit
    uint64_t flip       # exclusive-or of the moved word or flag; of BITS so many ones
    int count           # words of a RUN, or BITS

cdef struct WordMove:
    int segment         # which source
    int source_word
    int target_word


# Copies chosen columns of up to three source rows into one target row of another format.
cdef class Packing:
    cdef readonly int words             # of the target
    cdef bint of_first                  # it reads the first source only
    cdef readonly bint identity         # one source, whose words it copies as they are
    cdef vector[Move] moves
    cdef vector[WordMove] plain         # the same, if they are a few words that are moved as they are
    cdef Interner interner              # for the first bytes of strings
    cdef void move_all(self, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                       uint64_t* target) noexcept nogil


# Makes a row of up to three.
cdef inline void pack(Packing packing, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                      uint64_t* target) noexcept nogil:
    cdef const uint64_t* segments[3]
    cdef const WordMove* move = packing.plain.data()
    cdef const WordMove* end = move + packing.plain.size()
    if move == end:
        packing.move_all(a, b, c, target)
        return
    segments[0] = a
    segments[1] = b
    segments[2] = c
    while move != end:
        target[move.target_word] = segments[move.segment][move.source_word]
        move += 1
