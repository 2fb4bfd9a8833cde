# Hashes of rows that are equal in every process, to shard by.
#
# They depend on the key's values only: a key hashes alike whether its columns are nullable or not,
# and wherever they lie in the row.

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.layout cimport Layout
from ivm.rows.strings cimport Interner

# Says which shard owns a row, by the columns of its key.
cdef class Partitioner:
    cdef vector[int] key
    cdef Layout layout
    cdef Interner interner
    # Hashes of the keys of `n` rows, `stride` words apart; see `shard_of`.
    cdef void hash_rows(self, const uint64_t* rows, Py_ssize_t n, Py_ssize_t stride,
                        uint64_t* hashes) noexcept nogil

# Hash of the first `n` columns of a row.
cdef uint64_t hash_prefix(const uint64_t* row, int n, Layout layout, Interner interner) noexcept nogil

# The shard, of `shards`, that owns what has this hash.
cdef inline size_t shard_of(uint64_t hash, size_t shards) noexcept nogil:
    return ((hash >> 32) * shards) >> 32
