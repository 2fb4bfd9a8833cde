from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator
from ivm.operators.linear.combiner cimport Summed
from ivm.rows.hashing cimport Partitioner
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates


# One member's operator of an exchange between processes.
cdef class Scatter(Operator):
    cdef readonly object mesh
    cdef Operator source
    cdef Partitioner partitioner    # finds the owners; None where all members are to have all rows
    cdef Interner interner
    cdef vector[int] strings        # words that hold strings
    cdef bint combines              # whether rows may travel as fewer, with the same counts,
    cdef vector[Summed] summed      # and sums of these columns
    cdef vector[Updates] outgoing   # rows for each member, while blocks are made; empty between steps
    cdef Updates received           # rows for this one, its own among them, until it steps
    # The source's rows as a block for each member, empty bytes where there are none; this member's are received.
    cdef list blocks(self)
    # Receives a block of another member (raises ValueError if it is none).
    cdef int take(self, const unsigned char[::1] block) except -1
    cdef int deal(self) except -1 nogil
    cdef int no_memory(self) except -1 nogil
