from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch

# The batch of updates in any order, at most MOST_UPDATES, whose rows are a key's words and then a value's: it may
# be empty. They are lost. NULL where memory is short.
cdef Batch* build_unsorted(Updates* updates, int key_words) noexcept nogil

# The same of one update or more that were dealt out by leading varying bits; `ends` are those of the buckets.
cdef Batch* build_dealt(Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                        int key_words) noexcept nogil

# --- for who builds one batch in several parts ---

# What came of appending rows to a batch.
cdef enum Appended:
    APPENDED
    SEVERAL_TIMES       # a batch of one time cannot have them
    NO_MEMORY

# Appends what was dealt out to a batch with room for it, of one time and no diffs. The diffs go to `diffs`, unless
# all are 1.
cdef Appended append_dealt(Batch* b, Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                           Updates* diffs) noexcept nogil
