from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator
from ivm.rows.hashing cimport Partitioner
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.sorting.partition cimport Part


# What is summed up.
cdef struct Term:
    void* source        # borrowed
    bint negated


cdef class Exchange(Operator):
    cdef tuple sources
    cdef vector[Term] terms         # one for each of them
    cdef vector[Updates] packed     # of each source, while they are dealt out
    cdef Partitioner partitioner    # tells the owners
    cdef Packing packing            # makes what is put out; None where rows go as they are
    cdef bint gathers               # whether few rows go to the first shard
    # Of the first shard: takes the rows of all `shards`.
    cdef int gather(self, const vector[void*]* shards) except -1 nogil
    cdef int gather_rows(self, Operator source, bint negated) except -1 nogil
    # Appends the rows that this shard has to what their owners put out, of all `shards`.
    cdef int hand_over(self, const vector[void*]* shards) except -1 nogil
    # The same by threads: all pack, unless rows go as they are, then one deals out what all have.
    cdef int pack(self) except -1 nogil
    cdef int list_parts(self, vector[Part]* parts) except -1 nogil
    cdef int deal_all(self, vector[Part]* parts, const vector[void*]* shards) except -1 nogil

    cdef int hand_over_rows(self, const Updates* given, bint negated,
                            const vector[void*]* shards) except -1 nogil
    cdef int no_memory(self) except -1 nogil
