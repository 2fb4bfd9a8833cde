# Many rows to the shards that own them.

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
cdef int deal_out(Part* parts, int count, Partitioner partitioner, Updates** queues,
                  int shards) except -1 nogil
