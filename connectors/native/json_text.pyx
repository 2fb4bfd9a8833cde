"""Scans JSON texts for the values that somebody reads, and checks the rest.

A text is taken only if any reader of JSON would take it, and in one way: it is refused for what it
has twice among what is read, for names with escapes, for numbers that no double holds, for nesting
beyond some depth, for half a surrogate pair, for bytes that are not UTF-8. Who refuses it must ask
a reader that takes its time.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset
from libcpp.vector cimport vector

from connectors.native.tokens cimport (
    ABSENT,
    ARRAY,
    ESCAPED,
    FALSEHOOD,
    INTEGER,
    NULLED,
    NUMBER,
    OBJECT,
    PLAIN,
    TRUTH,
    Kind,
    Scanner,
    Token,
)

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

# Nesting of what is not read.
cdef int DEEPEST = 64
# Bytes of a number, and digits of its exponent, that leave it far from a double's bounds.
cdef int LONGEST_NUMBER = 40
cdef int LONGEST_EXPONENT = 2

cdef uint64_t ONES = 0x0101010101010101
cdef uint64_t HIGHS = 0x8080808080808080


cdef class Tree(Scanner):
    """The fields of a text that are read, each with a slot for its token; slot 0 is the whole.

    `fields` are those of the object that a text is: a name, a slot, the fields of its members or
    None, and whether it is an array of one object with these members.
    """

    def __init__(self, list fields, int slots):
        self.names = []
        self.slots = slots
        self.has_brace = True
        self._add(fields)

    def _add(self, list fields):
        cdef int node = <int> self.nodes.size()
        cdef Node made = Node(<int> self.fields.size(), len(fields))
        cdef Field field
        self.nodes.push_back(made)
        for name, slot, members, is_listed in fields:
            content = name.encode("utf-8", "surrogatepass")
            self.names.append(content)
            field = Field(content, len(content), slot, -1, is_listed)
            self.fields.push_back(field)
        for index, (_, _, members, _) in enumerate(fields):
            if members is not None:
                self.fields[made.first + index].node = self._add(members)
        return node

    cdef bint scan(self, const char* start, const char* stop, Token* tokens) noexcept nogil:
        """Find the tokens of the text between `start` and `stop`; whether it is taken."""
        cdef const char* at
        memset(tokens, 0, self.slots * sizeof(Token))
        if not is_utf8(start, stop):
            return False
        at = past_space(start, stop)
        if at == stop:
            return False
        if at[0] == c"{":
            at = self._object(at, stop, 0, tokens, tokens)
        else:
            at = past_value(at, stop, 0, tokens)
        return at != NULL and past_space(at, stop) == stop

    cdef const char* _object(
        self, const char* at, const char* stop, int node, Token* token, Token* tokens
    ) noexcept nogil:
        """The end of the object that begins `at`, whose members are those of `node`."""
        cdef int first = self.nodes[node].first, count = self.nodes[node].count, likely = 0, index
        cdef const Field* field
        cdef const char* name
        cdef const char* end
        cdef Token unread
        cdef bint is_escaped
        token.kind = OBJECT
        token.start = at
        at = past_space(at + 1, stop)
        if at < stop and at[0] == c"}":
            token.stop = at + 1
            return at + 1
        while at < stop and at[0] == c'"':
            name = at + 1
            end = end_of_string(name, stop, &is_escaped)
            if end == NULL or is_escaped:
                return NULL
            at = past_space(end + 1, stop)
            if at == stop or at[0] != c":":
                return NULL
            at = past_space(at + 1, stop)
            if at == stop:
                return NULL
            index = self._find(first, count, likely, name, end - name)
            if index < 0:
                at = past_value(at, stop, 0, &unread)
            else:
                likely = index + 1
                at = self._member(at, stop, &self.fields[first + index], tokens)
            if at == NULL:
                return NULL
            token.members += 1
            at = past_space(at, stop)
            if at == stop:
                return NULL
            if at[0] == c"}":
                token.stop = at + 1
                return at + 1
            if at[0] != c",":
                return NULL
            at = past_space(at + 1, stop)
        return NULL

    cdef int _find(
        self, int first, int count, int likely, const char* name, Py_ssize_t length
    ) noexcept nogil:
        """The place of a name among these fields, which may be `likely`; or -1."""
        cdef const Field* fields = self.fields.data() + first
        cdef int i
        if likely < count and fields[likely].length == length:
            if memcmp(fields[likely].name, name, length) == 0:
                return likely
        for i in range(count):
            if fields[i].length == length and memcmp(fields[i].name, name, length) == 0:
                return i
        return -1

    cdef const char* _member(
        self, const char* at, const char* stop, const Field* field, Token* tokens
    ) noexcept nogil:
        """The end of a field's value that begins `at`."""
        cdef Token* token = &tokens[field.slot]
        cdef const char* begin = at
        if token.kind != ABSENT:
            return NULL
        if field.node < 0 or not (at[0] == c"{" or (at[0] == c"[" and field.is_listed)):
            return past_value(at, stop, 0, token)
        if at[0] == c"{":
            return self._object(at, stop, field.node, token, tokens)
        at = past_space(at + 1, stop)
        if at == stop or at[0] != c"{":
            return NULL
        at = self._object(at, stop, field.node, token, tokens)
        if at == NULL:
            return NULL
        at = past_space(at, stop)
        if at == stop or at[0] != c"]":
            return NULL
        token.kind = ARRAY
        token.start, token.stop = begin, at + 1
        return at + 1


cdef inline const char* past_space(const char* at, const char* stop) noexcept nogil:
    while at < stop and (at[0] == c" " or at[0] == c"\n" or at[0] == c"\r" or at[0] == c"\t"):
        at += 1
    return at


cdef const char* past_value(const char* at, const char* stop, int depth, Token* token) noexcept nogil:
    """The end of any value that begins `at`, before `stop`; NULL where it is refused."""
    cdef char first = at[0]
    cdef bint is_escaped
    token.start = at
    if first == c'"':
        token.start = at + 1
        at = end_of_string(at + 1, stop, &is_escaped)
        token.kind = ESCAPED if is_escaped else PLAIN
        token.stop = at
        if at == NULL:
            return NULL
        return at + 1
    if first == c"{":
        token.kind = OBJECT
        at = past_members(at, stop, depth, True)
    elif first == c"[":
        token.kind = ARRAY
        at = past_members(at, stop, depth, False)
    elif first == c"n":
        token.kind = NULLED
        at = past_word(at, stop, b"null", 4)
    elif first == c"t":
        token.kind = TRUTH
        at = past_word(at, stop, b"true", 4)
    elif first == c"f":
        token.kind = FALSEHOOD
        at = past_word(at, stop, b"false", 5)
    else:
        at = past_number(at, stop, &token.kind)
    token.stop = at
    return at


cdef const char* past_members(
    const char* at, const char* stop, int depth, bint is_object
) noexcept nogil:
    """The end of an object or an array that begins `at`."""
    cdef char last = c"}" if is_object else c"]"
    cdef Token unread
    cdef bint is_escaped
    if depth == DEEPEST:
        return NULL
    at = past_space(at + 1, stop)
    if at < stop and at[0] == last:
        return at + 1
    while at < stop:
        if is_object:
            if at[0] != c'"':
                return NULL
            at = end_of_string(at + 1, stop, &is_escaped)
            if at == NULL:
                return NULL
            at = past_space(at + 1, stop)
            if at == stop or at[0] != c":":
                return NULL
            at = past_space(at + 1, stop)
            if at == stop:
                return NULL
        at = past_value(at, stop, depth + 1, &unread)
        if at == NULL:
            return NULL
        at = past_space(at, stop)
        if at == stop:
            return NULL
        if at[0] == last:
            return at + 1
        if at[0] != c",":
            return NULL
        at = past_space(at + 1, stop)
    return NULL


cdef inline const char* past_word(
    const char* at, const char* stop, const char* word, int length
) noexcept nogil:
    if stop - at >= length and memcmp(at, word, length) == 0:
        return at + length
    return NULL


cdef inline bint is_digit(char letter) noexcept nogil:
    return c"0" <= letter <= c"9"


cdef const char* past_number(const char* at, const char* stop, Kind* kind) noexcept nogil:
    cdef const char* start = at
    cdef const char* digits
    kind[0] = INTEGER
    if at[0] == c"-":
        at += 1
    digits = at
    while at < stop and is_digit(at[0]):
        at += 1
    if at == digits or (digits[0] == c"0" and at - digits > 1):
        return NULL
    if at < stop and at[0] == c".":
        kind[0] = NUMBER
        at += 1
        digits = at
        while at < stop and is_digit(at[0]):
            at += 1
        if at == digits:
            return NULL
    if at < stop and (at[0] == c"e" or at[0] == c"E"):
        kind[0] = NUMBER
        at += 1
        if at < stop and (at[0] == c"+" or at[0] == c"-"):
            at += 1
        digits = at
        while at < stop and is_digit(at[0]):
            at += 1
        if at == digits or at - digits > LONGEST_EXPONENT:
            return NULL
    if at - start <= LONGEST_NUMBER:
        return at
    return NULL


