"""Numbers, dates and times as texts, and numbers in Avro's binary form."""

from libc.stdint cimport int64_t, uint64_t
from libcpp.string cimport string

cdef int integer(string* into, int64_t value) except -1 nogil
cdef int natural(string* into, uint64_t value) except -1 nogil
cdef int decimal(string* into, const char* cell, int scale) except -1 nogil
cdef int date(string* into, int64_t days) except -1 nogil
cdef int clock(string* into, int64_t microseconds) except -1 nogil
cdef int moment(string* into, int64_t microseconds) except -1 nogil
cdef int varint(string* into, int64_t value) except -1 nogil
