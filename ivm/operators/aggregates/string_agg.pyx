"""The aggregate `join` concatenates all texts of a group in order."""

from libc.stdint cimport int64_t, uint64_t

from ivm.operators.aggregates.collect cimport Gathering
from ivm.rows.nested cimport append_bytes
from ivm.rows.interner cimport view


cdef class StringAgg(Gathering):
    """Joins texts with `separator` between them."""

    cdef bytes separator
    cdef const char* parting    # its bytes

    def __init__(self, *gathered, bytes separator):
        super().__init__(*gathered)
        self.separator = separator
        self.between = len(separator)
        self.parting = separator

    cdef int gather(self, const uint64_t* words, int64_t copies) noexcept nogil:
        cdef char buffer[8]
        cdef Py_ssize_t n
        cdef const char* text = view(self.interner.strings, words[0], buffer, &n)
        cdef int64_t i
        for i in range(copies):
            if self.members > 0 and append_bytes(&self.bytes, self.parting, self.between) < 0:
                return -1
            if append_bytes(&self.bytes, text, n) < 0:
                return -1
            self.members += 1
        return 0
