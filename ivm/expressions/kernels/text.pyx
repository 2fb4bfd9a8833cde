"""Text kernels compute on strings; positions and lengths count characters of UTF-8, from 1.

Every row gets a valid word, '' where it is NULL or an error.
"""

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcmp
from libcpp.string cimport string

from ivm.values import letter_case

from ivm.rows.interner cimport view
from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, Register, fail, start_strict, wanted
from ivm.rows.words cimport decode_signed, encode_signed, int128_t

cdef extern from *:
    """
    // Appends n bytes; false where memory is short.
    static inline bool ivm_extend(std::string& text, const char* data, size_t n) noexcept {
        try {
            text.append(data, n);
        } catch (const std::exception&) {
            return false;
        }
        return true;
    }
    """
    bint extend "ivm_extend"(string& text, const char* data, size_t n) noexcept nogil

cdef extern from "find.hpp" namespace "ivm" nogil:
    const char* find_bytes(const char* text, const char* end, const char* what, int64_t n)


# The content of one row of a register.
cdef struct Text:
    const char* data
    Py_ssize_t n


cdef inline Text text_of(
    const Frame* f, const Register* register, Py_ssize_t i, char* buffer
) noexcept nogil:
    cdef Text text
    text.data = view(f.strings, register.words[i], buffer, &text.n)
    return text


