# Many rows to the threads that own them.

from libcpp.vector cimport vector

from ivm.rows.hashing cimport Partitioner
from ivm.rows.updates cimport Updates

# Rows to be dealt out; all parts have one format.
cdef struct Part:
    Updates* rows
    Updates* keyed      # these, or what they were made of: whose owners the partitioner tells
    bint negated        # the rows' diffs change sign
    bint read_alone     # nobody else reads `keyed`: what is large goes back once it has been read

# Moves all rows of `count` parts to the queues of their owners, one for each shard, which are empty before
# and consolidated afterwards. As many threads as there are shards share every pass. Raises MemoryError.
cdef int deal_out(Part* parts, int count, Partitioner partitioner, Updates** queues,
                  int shards) except -1 nogil

# Rows by ranges of keys: the keys of each come before those of the next one. The rows of a range lie in buckets by
# leading varying bits: those from `first` on, which end at `ends` among its rows.
cdef struct Ranges:
    vector[Updates] rows        # of each range, in the memory of `dealt` or of the parts
    vector[Updates] dealt
    vector[Py_ssize_t] first    # the first bucket of each range, and the end of the last one's
    vector[Py_ssize_t] ends

# Moves all rows of `count` parts, which begin with `key_words` of a key, at least one, to `ranges`, at least one for
# each thread, which are empty before. Raises MemoryError; whatever comes of it, they are to be released.
cdef int deal_ranges(Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil
cdef void release_ranges(Ranges* ranges) noexcept nogil

# --- for who makes ranges of rows that are not dealt out ---

# The updates from `start` to before `end`, wherever they lie: nobody can give their memory back.
cdef void view(const Updates* updates, Py_ssize_t start, Py_ssize_t end, Updates* part) noexcept nogil

# How many rows all parts have.
cdef Py_ssize_t total_of(const Part* parts, int count) noexcept nogil

# Gives memory back that was read, unless that has been done.
cdef void give_back(Part* parts, int count) noexcept nogil
