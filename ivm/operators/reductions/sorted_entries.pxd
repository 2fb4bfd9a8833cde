# A sorted array of entries of `stride` words each: the leading words are compared, the last is a diff. Its
# memory comes from the slab that all calls are given.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from ivm.memory.slab cimport Slab, give_words, room_for, take_words
from ivm.trace.counts cimport add_to
from ivm.trace.times cimport compare_words

cdef struct Entries:
    uint64_t* words
    uint32_t length         # entries held
    uint32_t capacity       # entries that fit


cdef inline uint64_t* entry_at(const Entries* entries, uint32_t i, int stride) noexcept nogil:
    return entries.words + <size_t> i * stride


# Finds the first entry whose leading `compared` words are not below those of `wanted`.
cdef inline uint32_t lower_bound(const Entries* entries, const uint64_t* wanted, int compared,
                                 int stride) noexcept nogil:
    cdef uint32_t low = 0, high = entries.length, middle
    while low < high:
        middle = (low + high) // 2
        if compare_words(entry_at(entries, middle, stride), wanted, compared) < 0:
            low = middle + 1
        else:
            high = middle
    return low


# Makes room for `capacity` entries, at least 1 and as many as there are; -1 where memory is short.
cdef inline int widen(Entries* entries, uint32_t capacity, int stride, Slab* slab) noexcept nogil:
    cdef size_t words = <size_t> capacity * stride
    cdef uint64_t* grown = take_words(slab, words)
    if grown == NULL:
        return -1
    if entries.capacity > 0:
        memcpy(grown, entries.words, <size_t> entries.length * stride * sizeof(uint64_t))
        give_words(slab, entries.words, <size_t> entries.capacity * stride)
    entries.words = grown
    entries.capacity = <uint32_t> (room_for(words) // stride)
    return 0


# Makes room for an entry at `place`, with undefined words; NULL where memory is short.
cdef inline uint64_t* open_at(Entries* entries, uint32_t place, int stride,
                              Slab* slab) noexcept nogil:
    cdef uint64_t* entry
    if entries.length == entries.capacity and widen(
            entries, entries.capacity + entries.capacity // 2 + 2, stride, slab) < 0:
        return NULL
    entry = entry_at(entries, place, stride)
    memmove(entry + stride, entry,
            <size_t> (entries.length - place) * stride * sizeof(uint64_t))
    entries.length += 1
    return entry


# Adds the diff of `entry` to that of the equal one, which is made or vanishes; -1 where memory is short.
cdef inline int add_entry(Entries* entries, const uint64_t* entry, int stride,
                          Slab* slab) noexcept nogil:
    cdef uint32_t place = lower_bound(entries, entry, stride - 1, stride)
    cdef uint64_t* found = entry_at(entries, place, stride)
    if place < entries.length and compare_words(found, entry, stride - 1) == 0:
        add_to(&found[stride - 1], entry[stride - 1])
        if found[stride - 1] == 0:
            entries.length -= 1
            memmove(found, found + stride,
                    <size_t> (entries.length - place) * stride * sizeof(uint64_t))
        return 0
    found = open_at(entries, place, stride, slab)
    if found == NULL:
        return -1
    memcpy(found, entry, stride * sizeof(uint64_t))
    return 0


# Adds `n` entries at `added`, which ascend strictly, as `add_entry` would; -1 where memory is short. Works
# from the end, so that entries before the first of them do not move.
cdef inline int merge_entries(Entries* entries, const uint64_t* added, uint32_t n, int stride,
                              Slab* slab) noexcept nogil:
    cdef size_t bytes = stride * sizeof(uint64_t)
    cdef uint32_t i = entries.length, gap, total = entries.length + n
    cdef uint64_t* target
    cdef uint64_t diff
    cdef int order
    if total > entries.capacity and widen(
            entries, max(total, entries.capacity + entries.capacity // 2), stride, slab) < 0:
        return -1
    gap = total                     # entries from here on are written
    while n > 0:
        order = 1 if i == 0 else compare_words(added + <size_t> (n - 1) * stride,
                                               entry_at(entries, i - 1, stride), stride - 1)
        target = entry_at(entries, gap - 1, stride)
        if order == 0:
            diff = added[<size_t> n * stride - 1]
            add_to(&diff, entry_at(entries, i - 1, stride)[stride - 1])
            n -= 1
            i -= 1
            if diff != 0:
                memcpy(target, added + <size_t> n * stride, bytes)
                target[stride - 1] = diff
                gap -= 1
        elif order > 0:
            n -= 1
            gap -= 1
            memcpy(target, added + <size_t> n * stride, bytes)
        else:
            i -= 1
            gap -= 1
            memcpy(target, entry_at(entries, i, stride), bytes)
    if gap > i:
        memmove(entry_at(entries, i, stride), entry_at(entries, gap, stride), (total - gap) * bytes)
    entries.length = i + total - gap
    return 0


cdef inline void release_entries(Entries* entries, int stride, Slab* slab) noexcept nogil:
    if entries.capacity > 0:
        give_words(slab, entries.words, <size_t> entries.capacity * stride)
    entries.words = NULL
    entries.length = 0
    entries.capacity = 0
