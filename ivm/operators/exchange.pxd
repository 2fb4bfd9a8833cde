from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport Updates


cdef class Exchange(Operator):
    cdef Operator source
    cdef vector[int] key
    cdef Layout layout
    cdef Interner interner
    cdef Packing packing
    cdef vector[Updates] piles      # one for each shard, while threads deal out
    cdef vector[Updates*] own       # these
    cdef Updates* mine              # that of them which is for this shard
    # Borrowed from all shards' operators, this one included:
    cdef vector[Updates*] outs
    cdef vector[Updates*] given     # their piles for this shard
    # Makes the operators of all shards know each other.
    cdef int know(self, tuple operators) except -1
    # Appends the source's rows to what all shards put out.
    cdef int hand_over(self) except -1 nogil
    # The same by threads: first all deal their rows out to piles, then all gather those for them.
    cdef int deal(self) except -1 nogil
    cdef int gather(self) except -1 nogil

    # Appends each of the rows `given` to that of `targets` that is its owner's.
    cdef int deal_to(self, Updates** targets, const Updates* given) except -1 nogil
    cdef int make_room(self, Updates** targets, Py_ssize_t more) except -1 nogil
    cdef int no_memory(self) except -1 nogil
