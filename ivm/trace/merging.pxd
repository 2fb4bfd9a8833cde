# A merge in progress, of one part or of several that threads may work at, each of a range of the keys.

from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch
from ivm.trace.merge cimport Merge


# The batches are untouched, and the result is nobody's, until it is finished.
cdef struct Merging:
    Batch* a                # the elder
    Batch* b
    int parts
    Merge** part
    Py_ssize_t left         # fuel that the last go has left; more than 0 means complete
    # Of several parts:
    Batch* views            # what they write, in one block
    Batch* block
    int array               # arrays of the block that are closed up,
    int closed              # parts of the next one that lie where they belong,
    Py_ssize_t moved        # and elements of the next part
    char* target            # where the next array of a small block begins

# Starts to add up two neighbouring batches with every time joined with `since`, of `time_words`
# coordinates: no time at or after `since` can tell. Whoever starts it keeps both batches until it is
# finished or given up. NULL where memory is short. Their updates together must be at most MOST_UPDATES.
cdef Merging* start_merging(Batch* a, Batch* b, const uint64_t* since, int parts) noexcept nogil

# Moves about `fuel` updates: of one part, which threads may do side by side; or, with what that has left, of
# what is not complete, which must follow.
cdef void work_part(Merging* m, int p, Py_ssize_t fuel) noexcept nogil
cdef void work_merging(Merging* m, Py_ssize_t fuel) noexcept nogil
# What working at the parts has left.
cdef Py_ssize_t fuel_left(const Merging* m) noexcept nogil

# The result of a complete merge, which may be empty; frees the merge.
cdef Batch* finish_merging(Merging* m) noexcept nogil

# Gives up a merge.
cdef void free_merging(Merging* m) noexcept nogil

# The sum in one go, by a thread for each part; NULL where memory is short.
cdef Batch* merge_at_once(Batch* a, Batch* b, const uint64_t* since, int parts) noexcept nogil
