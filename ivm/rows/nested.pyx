"""Nested values, lists and structs, become byte strings in the order of PostgreSQL's arrays and composites.

An element of a list, or a field of a struct, is a byte 1 and its value, or a byte 2 for NULL, so that
NULL is the greatest; the end is below any element. A number is its order-preserving words, big-endian.
A string, a list or a struct is its content with each byte 0 followed by 255, and two bytes 0 after it:
so no later byte changes the order of contents, and the string has no id of this process.

The list {1, NULL} of bigint is 01 8000000000000001 02: a value, its word, and NULL.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from ivm.rows.format import is_interned, words_of

from ivm.rows.interner cimport NO_STRING, Strings, intern, view
from ivm.rows.updates cimport Updates, push

cdef extern from *:
    uint64_t byteswap "__builtin_bswap64"(uint64_t) noexcept nogil

cdef enum:
    VALUE = 1
    NOTHING = 2     # NULL
    ESCAPED = 0xFF  # after a zero byte of a content


cdef Element element_of(object type_) except *:
    """Describe the words of elements, or of a field, of this type."""
    return Element(words_of(type_), is_interned(type_))


cdef void release_bytes(Bytes* bytes) noexcept nogil:
    free(bytes.data)
    bytes.data = NULL
    bytes.length = 0
    bytes.capacity = 0


# Makes room for `more` further bytes; -1 where memory is short.
cdef int _reserve(Bytes* bytes, size_t more) noexcept nogil:
    cdef size_t wanted = bytes.length + more
    cdef char* grown
    if wanted <= bytes.capacity:
        return 0
    wanted = max(wanted, 2 * bytes.capacity)
    grown = <char*> realloc(bytes.data, wanted)
    if grown == NULL:
        return -1
    bytes.data = grown
    bytes.capacity = wanted
    return 0


cdef int append_bytes(Bytes* bytes, const char* data, size_t n) noexcept nogil:
    if n == 0:
        return 0
    if _reserve(bytes, n) < 0:
        return -1
    memcpy(bytes.data + bytes.length, data, n)
    bytes.length += n
    return 0


cdef int append_element(Bytes* bytes, const uint64_t* words, Element element, int64_t copies,
                        const Strings* strings) noexcept nogil:
    cdef size_t start = bytes.length, size
    cdef uint64_t word
    cdef int64_t i
    cdef int w
    if _reserve(bytes, 1 + 8 * element.words) < 0:
        return -1
    bytes.data[bytes.length] = NOTHING if words == NULL else VALUE
    bytes.length += 1
    if words != NULL and element.interned:
        if _append_content(bytes, words[0], strings) < 0:
            return -1
    elif words != NULL:
        for w in range(element.words):
            word = byteswap(words[w])
            memcpy(bytes.data + bytes.length, &word, 8)
            bytes.length += 8
    size = bytes.length - start
    if _reserve(bytes, size * <size_t> (copies - 1)) < 0:
        return -1
    for i in range(1, copies):
        memcpy(bytes.data + bytes.length, bytes.data + start, size)
        bytes.length += size
    return 0


cdef int _append_content(Bytes* bytes, uint64_t word, const Strings* strings) noexcept nogil:
    cdef char buffer[8]
    cdef Py_ssize_t i, n
    cdef const char* content = view(strings, word, buffer, &n)
    if _reserve(bytes, 2 * n + 2) < 0:
        return -1
    for i in range(n):
        bytes.data[bytes.length] = content[i]
        bytes.length += 1
        if content[i] == 0:
            bytes.data[bytes.length] = <char> ESCAPED
            bytes.length += 1
    bytes.data[bytes.length] = 0
    bytes.data[bytes.length + 1] = 0
    bytes.length += 2
    return 0


cdef int read_elements(const char* data, Py_ssize_t n, Element element, Strings* strings,
                       Updates* rows) noexcept nogil:
    cdef const char* end = data + n
    cdef uint64_t* row
    while data != end:
        row = push(rows)
        if row == NULL:
            return -1
        row[0] = 0
        row[rows.stride - 1] = 1
        data = read_element(data, element, strings, row, 0, row + 1)
        if data == NULL:
            return -1
    return 0


cdef const char* read_element(const char* data, Element element, Strings* strings, uint64_t* mask,
                              int bit, uint64_t* words) noexcept nogil:
    cdef uint64_t word
    cdef int w
    if data[0] == NOTHING:
        mask[0] |= <uint64_t> 1 << bit
        for w in range(element.words):
            words[w] = 0
        return data + 1
    data += 1
    if element.interned:
        return _read_content(data, strings, words)
    for w in range(element.words):
        memcpy(&word, data, 8)
        words[w] = byteswap(word)
        data += 8
    return data


# Interns the content at `data`; returns what comes after it, or NULL where memory is short.
cdef const char* _read_content(const char* data, Strings* strings, uint64_t* word) noexcept nogil:
    cdef Bytes content
    cdef const char* zero
    content.data = NULL
    content.length = content.capacity = 0
    while True:
        zero = data
        while zero[0] != 0:
            zero += 1
        if _reserve(&content, zero - data + 1) < 0:
            release_bytes(&content)
            return NULL
        memcpy(content.data + content.length, data, zero - data)
        content.length += zero - data
        data = zero + 2
        if zero[1] == 0:
            break
        content.data[content.length] = 0
        content.length += 1
    word[0] = intern(strings, content.data, content.length)
    release_bytes(&content)
    if word[0] == NO_STRING:
        return NULL
    return data
