# A merge in progress, of one part or of several that threads may work at, each of a range of the keys.

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.trace.batch cimport Batch
from ivm.trace.merge cimport Merge


# The arrays of a batch.
cdef enum:
    VALS
    KEYS
    DIFFS
    VAL_STARTS
    UPDATE_STARTS
    TIMES
    ARRAYS


# How far an array is closed up.
cdef struct Closing:
    int part            # those before lie where they belong,
    Py_ssize_t moved    # and so many elements of this one
    Py_ssize_t left     # fuel that the last go has left


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
    Batch* out              # the result, from when all parts are merged: the block, or a copy
    Closing[ARRAYS] closings

# Starts to add up two neighbouring batches with every time joined with `since`, of `time_words`
# coordinates: no time at or after `since` can tell. Whoever starts it keeps both batches until it is
# finished or given up. NULL where memory is short. Their updates together must be at most MOST_UPDATES.
cdef Merging* start_merging(Batch* a, Batch* b, const uint64_t* since, int parts) noexcept nogil

# Moves about `fuel` updates.
cdef void work_merging(Merging* m, Py_ssize_t fuel) noexcept nogil

# The same in each merge, by threads.
cdef int work_together(vector[Merging*]& merges, Py_ssize_t fuel, int threads) except -1 nogil

# The result of a complete merge, which may be empty; frees the merge.
cdef Batch* finish_merging(Merging* m) noexcept nogil

# Gives up a merge.
cdef void free_merging(Merging* m) noexcept nogil

# The sum in one go, by a thread for each part; NULL where memory is short, which may be raised too.
cdef Batch* merge_at_once(Batch* a, Batch* b, const uint64_t* since, int parts) except? NULL nogil
