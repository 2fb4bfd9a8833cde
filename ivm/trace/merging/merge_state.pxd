# The state of a merge: its two sides, and the result so far.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from ivm.trace.batch cimport Batch


# One of the two batches of a merge, with its cursor.
cdef struct Side:
    Batch* b
    uint32_t* mapped        # where its times are among the merged ones
    bint steady             # advancing keeps the order of each value's times, and all apart
    bint single             # every value has one update
    Py_ssize_t key          # keys before are merged, and the values of this one before `val`
    Py_ssize_t val          # values before are merged


# A merge in progress. Until it is finished the batches are untouched, and no reader sees the result.
cdef struct Merge:
    Side a                  # the elder
    Side b
    Batch* out              # so far
    Py_ssize_t fuel         # updates that may still be moved in this go
    Py_ssize_t diffs_from   # diffs are written from this update on; -1: none is yet
    Py_ssize_t vals_from    # starts of values are written from this key on; -1: none is yet
    Py_ssize_t updates_from # starts of updates are written from this value on; -1: none is yet
    uint64_t odd_diffs      # a bit for each in which a diff differed from 1
    int overflowed          # not 0 once a sum of diffs has
    uint32_t* slot_time     # scratch: the distinct times of one value
    int64_t* slot_diff
    Py_ssize_t slots