cdef inline Py_ssize_t characters(const char* data, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t count = 0, i
    for i in range(n):
        count += starts_character(data[i])
    return count


cdef inline bint is_ascii(const Text* text) noexcept nogil:
    cdef char seen = 0
    cdef Py_ssize_t i
    for i in range(text.n):
        seen |= text.data[i]
    return (seen & 0x80) == 0


cdef inline void change_case(Frame* f, const Instruction* it, bint upper) noexcept nogil:
    """ASCII rows at once; the others afterwards, with the GIL for the whole vector."""
    cdef char buffer[8]
    cdef Text text
    cdef string changed
    cdef char first = b"a" if upper else b"A", byte
    cdef Py_ssize_t i, j
    cdef bint others = False
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = 0
        text = text_of(f, it.a, i, buffer)
        if not is_ascii(&text):
            others = True
            continue
        changed.clear()
        if not extend(changed, text.data, text.n):
            f.out_of_memory = True
            return
        for j in range(text.n):
            byte = text.data[j]
            if first <= byte <= first + 25:
                changed[j] = byte ^ 0x20
        put_string(f, it, i, changed.data(), text.n)
    if others:
        with gil:
            change_other_case(f, it, upper)


cdef void change_other_case(Frame* f, const Instruction* it, bint upper) noexcept:
    cdef char buffer[8]
    cdef Text text
    cdef Py_ssize_t i
    for i in range(f.n):
        text = text_of(f, it.a, i, buffer)
        if is_ascii(&text):
            continue
        try:
            content = text.data[:text.n].decode("utf-8", "replace")
            content = (letter_case.upper if upper else letter_case.lower)(content).encode()
        except MemoryError:
            f.out_of_memory = True
            return
        put_string(f, it, i, content, len(content))


cdef void lower(Frame* f, const Instruction* it) noexcept nogil:
    change_case(f, it, False)


cdef void upper(Frame* f, const Instruction* it) noexcept nogil:
    change_case(f, it, True)


cdef void trim(Frame* f, const Instruction* it) noexcept nogil:
    """Drops spaces: on the left if bit 0 of `p` is set, on the right if bit 1 is."""
    cdef char buffer[8]
    cdef Text text
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        text = text_of(f, it.a, i, buffer)
        while it.p & 1 and text.n and text.data[0] == b" ":
            text.data += 1
            text.n -= 1
        while it.p & 2 and text.n and text.data[text.n - 1] == b" ":
            text.n -= 1
        put_string(f, it, i, text.data, text.n)


cdef void concat(Frame* f, const Instruction* it) noexcept nogil:
    """Two or three arguments."""
    cdef char buffer[8]
    cdef Text text
    cdef string whole
    cdef bint kept
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        text = text_of(f, it.a, i, buffer)
        whole.clear()
        kept = extend(whole, text.data, text.n)
        text = text_of(f, it.b, i, buffer)
        kept = kept and extend(whole, text.data, text.n)
        if it.c != NULL:
            text = text_of(f, it.c, i, buffer)
            kept = kept and extend(whole, text.data, text.n)
        if not kept:
            f.out_of_memory = True
            return
        put_string(f, it, i, whole.data(), whole.size())


cdef void length(Frame* f, const Instruction* it) noexcept nogil:
    cdef char buffer[8]
    cdef Text text
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        text = text_of(f, it.a, i, buffer)
        it.out.words[i] = encode_signed(characters(text.data, text.n))


cdef void substring(Frame* f, const Instruction* it) noexcept nogil:
    """`c` characters from `b` on; positions before 1 count as absent characters."""
    cdef char buffer[8]
    cdef int64_t start, count
    cdef int128_t stop
    cdef const char* first
    cdef const char* last
    cdef const char* end
    cdef Text text
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = 0
        if not wanted(it.out, i):
            continue
        start = decode_signed(it.b.words[i])
        count = decode_signed(it.c.words[i])
        if count < 0:
            fail(it, i, it.message)
            continue
        if start < 1:
            stop = <int128_t> start + count
            count = <int64_t> (stop - 1) if stop > 1 else 0
            start = 1
        text = text_of(f, it.a, i, buffer)
        end = text.data + text.n
        first = skip_characters(text.data, end, start - 1)
        last = skip_characters(first, end, count)
        put_string(f, it, i, first, last - first)


cdef inline const char* find(
    const char* data, const char* end, const Text* what
) noexcept nogil:
    """The first occurrence of `what`, which is not empty, or NULL."""
    return find_bytes(data, end, what.data, what.n)


cdef void replace(Frame* f, const Instruction* it) noexcept nogil:
    """Every `b` in `a` by `c`; an empty `b` occurs nowhere."""
    cdef char text_buffer[8]
    cdef char old_buffer[8]
    cdef char new_buffer[8]
    cdef Text text, old, new
    cdef string changed
    cdef bint kept
    cdef const char* end
    cdef const char* at
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        text = text_of(f, it.a, i, text_buffer)
        old = text_of(f, it.b, i, old_buffer)
        new = text_of(f, it.c, i, new_buffer)
        end = text.data + text.n
        changed.clear()
        kept = True
        at = find(text.data, end, &old) if old.n else NULL
        while at != NULL and kept:
            kept = extend(changed, text.data, at - text.data) and extend(changed, new.data, new.n)
            text.data = at + old.n
            at = find(text.data, end, &old)
        if not kept or not extend(changed, text.data, end - text.data):
            f.out_of_memory = True
            return
        put_string(f, it, i, changed.data(), changed.size())


cdef Py_ssize_t occurrences(const Text* text, const Text* what) noexcept nogil:
    cdef const char* end = text.data + text.n
    cdef const char* at = find(text.data, end, what)
    cdef Py_ssize_t count = 0
    while at != NULL:
        count += 1
        at = find(at + what.n, end, what)
    return count


cdef Text part(Text text, const Text* separator, int64_t number) noexcept nogil:
    """Part `number` (from 1, or from the last: -1) between separators; '' beyond the ends."""
    cdef const char* end = text.data + text.n
    cdef const char* at
    if separator.n == 0:
        if number != 1 and number != -1:
            text.n = 0
        return text
    if number < 0:
        number += occurrences(&text, separator) + 2
    at = find(text.data, end, separator)
    while number > 1 and at != NULL:
        text.data = at + separator.n
        at = find(text.data, end, separator)
        number -= 1
    if number != 1:
        text.n = 0
    else:
        text.n = (end if at == NULL else at) - text.data
    return text


cdef void split_part(Frame* f, const Instruction* it) noexcept nogil:
    cdef char text_buffer[8]
    cdef char separator_buffer[8]
    cdef Text text, separator
    cdef int64_t number
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = 0
        number = decode_signed(it.c.words[i])
        if number == 0:
            fail(it, i, it.message)
            continue
        text = text_of(f, it.a, i, text_buffer)
        separator = text_of(f, it.b, i, separator_buffer)
        text = part(text, &separator, number)
        put_string(f, it, i, text.data, text.n)


cdef void position(Frame* f, const Instruction* it) noexcept nogil:
    cdef char text_buffer[8]
    cdef char what_buffer[8]
    cdef Text text, what
    cdef const char* at
    cdef Py_ssize_t i, found
    start_strict(f, it)
    for i in range(f.n):
        text = text_of(f, it.a, i, text_buffer)
        what = text_of(f, it.b, i, what_buffer)
        at = find(text.data, text.data + text.n, &what) if what.n else text.data
        found = 0
        if at != NULL:
            found = characters(text.data, at - text.data) + 1
        it.out.words[i] = encode_signed(found)


cdef void starts_with(Frame* f, const Instruction* it) noexcept nogil:
    cdef char text_buffer[8]
    cdef char what_buffer[8]
    cdef Text text, what
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        text = text_of(f, it.a, i, text_buffer)
        what = text_of(f, it.b, i, what_buffer)
        it.out.words[i] = what.n <= text.n and memcmp(text.data, what.data, what.n) == 0


# Counts the literal bytes at the beginning of a pattern.
cdef inline Py_ssize_t literal_length(const char* pattern, const char* end) noexcept nogil:
    cdef const char* p = pattern
    while p < end and p[0] != b"%" and p[0] != b"_" and p[0] != b"\\":
        p += 1
    return p - pattern


cdef bint matches(Text text, Text pattern) noexcept nogil:
    """LIKE: where what follows the last % fails, that takes one character more, and then as many as
    it takes until the literal that it begins with occurs."""
    cdef const char* s = text.data
    cdef const char* s_end = s + text.n
    cdef const char* p = pattern.data
    cdef const char* p_end = p + pattern.n
    cdef const char* literal
    cdef const char* retry_p = NULL
    cdef const char* retry_s = NULL
    cdef Py_ssize_t begins = 0
    while s < s_end:
        if p < p_end and p[0] == b"%":
            p += 1
            if p == p_end:
                return True
            retry_p = p
            begins = literal_length(p, p_end)
        elif p < p_end and p[0] == b"_":
            p += 1
            s = skip_characters(s, s_end, 1)
            continue
        else:
            if p < p_end:
                literal = p + 1 if p[0] == b"\\" else p
                if literal[0] == s[0]:
                    p = literal + 1
                    s += 1
                    continue
            if retry_p == NULL:
                return False
            s = skip_characters(retry_s, s_end, 1)
        s = find_bytes(s, s_end, retry_p, begins)
        if s == NULL:
            return False
        retry_s = s
        s += begins
        p = retry_p + begins
    while p < p_end and p[0] == b"%":
        p += 1
    return p == p_end


cdef void like(Frame* f, const Instruction* it) noexcept nogil:
    """`b` is a constant pattern that does not end in an escape."""
    cdef char text_buffer[8]
    cdef char pattern_buffer[8]
    cdef Text pattern = text_of(f, it.b, 0, pattern_buffer)
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = matches(text_of(f, it.a, i, text_buffer), pattern)


cdef bint ends_in_escape(const Text* pattern) noexcept nogil:
    cdef Py_ssize_t n = pattern.n
    while n and pattern.data[n - 1] == b"\\":
        n -= 1
    return (pattern.n - n) & 1


cdef void like_any(Frame* f, const Instruction* it) noexcept nogil:
    """`b` is a pattern of each row's own."""
    cdef char text_buffer[8]
    cdef char pattern_buffer[8]
    cdef Text pattern
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = 0
        pattern = text_of(f, it.b, i, pattern_buffer)
        if ends_in_escape(&pattern):
            fail(it, i, it.message)
        else:
            it.out.words[i] = matches(text_of(f, it.a, i, text_buffer), pattern)


def like_text(str text, str pattern):
    """Tells whether one text is LIKE a pattern (raises ValueError where that ends in an escape)."""
    cdef bytes given = text.encode()
    cdef bytes wanted = pattern.encode()
    cdef Text whole, form
    whole.data, whole.n = given, len(given)
    form.data, form.n = wanted, len(wanted)
    if ends_in_escape(&form):
        raise ValueError("a pattern that ends in an escape character")
    return bool(matches(whole, form))


KERNELS = {
    "lower": <uintptr_t> <Kernel> lower,
    "upper": <uintptr_t> <Kernel> upper,
    "trim": <uintptr_t> <Kernel> trim,
    "concat": <uintptr_t> <Kernel> concat,
    "length": <uintptr_t> <Kernel> length,
    "substring": <uintptr_t> <Kernel> substring,
    "replace": <uintptr_t> <Kernel> replace,
    "split_part": <uintptr_t> <Kernel> split_part,
    "position": <uintptr_t> <Kernel> position,
    "starts_with": <uintptr_t> <Kernel> starts_with,
    "like": <uintptr_t> <Kernel> like,
    "like_any": <uintptr_t> <Kernel> like_any,
}
