# Raises OverflowError if a count that was read has overflowed.
cdef int refuse_overflow(int overflowed) except -1
