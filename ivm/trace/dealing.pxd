# Many rows to the shards that own them.

from libcpp.vector cimport vector

from ivm.rows.hashing cimport Partitioner
from ivm.rows.updates cimport Updates

# Rows to be dealt out; all parts have one format.
cdef struct Part:
    Updates* rows
    Updates* keyed      # these, or what they were made of: whose owners the partitioner tells
    bint negated        # the rows' diffs change sign
    bint read_alone     # nobody else reads `keyed`: what is large goes back once it is dealt out

# Moves all rows of `count` parts to the queues of their owners, one for each shard, which are empty before
# and consolidated afterwards. As many threads as there are shards share every pass. Raises MemoryError.
# Where `left` is not NULL, many rows are left in buckets by leading varying bits, as many of each shard, and
# `left` says where they end: one shard's after the other's. If it stays empty, the rows are consolidated.
cdef int deal_out(Part* parts, int count, Partitioner partitioner, Updates** queues, int shards,
                  vector[Py_ssize_t]* left) except -1 nogil
