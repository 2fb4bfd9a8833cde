"""Which keys of a trace, which all shards read, an operator's shard owns: those that it keeps a state for.

The owner is who an exchange would give a row of the key to.
"""

from libc.stdint cimport uint32_t, uint64_t

from ivm.operators.base.operator cimport Operator
from ivm.rows.hashing cimport Partitioner, shard_of
from ivm.trace.batch cimport Batch, key_at


cdef void first_own(OwnKeys* keys, const Batch* b, Operator operator,
                    Partitioner partitioner) noexcept nogil:
    keys.b = b
    keys.sought = keys.next = keys.count = 0
    next_own(keys, operator, partitioner)


# Finds the next ones, if there are more.
cdef void find_own(OwnKeys* keys, Operator operator, Partitioner partitioner) noexcept nogil:
    cdef uint64_t hashes[STRETCH]
    cdef Py_ssize_t i, n
    keys.next = keys.count = 0
    while keys.count == 0 and keys.sought < keys.b.keys:
        n = min(keys.b.keys - keys.sought, <Py_ssize_t> STRETCH)
        if operator.shards > 1:
            partitioner.hash_rows(key_at(keys.b, keys.sought), n, keys.b.key_words, hashes)
        for i in range(n):      # without a branch, which nobody could foresee
            keys.found[keys.count] = <uint32_t> (keys.sought + i)
            keys.count += operator.shards == 1 or (
                <int> shard_of(hashes[i], operator.shards) == operator.shard)
        keys.sought += n
