"""Tokens: the values of one record that somebody reads, as they stand in its bytes."""

from libc.stdint cimport int64_t
from libc.string cimport memcmp


cdef enum Kind:
    ABSENT
    NULLED
    FALSEHOOD
    TRUTH
    INTEGER  # digits, perhaps with a sign
    NUMBER  # with a fraction or an exponent
    PLAIN  # a text without escapes, between its quotes
    ESCAPED  # one with escapes
    OBJECT
    ARRAY
    LONG  # an integer in `number`
    REAL  # a float in `real`
    BYTES


cdef struct Token:
    Kind kind
    int members  # of an object that is read
    const char* start
    const char* stop
    int64_t number
    double real


cdef class Scanner:
    """A scanner finds the tokens of a record, `slots` of them; slot 0 is the whole.

    `has_brace`: a prefix before the value comes with a brace after it.
    """

    cdef readonly int slots
    cdef bint has_brace

    cdef bint scan(self, const char* start, const char* stop, Token* tokens) noexcept nogil


cdef inline bint is_text(const Token* token) noexcept nogil:
    return token.kind == PLAIN or token.kind == ESCAPED


cdef inline bint is_nothing(const Token* token) noexcept nogil:
    return token.kind == ABSENT or token.kind == NULLED


cdef inline bint is_word(const Token* token, const char* word) noexcept nogil:
    """Whether a token is this text."""
    cdef Py_ssize_t length = token.stop - token.start
    cdef Py_ssize_t i
    if token.kind != PLAIN:
        return False
    for i in range(length):
        if word[i] == 0 or word[i] != token.start[i]:
            return False
    return word[length] == 0


cdef inline bint is_same(const Token* one, const Token* other) noexcept nogil:
    """Whether two tokens surely stand for the same value."""
    cdef Py_ssize_t length = one.stop - one.start
    if is_nothing(one) or is_nothing(other):
        return is_nothing(one) and is_nothing(other)
    if one.kind != other.kind or one.kind == OBJECT or one.kind == ARRAY:
        return False
    if one.kind == LONG:
        return one.number == other.number
    if one.kind == REAL:
        return False
    if one.kind == TRUTH or one.kind == FALSEHOOD:
        return True
    return other.stop - other.start == length and memcmp(one.start, other.start, length) == 0
