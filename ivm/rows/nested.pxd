# Nested values, lists and structs, become byte strings in the order of the values.

from libc.stdint cimport int32_t, int64_t, uint64_t

from ivm.rows.interner cimport Strings
from ivm.rows.updates cimport Updates

# A growable buffer of bytes.
cdef struct Bytes:
    char* data
    size_t length
    size_t capacity

# The words of a list's element, or of a struct's field.
cdef struct Element:
    int words           # of one element
    bint interned       # a string's word, a list's or a struct's


cdef void release_bytes(Bytes* bytes) noexcept nogil

# Appends `n` bytes; -1 where memory is short.
cdef int append_bytes(Bytes* bytes, const char* data, size_t n) noexcept nogil

# Appends `copies` of one element, NULL where `words` is NULL; -1 where memory is short.
cdef int append_element(Bytes* bytes, const uint64_t* words, Element element, int64_t copies,
                        const Strings* strings) noexcept nogil

# Appends the elements of a list of `n` bytes as rows of a NULL mask and a value; -1 where memory is short.
cdef int read_elements(const char* data, Py_ssize_t n, Element element, Strings* strings,
                       Updates* rows) noexcept nogil

# Reads one element: its words, or a bit of `mask` where it is NULL. What comes after it; NULL where memory is short.
cdef const char* read_element(const char* data, Element element, Strings* strings, uint64_t* mask,
                              int bit, uint64_t* words) noexcept nogil

cdef Element element_of(object type_) except *
