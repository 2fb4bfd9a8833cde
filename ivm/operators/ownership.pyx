"""Which keys of a trace, which all shards read, an operator's shard owns: those that it keeps a state for.

The owner is who an exchange would give a row of the key, so that what is put out lies in its shard.
"""

from libc.stdint cimport uint32_t, uint64_t

from ivm.operators.operator cimport Operator
from ivm.rows.hashing cimport Partitioner, shard_of
from ivm.trace.batch cimport Batch, key_at


cdef Py_ssize_t own_keys(Operator operator, Partitioner partitioner, const Batch* b, Py_ssize_t first,
                         Py_ssize_t end, uint32_t* positions) noexcept nogil:
    cdef uint64_t hashes[STRETCH]
    cdef Py_ssize_t i, own = 0
    if operator.shards == 1:
        for i in range(end - first):
            positions[i] = <uint32_t> (first + i)
        return end - first
    partitioner.hash_rows(key_at(b, first), end - first, b.key_words, hashes)
    for i in range(end - first):    # without a branch, which nobody could foresee
        positions[own] = <uint32_t> (first + i)
        own += <int> shard_of(hashes[i], operator.shards) == operator.shard
    return own
