"""Columns of typed values that grow by a token at a time, and become Arrow's."""

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from connectors.native.tokens cimport Token


cdef enum Form:
    INTEGERS
    DOUBLES
    FLOATS
    TRUTHS
    TEXTS
    BASE64
    DECIMALS
    UNSCALED  # decimals, as base64 of the bytes of their digits without a point
    COUNTS  # of days or microseconds, by integers or ISO texts
    VERBATIM  # JSON texts, to be read by somebody else
    CONTENTS  # bytes or texts, to be read by somebody else


cdef enum Clock:
    NEITHER
    DATE
    TIME
    NAIVE
    ZONED


cdef struct Shape:
    Form form
    int width  # bytes of a value; 0 of texts
    bint is_key
    bint is_nullable
    bint is_optional  # a record may lack it
    bint is_spelled  # a text stands for every value
    int64_t least, most  # of integers and counts
    int64_t times, parts  # a count is of `times / parts` days or microseconds
    bint is_guarded  # counts that look like milliseconds are refused
    Clock clock  # of ISO texts
    int precision, scale
    int written  # the scale of unscaled digits


cdef cppclass Column:
    Shape shape
    vector[char] data
    vector[int32_t] ends
    vector[char] valid
    Py_ssize_t nulls


cdef bint whole(const Token* token, int64_t* into) noexcept nogil
cdef bint to_long(const char* at, const char* stop, int64_t* into) noexcept nogil
cdef bint append(Column* column, const Token* token) except -1 nogil
cdef int append_null(Column* column) except -1 nogil
cdef int cut(Column* column, size_t rows) except -1 nogil
cdef object buffers_of(Column* column)
