"""Tokens: the values of one record that somebody reads, as they stand in its bytes."""


cdef class Scanner:
    cdef bint scan(self, const char* start, const char* stop, Token* tokens) noexcept nogil:
        """Find the tokens of the value between `start` and `stop`; whether it is taken."""
        return False
