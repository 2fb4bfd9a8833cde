# Many rows to the shards that own them.

from ivm.rows.layout cimport Layout
from ivm.rows.sharding cimport Owners
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport Updates

# Rows to be dealt out; all parts have one format.
cdef struct Part:
    Updates* rows
    Updates* keyed      # these, or what they were made of: an owner is found in the key columns of its layout
    bint negated        # the rows' diffs change sign
    bint read_alone     # nobody else reads `keyed`: what is large goes back once it is dealt out

# Moves all rows of `count` parts to the queues of their owners, which are empty before and consolidated
# afterwards. As many threads as there are shards share every pass. Raises MemoryError.
cdef int deal_out(Part* parts, int count, const Owners* owners, Layout layout,
                  Interner interner) except -1 nogil
