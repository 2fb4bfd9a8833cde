# Rows that need no dealing out.

from ivm.trace.sorting.partition cimport Part, Ranges

# Whether all rows of each of `count` parts ascend strictly, no diff is zero, and parts follow one another or
# take turns in long stretches. Then `ranges`, which are empty before, are of all rows: as `ivm.trace.sorting.partition`
# makes them, but in the memory of the parts, and some more than there are threads. Raises MemoryError; whatever
# comes of it, they are to be released.
cdef bint view_ranges(const Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil
