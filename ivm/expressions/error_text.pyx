"""Error texts are interned as words: the message, and the row's values."""

from libc.stdint cimport uint64_t

from ivm.expressions.row_text import in_row

from ivm.rows.codec cimport decode
from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport NO_STRING, Interner


cdef uint64_t complain(
    object message, const uint64_t* row, Layout layout, Interner interner
) except? 0xFFFFFFFFFFFFFFFF:
    content = in_row(message, decode(row, 1, layout.words, layout, interner)).encode()
    cdef uint64_t word = interner.encode(content, len(content))
    if word == NO_STRING:
        raise MemoryError("no memory for an error's text")
    return word


cdef object text_of(uint64_t word, Interner interner):
    cdef char buffer[8]
    cdef Py_ssize_t n
    cdef const char* content = interner.view(word, buffer, &n)
    return content[:n].decode()
