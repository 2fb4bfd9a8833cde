"""Look-ups of many keys in a batch that is much larger, with their cache misses at the same time.

A binary search waits for memory at each of its levels. Here the searches for a group of keys go
down level by level together, and each asks for its next line before the others take their steps;
so a level costs about one miss for the whole group, and not one for each key. Few keys ask for both lines
that may be the next, before they know which.
"""

from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch, first_update, first_val, key_at, val_at
from ivm.trace.times cimport compare_words

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil

cdef enum:
    MANY = 8        # keys, whose steps take as long as a miss


cdef Py_ssize_t probe(const Batch* b, const uint64_t* sought, int stride, Py_ssize_t count, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil:
    cdef Py_ssize_t end = likely_end(b, sought + (n - 1) * stride, count, n, start), length, half, next
    cdef int i
    length = end - start + (1 if end < b.keys else 0)
    for i in range(n):
        at[i] = start
    # The first key that is not below a sought one is always in [at[i], at[i] + length].
    while length > 1:
        half = length // 2
        length -= half
        next = max(length // 2 - 1, 0)
        if n < MANY:
            for i in range(n):
                prefetch(key_at(b, at[i] + next))
                prefetch(key_at(b, at[i] + half + next))
        if b.key_words == 1:
            for i in range(n):
                at[i] += half if b.key[at[i] + half - 1] < sought[i * stride] else 0
                if n >= MANY:
                    prefetch(b.key + at[i] + next)
        else:
            for i in range(n):
                at[i] += half if is_below(key_at(b, at[i] + half - 1), sought + i * stride,
                                          b.key_words) else 0
                if n >= MANY:
                    prefetch(key_at(b, at[i] + next))
    end = at[n - 1]
    _found(b, sought, stride, n, at)
    return end


# Whether a key is below another one. Most differ in their first word: nobody could foresee which way.
cdef inline bint is_below(const uint64_t* key, const uint64_t* other, int words) noexcept nogil:
    cdef bint below = key[0] < other[0]
    if key[0] == other[0]:
        below = compare_words(key + 1, other + 1, words - 1) < 0
    return below


# Where `n` of `count` keys, up to `last`, lie before, from `start` on: twice as far away as if all lay evenly,
# or at the end. To find out exactly would take one miss after the other.
cdef inline Py_ssize_t likely_end(const Batch* b, const uint64_t* last, Py_ssize_t count, int n,
                                  Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t end = start + 2 * n * ((b.keys - start) // count + 1)
    if end < b.keys and compare_words(key_at(b, end), last, b.key_words) >= 0:
        return end
    return b.keys


# Turns the positions of keys that are not there into -1, and asks for the values of the others.
cdef void _found(const Batch* b, const uint64_t* sought, int stride, int n,
                 Py_ssize_t* at) noexcept nogil:
    cdef int i
    for i in range(n):
        if at[i] == b.keys or compare_words(key_at(b, at[i]), sought + i * stride, b.key_words) != 0:
            at[i] = -1
        elif b.val_start != NULL:
            prefetch(b.val_start + at[i])
    for i in range(n):
        if at[i] >= 0:
            prefetch(val_at(b, first_val(b, at[i])))
            if b.update_start != NULL:
                prefetch(b.update_start + first_val(b, at[i]))
