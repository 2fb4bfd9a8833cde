# Merging row by row.

from ivm.trace.merging.merge_state cimport Merge, Side

# Merges row by row while that is what pays, if it does: `side` comes first with a run of so many keys, or of values
# of the `same` key, which both have. False if nothing was done.
cdef bint zip_sides(Merge* m, const Side* side, Py_ssize_t run, bint same) noexcept nogil
