"""Positions in the logs of databases, out of the tokens that tell them."""

from libc.stdint cimport uint64_t

from connectors.native.tokens cimport Token


cdef bint pair_of(const Token* token, uint64_t* place) noexcept nogil
cdef bint log_place(
    const char* start, const char* stop, const Token* pos, uint64_t* place
) noexcept nogil
