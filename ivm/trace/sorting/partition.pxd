# Partitioning: many rows move to the threads that own them.

from libcpp.vector cimport vector

from ivm.rows.hashing cimport Partitioner
from ivm.rows.updates cimport Updates

# One part of the rows to be partitioned; all parts have one format.
cdef struct Part:
    Updates* rows
    Updates* keyed      # rows whose owners the partitioner tells: `rows`, or those that `rows` were made of
    bint negated        # the rows' diffs change sign
    bint read_alone     # no other operator reads `keyed`: large memory is given back once it has been read

# Partitions all rows of `count` parts among the queues of their owners, one for each shard, which are empty
# before and consolidated afterwards. As many threads as there are shards share every pass. Raises
# MemoryError.
cdef int deal_out(Part* parts, int count, Partitioner partitioner, Updates** queues,
                  int shards) except -1 nogil

# Rows by ranges of keys: the keys of each range come before those of the next one. The rows of a range lie in
# buckets by leading varying bits: those from `first` on, which end at `ends` among its rows.
cdef struct Ranges:
    vector[Updates] rows        # of each range, in the memory of `dealt` or of the parts
    vector[Updates] dealt
    vector[Py_ssize_t] first    # the first bucket of each range, and the end of the last one's
    vector[Py_ssize_t] ends

# Partitions all rows of `count` parts into ranges of keys, at least one for each thread. Rows begin with
# `key_words` of a key, at least one; `ranges` is empty before. Raises MemoryError; the caller releases
# `ranges` in any case.
cdef int deal_ranges(Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil
cdef void release_ranges(Ranges* ranges) noexcept nogil

# --- for ranges of rows that are not partitioned ---

# Makes `part` a view of the updates [start, end), which does not own their memory.
cdef void view(const Updates* updates, Py_ssize_t start, Py_ssize_t end, Updates* part) noexcept nogil

# The number of rows of all parts.
cdef Py_ssize_t total_of(const Part* parts, int count) noexcept nogil

# Gives the memory of parts back that were read, unless that has been done.
cdef void give_back(Part* parts, int count) noexcept nogil
