"""Positions in the logs of databases, out of the tokens that tell them.

They are those of `connectors.envelopes.positions`.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp

from connectors.native.columns cimport to_long, whole
from connectors.native.tokens cimport Token

cdef int MOST_DIGITS = 18


cdef bint pair_of(const Token* token, uint64_t* place) noexcept nogil:
    r"""The numbers of a text as `[\"1\",\"2\"]` or `[null,\"2\"]`, where the second is both."""
    cdef const char* at = token.start
    cdef const char* stop = token.stop
    if stop - at < 2 or at[0] != c"[":
        return False
    at += 1
    if stop - at > 5 and memcmp(at, b"null,", 5) == 0:
        at = quoted(at + 5, stop, &place[1])
        place[0] = place[1]
    else:
        at = quoted(at, stop, &place[0])
        if at == NULL or at == stop or at[0] != c",":
            return False
        at = quoted(at + 1, stop, &place[1])
    return at != NULL and stop - at == 1 and at[0] == c"]"


cdef const char* quoted(const char* at, const char* stop, uint64_t* into) noexcept nogil:
    """The end of digits between quotes, escaped or not, and their number; NULL where they are else."""
    cdef bint is_escaped = at < stop and at[0] == c"\\"
    cdef const char* digits = at + 1 + is_escaped
    if stop - at < 4 or at[is_escaped] != c'"':
        return NULL
    at = digits
    into[0] = 0
    while at < stop and c"0" <= at[0] <= c"9":
        into[0] = into[0] * 10 + (at[0] - c"0")
        at += 1
    if at == digits or at - digits > MOST_DIGITS or stop - at < 2:
        return NULL
    if not is_escaped:
        if at[0] == c'"':
            return at + 1
        return NULL
    if at[0] == c"\\" and at[1] == c'"':
        return at + 2
    return NULL


cdef bint log_place(
    const char* start, const char* stop, const Token* pos, uint64_t* place
) noexcept nogil:
    """The numbers of a place in a MySQL log, `file.000007` and a position."""
    cdef const char* dot = stop
    cdef int64_t file = 0, at = 0
    while dot > start and dot[-1] != c".":
        dot -= 1
    if dot == start or not to_long(dot, stop, &file) or not whole(pos, &at):
        return False
    if file < 0 or at < 0:
        return False
    place[0], place[1] = file, at
    return True
