# Look-ups of many keys in a batch that is much larger.

from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch

cdef enum:
    GROUP = 32      # keys that are sought at once
    SPARSE = 16     # from so many keys for each sought one on, probes are cheaper than galloping

# Seeks the next n <= GROUP of `count` ascending keys, at `sought` and each `stride` words after the one before,
# among those of `b` from `start` on: into at[i] the position of the i-th, or -1 where `b` does not have it.
# Returns where to start for those after them. What the found keys' values begin with is on its way into
# the cache.
cdef Py_ssize_t probe(const Batch* b, const uint64_t* sought, int stride, Py_ssize_t count, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil
