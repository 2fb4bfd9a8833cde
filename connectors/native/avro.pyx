"""Scans values in Avro's binary form for those that somebody reads, and checks the rest.

A value is taken only if fastavro would take it, and to the last byte.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from connectors.native.json_text cimport is_utf8
from connectors.native.tokens cimport (
    ARRAY,
    BYTES,
    FALSEHOOD,
    LONG,
    NULLED,
    OBJECT,
    PLAIN,
    REAL,
    TRUTH,
    Scanner,
    Token,
)

cdef enum Kind:
    NULL_TYPE
    BOOLEAN_TYPE
    LONG_TYPE
    FLOAT_TYPE
    DOUBLE_TYPE
    BYTES_TYPE
    STRING_TYPE
    FIXED_TYPE  # of `size` bytes
    ENUM_TYPE  # of `size` symbols
    ARRAY_TYPE
    MAP_TYPE
    UNION_TYPE
    RECORD_TYPE

_KINDS = {
    "null": Kind.NULL_TYPE,
    "boolean": Kind.BOOLEAN_TYPE,
    "int": Kind.LONG_TYPE,
    "long": Kind.LONG_TYPE,
    "float": Kind.FLOAT_TYPE,
    "double": Kind.DOUBLE_TYPE,
    "bytes": Kind.BYTES_TYPE,
    "string": Kind.STRING_TYPE,
    "fixed": Kind.FIXED_TYPE,
    "enum": Kind.ENUM_TYPE,
    "array": Kind.ARRAY_TYPE,
    "map": Kind.MAP_TYPE,
    "union": Kind.UNION_TYPE,
    "record": Kind.RECORD_TYPE,
}

cdef struct Step:
    Kind kind
    int slot
    int64_t size
    int first
    int count


cdef class Program(Scanner):
    """A program reads values of one schema: each step a type, of which step 0 is the whole.

    A step is a kind, a slot or -1, a size, and the steps of the types within it, which come later.
    """

    cdef vector[Step] steps
    cdef vector[int] within

    def __init__(self, list steps, int slots):
        cdef Step step
        self.slots = slots
        for kind, slot, size, inner in steps:
            step = Step(_KINDS[kind], slot, size, <int> self.within.size(), len(inner))
            self.steps.push_back(step)
            for one in inner:
                self.within.push_back(one)

    cdef bint scan(self, const char* start, const char* stop, Token* tokens) noexcept nogil:
        """Find the tokens of the value between `start` and `stop`; whether it is taken."""
        cdef Token unread
        memset(tokens, 0, self.slots * sizeof(Token))
        return self._value(start, stop, 0, tokens, &unread) == stop

    cdef const char* _value(
        self, const char* at, const char* stop, int number, Token* tokens, Token* unread
    ) noexcept nogil:
        """The end of the value of a step that begins `at`; NULL where it is refused."""
        cdef const Step* step = &self.steps[number]
        cdef Token* token = unread if step.slot < 0 else &tokens[step.slot]
        cdef int64_t size = 0
        cdef float narrow
        cdef int i
        if step.kind == RECORD_TYPE:
            token.kind, token.start, token.members = OBJECT, at, step.count
            for i in range(step.count):
                at = self._value(at, stop, self.within[step.first + i], tokens, unread)
                if at == NULL:
                    return NULL
            return at
        if step.kind == UNION_TYPE:
            at = long_at(at, stop, &size)
            if at == NULL or not 0 <= size < step.count:
                return NULL
            return self._value(at, stop, self.within[step.first + size], tokens, unread)
        if step.kind == NULL_TYPE:
            token.kind = NULLED
            return at
        if step.kind == LONG_TYPE:
            token.kind = LONG
            return long_at(at, stop, &token.number)
        if step.kind == STRING_TYPE or step.kind == BYTES_TYPE:
            at = long_at(at, stop, &size)
            if at == NULL or not 0 <= size <= stop - at:
                return NULL
            token.start, token.stop = at, at + size
            token.kind = BYTES if step.kind == BYTES_TYPE else PLAIN
            if step.kind == STRING_TYPE and not is_utf8(at, at + size):
                return NULL
            return at + size
        if step.kind == BOOLEAN_TYPE:
            if at == stop or not 0 <= at[0] <= 1:
                return NULL
            token.kind = TRUTH if at[0] else FALSEHOOD
            return at + 1
        if step.kind == DOUBLE_TYPE:
            if stop - at < 8:
                return NULL
            token.kind = REAL
            memcpy(&token.real, at, 8)
            return at + 8
        if step.kind == FLOAT_TYPE:
            if stop - at < 4:
                return NULL
            memcpy(&narrow, at, 4)
            token.kind, token.real = REAL, narrow
            return at + 4
        if step.kind == FIXED_TYPE:
            if stop - at < step.size:
                return NULL
            token.kind, token.start, token.stop = BYTES, at, at + step.size
            return at + step.size
        if step.kind == ENUM_TYPE:
            at = long_at(at, stop, &size)
            token.kind = ARRAY  # nobody reads it
            if at == NULL or not 0 <= size < step.size:
                return NULL
            return at
        token.kind = ARRAY
        return self._blocks(at, stop, step, tokens, unread)

    cdef const char* _blocks(
        self, const char* at, const char* stop, const Step* step, Token* tokens, Token* unread
    ) noexcept nogil:
        """The end of an array or a map, whose members nobody reads."""
        cdef int64_t count = 0, size = 0
        cdef int item = self.within[step.first]
        cdef Token name
        while True:
            at = long_at(at, stop, &count)
            if at == NULL or count == 0:
                return at
            if count < 0:
                at = long_at(at, stop, &size)
                if at == NULL:
                    return NULL
                count = -count
            if not 0 < count <= stop - at:  # each takes a byte, if all is well
                return NULL
            while count:
                if step.kind == MAP_TYPE:
                    at = long_at(at, stop, &size)
                    if at == NULL or not 0 <= size <= stop - at or not is_utf8(at, at + size):
                        return NULL
                    at += size
                at = self._value(at, stop, item, tokens, &name)
                if at == NULL:
                    return NULL
                count -= 1


cdef inline const char* long_at(const char* at, const char* stop, int64_t* into) noexcept nogil:
    """The end of the integer that begins `at`."""
    cdef uint64_t found = 0
    cdef int shift = 0
    while at < stop and shift < 63:
        found |= <uint64_t> (at[0] & 0x7F) << shift
        if not at[0] & 0x80:
            into[0] = <int64_t> (found >> 1) ^ -<int64_t> (found & 1)
            return at + 1
        at += 1
        shift += 7
    # The tenth byte has the last bit.
    if at == stop or not 0 <= at[0] <= 1:
        return NULL
    found |= <uint64_t> at[0] << 63
    into[0] = <int64_t> (found >> 1) ^ -<int64_t> (found & 1)
    return at + 1
