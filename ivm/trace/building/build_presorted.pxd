# Presorted rows: ascending stretches are cut into ranges without being partitioned.

from ivm.trace.sorting.partition cimport Part, Ranges

# True if all rows of each of `count` parts ascend strictly, no diff is zero, and parts follow one another or
# alternate in long stretches. Then `ranges`, empty before, covers all rows as `ivm.trace.sorting.partition`
# would, but in the memory of the parts and with some more ranges than there are threads. Raises MemoryError;
# the caller releases `ranges` in any case.
cdef bint view_ranges(const Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil
