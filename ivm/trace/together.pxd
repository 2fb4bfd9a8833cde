# Batches that several threads make together, each a range of the keys.

from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch
from ivm.trace.dealing cimport Part

# The batch of all updates of `count` parts, in any order, at most MOST_UPDATES: it may be empty. Rows begin
# with `key_words` of a key. Raises MemoryError.
cdef Batch* build_together(Part* parts, int count, int key_words, int threads) except NULL nogil

# The sum of two batches of at least one update each, with every time joined with `since`; it may be empty.
# Raises MemoryError.
cdef Batch* merge_together(Batch* a, Batch* b, const uint64_t* since, int threads) except NULL nogil
