# Many rows to the threads that own them.

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
cdef int deal_out(Part* parts, int count, Partitioner partitioner, Updates** queues,
                  int shards) except -1 nogil

# Moves all rows of `count` parts, which begin with `key_words` of a key, at least one, to `ranges` of keys, one for each of
# `threads`: the keys of each come before those of the next one. Each range's rows lie in buckets by leading
# varying bits, as many of each, and `ends` says where these end among its rows: one range's after the
# other's. Raises MemoryError.
cdef int deal_ranges(Part* parts, int count, int key_words, Updates* ranges, int threads,
                     vector[Py_ssize_t]* ends) except -1 nogil
