# Errors' texts as words: what went wrong, and in which row.

from libc.stdint cimport uint64_t

from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner

# The word of `message` with the row at `row`, of `layout`. Raises MemoryError.
cdef uint64_t complain(
    object message, const uint64_t* row, Layout layout, Interner interner
) except? 0xFFFFFFFFFFFFFFFF

# The text of a message that is a word.
cdef object text_of(uint64_t word, Interner interner)
