# Key hashes assign rows to shards, and are equal in every process.
#
# They depend on the key's values only: a key hashes alike whether its columns are nullable or not,
# and wherever they lie in the row.

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner

cdef extern from *:
    """
    static const uint64_t IVM_SEED = 0x2545F4914F6CDD1Du, IVM_FACTOR = 0xE7037ED1A0B428DBu;

    static inline uint64_t ivm_fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128) a * b;
        return (uint64_t) product ^ (uint64_t) (product >> 64);
    }
    """
    const uint64_t SEED "IVM_SEED"
    const uint64_t FACTOR "IVM_FACTOR"
    uint64_t fold "ivm_fold"(uint64_t a, uint64_t b) noexcept nogil

# A partitioner gives the shard that owns a row, by the columns of its key.
cdef class Partitioner:
    cdef vector[int] key
    cdef int plain          # the word whose hash is the key's, as for most; -1 where there is more to it
    cdef Layout layout
    cdef Interner interner
    # Hashes of the keys of `n` rows, `stride` words apart; see `shard_of`.
    cdef void hash_rows(self, const uint64_t* rows, Py_ssize_t n, Py_ssize_t stride,
                        uint64_t* hashes) noexcept nogil

# Hash of the first `n` columns of a row.
cdef uint64_t hash_prefix(const uint64_t* row, int n, Layout layout, Interner interner) noexcept nogil

# The shard, of `shards`, that owns this hash.
cdef inline size_t shard_of(uint64_t hash, size_t shards) noexcept nogil:
    return ((hash >> 32) * shards) >> 32

# The hash of a key of one word.
cdef inline uint64_t hash_word(uint64_t word) noexcept nogil:
    return fold(fold(SEED ^ word, FACTOR), SEED)

# The shard, of `shards`, that owns a row.
cdef inline size_t owner_of(const uint64_t* row, size_t shards, Partitioner partitioner) noexcept nogil:
    cdef uint64_t hash
    if partitioner.plain >= 0:
        hash = hash_word(row[partitioner.plain])
    else:
        partitioner.hash_rows(row, 1, 0, &hash)
    return shard_of(hash, shards)
