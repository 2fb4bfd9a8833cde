from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator
from ivm.rows.hashing cimport Partitioner
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.dealing cimport Part


cdef class Dealer(Operator):
    cdef Partitioner partitioner    # tells the owners
    cdef Packing packing            # makes what is put out; None where rows go as they are
    cdef bint arranged              # an Arrange reads it: what is dealt out need not be sorted
    cdef vector[Py_ssize_t] left    # if it was not: where the buckets of what it puts out end
    # Appends the rows that this shard has to what their owners put out, of all `shards`.
    cdef int hand_over(self, const vector[void*]* shards) except -1 nogil
    # The same by threads: all pack, unless rows go as they are, then one deals out what all have.
    cdef int pack(self) except -1 nogil
    cdef int list_parts(self, vector[Part]* parts) except -1 nogil
    cdef int deal_all(self, vector[Part]* parts, const vector[void*]* shards) except -1 nogil

    cdef int hand_over_rows(self, const Updates* given, bint negated,
                            const vector[void*]* shards) except -1 nogil
    cdef int no_memory(self) except -1 nogil


# Packs one row of `given` as `row` of `out`.
cdef void pack_update(const uint64_t* update, const Updates* given, Packing packing, uint64_t* row,
                      const Updates* out) noexcept nogil
