from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator
from ivm.rows.hashing cimport Partitioner
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.sorting.partition cimport Part


# One term of an exchange's sum: a source and its sign.
cdef struct Term:
    void* source        # borrowed
    bint negated


cdef class Exchange(Operator):
    cdef tuple sources
    cdef vector[Term] terms         # one for each source
    cdef vector[Updates] packed     # rows of each source, while they are partitioned
    cdef Partitioner partitioner    # finds the owners
    cdef Packing packing            # makes the output rows; None where rows go as they are
    cdef bint gathers               # sends few rows to the first shard
    # In the first shard: takes the rows of all `shards`.
    cdef int gather(self, const vector[void*]* shards) except -1 nogil
    cdef int gather_rows(self, Operator source, bint negated) except -1 nogil
    # Appends this shard's rows to the outputs of their owners, of all `shards`.
    cdef int hand_over(self, const vector[void*]* shards) except -1 nogil
    # Partition many rows by threads: all pack, unless rows go as they are, then one call partitions all.
    cdef int pack(self) except -1 nogil
    cdef int list_parts(self, vector[Part]* parts) except -1 nogil
    cdef int deal_all(self, vector[Part]* parts, const vector[void*]* shards) except -1 nogil

    cdef int hand_over_rows(self, const Updates* given, bint negated,
                            const vector[void*]* shards) except -1 nogil
    cdef int no_memory(self) except -1 nogil
