# Branchless merging: rows of alternating sides are chosen one by one.

from ivm.trace.merging.merge_state cimport Merge, Side

# Merges row by row as long as that pays. `side` comes first with a run of `run` keys, or of values of the
# `same` key, which both have. False if nothing was done.
cdef bint zip_sides(Merge* m, const Side* side, Py_ssize_t run, bint same) noexcept nogil
