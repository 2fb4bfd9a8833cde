"""Scans JSON texts for the values that somebody reads, and checks the rest."""

from libcpp.vector cimport vector

from connectors.native.tokens cimport Scanner, Token


cdef struct Field:
    const char* name
    Py_ssize_t length
    int slot
    int node  # that of its members, or -1 if these are not read
    bint is_listed  # an array of one object stands for it


cdef struct Node:
    int first
    int count


cdef class Tree(Scanner):
    cdef vector[Field] fields
    cdef vector[Node] nodes
    cdef list names

    cdef const char* _object(
        self, const char* at, const char* stop, int node, Token* token, Token* tokens
    ) noexcept nogil
    cdef int _find(
        self, int first, int count, int likely, const char* name, Py_ssize_t length
    ) noexcept nogil
    cdef const char* _member(
        self, const char* at, const char* stop, const Field* field, Token* tokens
    ) noexcept nogil


cdef bint is_utf8(const char* at, const char* stop) noexcept nogil
cdef bint unescape(const Token* token, vector[char]* into) except -1 nogil
