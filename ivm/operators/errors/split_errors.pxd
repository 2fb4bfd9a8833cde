from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates


cdef class Settling:
    cdef Packing packing
    cdef Packing naming
    cdef Layout named
    cdef Interner interner
    cdef vector[uint64_t] row
    # Appends the row of `key` and `result` to `out`, or its message to `errors`. A result is a word for an
    # error and then a value; `when` is a time and a diff.
    cdef int settle(self, const uint64_t* key, const uint64_t* result, const uint64_t* when,
                    Updates* out, Updates* errors) except -1 nogil
