# Rows that need no dealing out.

from ivm.trace.dealing cimport Part, Ranges

# Whether all rows of `count` parts, one part after the other, ascend strictly, and no diff is zero. Then `ranges`,
# which are empty before, are of them: as `ivm.trace.dealing` makes them, but in the memory of the parts, and some
# more than there are threads. Raises MemoryError; whatever comes of it, they are to be released.
cdef bint view_ranges(const Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil
