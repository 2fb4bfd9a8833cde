# Probes look many keys up in a much larger batch.

from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch

cdef enum:
    GROUP = 32      # keys that are sought at once
    SPARSE = 16     # from so many keys for each sought one on, probes are cheaper than galloping

# Seeks the next n <= GROUP of `count` ascending keys among the keys of `b` from `start` on. They lie at
# `sought`, each `stride` words after the one before. at[i] becomes the position of the i-th, or -1 where `b`
# does not have it. Returns the start for the keys after them. The first values of the found keys are
# prefetched.
cdef Py_ssize_t probe(const Batch* b, const uint64_t* sought, int stride, Py_ssize_t count, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil
