"""Look-ups of many keys in a batch that is much larger, with their cache misses at the same time.

A binary search waits for memory at each of its levels. Here the searches for a group of keys go
down level by level together, and each asks for its next line before the others take their steps;
so a level costs about one miss for the whole group, and not one for each key.
"""

from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch, first_update, first_val, key_at, seek_key, val_at
from ivm.trace.times cimport compare_words

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil


cdef Py_ssize_t probe(const Batch* b, const Batch* sought, Py_ssize_t first, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil:
    cdef Py_ssize_t end = b.keys, length, half
    cdef int i
    if first + n < sought.keys:     # others follow, which lie behind the last of these
        end = seek_key(b, key_at(sought, first + n - 1), start)
    length = end - start + (1 if end < b.keys else 0)
    for i in range(n):
        at[i] = start
    # The first key that is not below a sought one is always in [at[i], at[i] + length].
    while length > 1:
        half = length // 2
        for i in range(n):
            prefetch(key_at(b, at[i] + half // 2))
            prefetch(key_at(b, at[i] + half + half // 2))
        if b.key_words == 1:
            for i in range(n):
                at[i] += half if b.key[at[i] + half - 1] < sought.key[first + i] else 0
        else:
            for i in range(n):
                if compare_words(key_at(b, at[i] + half - 1), key_at(sought, first + i),
                                 b.key_words) < 0:
                    at[i] += half
        length -= half
    _found(b, sought, first, n, at)
    return end


# Turns the positions of keys that are not there into -1, and asks for the values of the others.
cdef void _found(const Batch* b, const Batch* sought, Py_ssize_t first, int n,
                 Py_ssize_t* at) noexcept nogil:
    cdef int i
    for i in range(n):
        if at[i] == b.keys or compare_words(key_at(b, at[i]), key_at(sought, first + i),
                                            b.key_words) != 0:
            at[i] = -1
        elif b.val_start != NULL:
            prefetch(b.val_start + at[i])
    for i in range(n):
        if at[i] >= 0:
            prefetch(val_at(b, first_val(b, at[i])))
            if b.update_start != NULL:
                prefetch(b.update_start + first_val(b, at[i]))
