"""Dealers: operators of which every row goes to the shard that owns its key.

Few rows are handed over by one thread, each straight to what its owner puts out. Many are dealt out by
all threads, and sorted on the way (`ivm.trace.dealing`): what reads them would sort them anyway, or finds
equal keys together. An arrangement that alone reads them does that while it builds its batch.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from ivm.operators.operator cimport Operator, read_alone
from ivm.rows.hashing cimport owner_of
from ivm.rows.updates cimport copy_update, push
from ivm.trace.dealing cimport deal_out


cdef class Dealer(Operator):
    """The operators of all shards make up a Crossing."""

    cdef int hand_over(self, const vector[void*]* shards) except -1 nogil:
        return 0

    cdef int pack(self) except -1 nogil:
        return 0

    cdef int list_parts(self, vector[Part]* parts) except -1 nogil:
        return 0

    cdef int deal_all(self, vector[Part]* parts, const vector[void*]* shards) except -1 nogil:
        cdef vector[Updates*] outs
        cdef vector[Py_ssize_t] left
        cdef size_t s, buckets
        cdef bint leaves = self.arranged and read_alone(self)
        for s in range(shards.size()):
            outs.push_back(&(<Operator> shards[0][s]).out)
        deal_out(parts.data(), <int> parts.size(), self.partitioner, outs.data(), <int> outs.size(),
                 &left if leaves else NULL)
        buckets = left.size() // shards.size()
        for s in range(shards.size()):
            (<Dealer> shards[0][s]).left.assign(left.begin() + s * buckets,
                                                left.begin() + (s + 1) * buckets)
            (<Dealer> shards[0][s]).consolidated = buckets == 0
        return 0

    cdef int hand_over_rows(self, const Updates* given, bint negated,
                            const vector[void*]* shards) except -1 nogil:
        cdef const uint64_t* update = given.words
        cdef Updates* out
        cdef uint64_t* row
        cdef Py_ssize_t i
        for i in range(given.length):
            out = &(<Operator> shards[0][owner_of(update, shards.size(), self.partitioner)]).out
            row = push(out)
            if row == NULL:
                self.no_memory()
            if self.packing is None:
                copy_update(row, update, given.stride)
            else:
                pack_update(update, given, self.packing, row, out)
            if negated:
                row[out.stride - 1] = 0 - row[out.stride - 1]
            update += given.stride
        return 0

    cdef int no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to exchange updates")


cdef void pack_update(const uint64_t* update, const Updates* given, Packing packing, uint64_t* row,
                      const Updates* out) noexcept nogil:
    packing.pack(update, NULL, NULL, row)
    memcpy(row + out.row_words, update + given.row_words, (out.time_words + 1) * sizeof(uint64_t))
