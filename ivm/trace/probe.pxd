# Look-ups of many keys in a batch that is much larger.

from ivm.trace.batch cimport Batch

cdef enum:
    GROUP = 32      # keys that are sought at once
    SPARSE = 64     # from so many keys for each sought one on, probes are cheaper than galloping

# Seeks the keys [first, first + n) of `sought`, n <= GROUP, among those of `b` from `start` on: into
# at[i] the position of key first + i, or -1 where `b` does not have it. Returns where to start for
# keys beyond them. What the found keys' values begin with is on its way into the cache.
cdef Py_ssize_t probe(const Batch* b, const Batch* sought, Py_ssize_t first, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil
