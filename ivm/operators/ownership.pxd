from libc.stdint cimport uint32_t, uint64_t

from ivm.operators.operator cimport Operator
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.trace.batch cimport Batch

cdef enum:
    STRETCH = 512       # keys whose owners are found together


# Whether the operator's shard owns `key`, of which `partitioner` tells the owner.
cdef inline bint is_own(Operator operator, Partitioner partitioner, const uint64_t* key) noexcept nogil:
    return operator.shards == 1 or <int> owner_of(
        key, operator.shards, partitioner) == operator.shard

# Which of the keys of `b` from `first` to before `end`, at most STRETCH, the operator's shard owns: their
# positions, and how many there are.
cdef Py_ssize_t own_keys(Operator operator, Partitioner partitioner, const Batch* b, Py_ssize_t first,
                         Py_ssize_t end, uint32_t* positions) noexcept nogil
