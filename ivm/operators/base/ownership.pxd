from libc.stdint cimport uint32_t, uint64_t

from ivm.operators.base.operator cimport Operator
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.trace.batch cimport Batch

cdef enum:
    STRETCH = 512       # keys whose owners are found together


# A cursor over the keys of a batch that an operator's shard owns.
cdef struct OwnKeys:
    const Batch* b
    Py_ssize_t key              # the present one, or `b.keys` at the end
    Py_ssize_t sought           # keys before have been looked at
    Py_ssize_t next             # the next of the found keys
    Py_ssize_t count            # how many were found
    uint32_t found[STRETCH]     # the last ones found

# Move to the first own key, and to the next one.
cdef void first_own(OwnKeys* keys, const Batch* b, Operator operator,
                    Partitioner partitioner) noexcept nogil
cdef inline void next_own(OwnKeys* keys, Operator operator, Partitioner partitioner) noexcept nogil:
    if keys.next == keys.count:
        find_own(keys, operator, partitioner)
    if keys.next < keys.count:
        keys.key = keys.found[keys.next]
        keys.next += 1
    else:
        keys.key = keys.b.keys
cdef void find_own(OwnKeys* keys, Operator operator, Partitioner partitioner) noexcept nogil

# True if the operator's shard is the owner that `partitioner` finds for `key`.
cdef inline bint is_own(Operator operator, Partitioner partitioner, const uint64_t* key) noexcept nogil:
    return operator.shards == 1 or <int> owner_of(
        key, operator.shards, partitioner) == operator.shard
