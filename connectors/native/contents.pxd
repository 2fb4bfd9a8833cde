"""Contents: the bytes of records, or none, wherever they are."""

from libc.stdint cimport int32_t, uint8_t


cdef class Contents:
    cdef object held
    cdef bytes last  # kept until the next is found
    cdef const char* data
    cdef const int32_t* ends
    cdef const uint8_t* valid
    cdef Py_ssize_t offset

    cdef bint find(self, Py_ssize_t i, const char** start, const char** stop) except -1
