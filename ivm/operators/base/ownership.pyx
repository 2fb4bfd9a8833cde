"""Ownership of keys: an operator's shard keeps states for its own keys of a trace that all shards read.

A key's owner is the shard to which an exchange would send a row of the key.
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


# Finds the next own keys, if there are more.
cdef void find_own(OwnKeys* keys, Operator operator, Partitioner partitioner) noexcept nogil:
    cdef uint64_t hashes[STRETCH]
    cdef Py_ssize_t i, n
    keys.next = keys.count = 0
    while keys.count == 0 and keys.sought < keys.b.keys:
        n = min(keys.b.keys - keys.sought, <Py_ssize_t> STRETCH)
        if operator.shards > 1:
            partitioner.hash_rows(key_at(keys.b, keys.sought), n, keys.b.key_words, hashes)
        for i in range(n):      # without a branch, which could not be predicted
            keys.found[keys.count] = <uint32_t> (keys.sought + i)
            keys.count += operator.shards == 1 or (
                <int> shard_of(hashes[i], operator.shards) == operator.shard)
        keys.sought += n
