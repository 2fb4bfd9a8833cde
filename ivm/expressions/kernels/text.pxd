# Shared code of kernels that make strings.

from ivm.rows.interner cimport NO_STRING, intern
from ivm.expressions.kernels.vectors cimport Frame, Instruction, wanted


# Row i becomes these bytes, unless it is NULL or an error; where they cannot be kept, the frame is told.
cdef inline void put_string(
    Frame* f, const Instruction* it, Py_ssize_t i, const char* data, Py_ssize_t n
) noexcept nogil:
    it.out.words[i] = intern(f.strings, data, n) if wanted(it.out, i) else 0
    if it.out.words[i] == NO_STRING:
        it.out.words[i] = 0
        f.out_of_memory = True


cdef inline bint starts_character(char byte) noexcept nogil:
    return (byte & 0xC0) != 0x80


# The start of the `count`-th next character after `data`, or `end`.
cdef inline const char* skip_characters(
    const char* data, const char* end, Py_ssize_t count
) noexcept nogil:
    while count > 0 and data < end:
        data += 1
        while data < end and not starts_character(data[0]):
            data += 1
        count -= 1
    return data
