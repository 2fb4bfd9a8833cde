# Parallel building: several threads build one batch, each a range of the keys.

from ivm.trace.batch cimport Batch
from ivm.trace.sorting.partition cimport Part

# Builds the batch of all updates of `count` parts, in any order, at most MOST_UPDATES: it may be empty. Rows
# begin with `key_words` of a key, at least one. Raises MemoryError.
cdef Batch* build_together(Part* parts, int count, int key_words, int threads) except NULL nogil