cdef const char* end_of_string(const char* at, const char* stop, bint* is_escaped) noexcept nogil:
    """The closing quote of the string whose first letter is `at`."""
    cdef uint64_t word, quotes, slashes, special
    is_escaped[0] = False
    while True:
        while stop - at >= 8:
            memcpy(&word, at, 8)
            quotes = word ^ (ONES * c'"')
            slashes = word ^ (ONES * c"\\")
            special = ((quotes - ONES) & ~quotes) | ((slashes - ONES) & ~slashes)
            special = (special | ((word - ONES * 0x20) & ~word)) & HIGHS
            if special:
                at += __builtin_ctzll(special) >> 3
                break
            at += 8
        while at < stop and at[0] != c'"' and at[0] != c"\\" and <unsigned char> at[0] >= 0x20:
            at += 1
        if at == stop or <unsigned char> at[0] < 0x20:
            return NULL
        if at[0] == c'"':
            return at
        is_escaped[0] = True
        at = past_escape(at, stop)
        if at == NULL:
            return NULL


cdef const char* past_escape(const char* at, const char* stop) noexcept nogil:
    """The end of an escape, or of the two that make a pair, which begins `at`."""
    cdef uint32_t unit
    if stop - at < 2:
        return NULL
    if at[1] != c"u":
        if at[1] in b'"\\/bfnrt':
            return at + 2
        return NULL
    if not unit_of(at, stop, &unit) or 0xDC00 <= unit < 0xE000:
        return NULL
    if 0xD800 <= unit < 0xDC00:
        if not unit_of(at + 6, stop, &unit) or not 0xDC00 <= unit < 0xE000:
            return NULL
        return at + 12
    return at + 6


cdef bint unit_of(const char* at, const char* stop, uint32_t* unit) noexcept nogil:
    """The number of an escape of four hexadecimal digits."""
    cdef int i
    cdef char digit
    if stop - at < 6 or at[0] != c"\\" or at[1] != c"u":
        return False
    unit[0] = 0
    for i in range(2, 6):
        digit = at[i]
        if is_digit(digit):
            unit[0] = unit[0] * 16 + (digit - c"0")
        elif c"a" <= digit <= c"f":
            unit[0] = unit[0] * 16 + (digit - c"a" + 10)
        elif c"A" <= digit <= c"F":
            unit[0] = unit[0] * 16 + (digit - c"A" + 10)
        else:
            return False
    return True


cdef bint unescape(const Token* token, vector[char]* into) except -1 nogil:
    """Append the letters that a text with escapes stands for."""
    cdef const char* at = token.start
    cdef const char* run
    cdef uint32_t unit = 0, low = 0
    while at < token.stop:
        run = at
        while at < token.stop and at[0] != c"\\":
            at += 1
        into.insert(into.end(), run, at)
        if at == token.stop:
            break
        if at[1] != c"u":
            into.push_back(letter_of(at[1]))
            at += 2
            continue
        unit_of(at, token.stop, &unit)
        at += 6
        if 0xD800 <= unit < 0xDC00:
            unit_of(at, token.stop, &low)
            at += 6
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        append_letter(unit, into)
    return True


cdef inline char letter_of(char escaped) noexcept nogil:
    if escaped == c"n":
        return c"\n"
    if escaped == c"t":
        return c"\t"
    if escaped == c"r":
        return c"\r"
    if escaped == c"b":
        return c"\b"
    if escaped == c"f":
        return c"\f"
    return escaped


cdef int append_letter(uint32_t point, vector[char]* into) except -1 nogil:
    """Append a code point in UTF-8."""
    if point < 0x80:
        into.push_back(<char> point)
        return 0
    if point < 0x800:
        into.push_back(<char> (0xC0 | point >> 6))
    else:
        if point < 0x10000:
            into.push_back(<char> (0xE0 | point >> 12))
        else:
            into.push_back(<char> (0xF0 | point >> 18))
            into.push_back(<char> (0x80 | point >> 12 & 0x3F))
        into.push_back(<char> (0x80 | point >> 6 & 0x3F))
    into.push_back(<char> (0x80 | point & 0x3F))
    return 0


cdef bint is_utf8(const char* at, const char* stop) noexcept nogil:
    """Whether bytes are UTF-8, without surrogates or longer forms than needed."""
    cdef uint64_t word
    cdef unsigned char lead, least, most
    cdef int more
    while True:
        while stop - at >= 8:
            memcpy(&word, at, 8)
            if word & HIGHS:
                break
            at += 8
        if at == stop:
            return True
        lead = <unsigned char> at[0]
        at += 1
        if lead < 0x80:
            continue
        least, most = 0x80, 0xBF
        if 0xC2 <= lead <= 0xDF:
            more = 1
        elif 0xE0 <= lead <= 0xEF:
            more = 2
            if lead == 0xE0:
                least = 0xA0
            elif lead == 0xED:
                most = 0x9F
        elif 0xF0 <= lead <= 0xF4:
            more = 3
            if lead == 0xF0:
                least = 0x90
            elif lead == 0xF4:
                most = 0x8F
        else:
            return False
        if stop - at < more:
            return False
        while more:
            if not least <= <unsigned char> at[0] <= most:
                return False
            least, most = 0x80, 0xBF
            at += 1
            more -= 1
