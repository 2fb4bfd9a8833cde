"""Scans lines of fields with a delimiter between them.

A line is refused where a field has a quote in it, be it doubled or astray.
"""

from libc.string cimport memchr, memcmp, memset
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE

from connectors.native.json_text cimport is_utf8
from connectors.native.tokens cimport NULLED, OBJECT, PLAIN, Scanner, Token


cdef class Line(Scanner):
    """A line of as many fields as there are `places`, each the slot of one.

    `null` is what an unquoted field without a value says.
    """

    cdef char delimiter
    cdef char quote
    cdef bytes null
    cdef const char* start_of_null
    cdef Py_ssize_t length_of_null
    cdef vector[int] places

    def __init__(self, bytes delimiter, bytes quote, bytes null, list places, int slots):
        self.delimiter, self.quote = delimiter[0], quote[0]
        self.null = null
        self.start_of_null = PyBytes_AS_STRING(null)
        self.length_of_null = PyBytes_GET_SIZE(null)
        self.places = places
        self.slots = slots

    cdef bint scan(self, const char* start, const char* stop, Token* tokens) noexcept nogil:
        """Find the tokens of the line between `start` and `stop`; whether it is taken."""
        cdef const char* at = start
        cdef size_t found = 0
        memset(tokens, 0, self.slots * sizeof(Token))
        if not is_utf8(start, stop):
            return False
        if stop > at and stop[-1] == c"\n":
            stop -= 1
        if stop > at and stop[-1] == c"\r":
            stop -= 1
        tokens[0].kind, tokens[0].members = OBJECT, <int> self.places.size()
        while True:
            if found == self.places.size():
                return False
            at = self._field(at, stop, &tokens[self.places[found]])
            found += 1
            if at == NULL or at == stop:
                return at == stop and found == self.places.size()
            at += 1

    cdef const char* _field(self, const char* at, const char* stop, Token* token) noexcept nogil:
        """The delimiter after the field that begins `at`, or the line's end."""
        cdef const char* end
        cdef bint is_quoted = at < stop and at[0] == self.quote
        cdef Py_ssize_t length
        token.kind = PLAIN
        if is_quoted:
            token.start = at + 1
            end = <const char*> memchr(at + 1, self.quote, stop - at - 1)
            if end == NULL:
                return NULL
            token.stop = end
            end += 1
            return end if end == stop or end[0] == self.delimiter else <const char*> NULL
        token.start = at
        end = <const char*> memchr(at, self.delimiter, stop - at)
        token.stop = stop if end == NULL else end
        length = token.stop - at
        if memchr(at, self.quote, length) != NULL:
            return NULL
        if length == self.length_of_null and memcmp(at, self.start_of_null, length) == 0:
            token.kind = NULLED
        return token.stop
