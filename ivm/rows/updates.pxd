# A buffer of updates, row-major, so that they are sorted and exchanged as whole rows.
#
# An update is `stride` words: the row's words, then its time's coordinates (root first, then one
# for each enclosing loop), then its diff as a two's complement word.
#
# Rows that were inserted at one time, diff 1, may be bare: they have their words alone. Inputs queue bare rows, and
# arrangements seal them; no other operator meets them. Other rows of one width may use such a buffer too.

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from ivm.memory.huge_pages cimport LARGE, give_block, grow_block, take_block, whole_pages

cdef struct Updates:
    uint64_t* words       # length * stride words
    Py_ssize_t length     # updates held
    Py_ssize_t capacity   # updates that fit before the next allocation
    int row_words         # words of a row
    int time_words        # coordinates of a time
    int stride            # row_words + time_words + 1; of bare ones, row_words
    uint64_t time         # of bare ones


cdef inline Updates empty_updates(int row_words, int time_words) noexcept nogil:
    cdef Updates updates
    updates.words = NULL
    updates.length = 0
    updates.capacity = 0
    updates.row_words = row_words
    updates.time_words = time_words
    updates.stride = row_words + time_words + 1
    updates.time = 0
    return updates


cdef inline Updates empty_bare(int row_words, uint64_t time) noexcept nogil:
    cdef Updates updates = empty_updates(row_words, 1)
    updates.stride = row_words
    updates.time = time
    return updates


# Makes an empty buffer of the same format.
cdef inline Updates empty_like(const Updates* others) noexcept nogil:
    cdef Updates updates = others[0]
    updates.words = NULL
    updates.length = 0
    updates.capacity = 0
    return updates


cdef inline bint is_bare(const Updates* updates) noexcept nogil:
    return updates.stride == updates.row_words


# The words that tell two updates apart: a row's, and its time's unless all have one.
cdef inline int compared_words(const Updates* updates) noexcept nogil:
    return updates.stride if is_bare(updates) else updates.stride - 1


# Makes room for `more` further updates; -1 where memory is short, with nothing changed.
cdef inline int reserve(Updates* updates, Py_ssize_t more) noexcept nogil:
    cdef Py_ssize_t wanted = updates.length + more, capacity
    cdef size_t bytes
    cdef uint64_t* grown
    if wanted <= updates.capacity:
        return 0
    capacity = updates.capacity * 2
    if capacity < wanted:
        capacity = wanted
    if capacity < 16:
        capacity = 16
    bytes = <size_t> capacity * updates.stride * sizeof(uint64_t)
    if bytes >= LARGE:
        return _reserve_block(updates, whole_pages(bytes))
    grown = <uint64_t*> realloc(updates.words, bytes)
    if grown == NULL:
        return -1
    updates.words = grown
    updates.capacity = capacity
    return 0


# The bytes of the block that the words are, or 0. A row takes less than a page, so that none is left out.
cdef inline size_t block_bytes(const Updates* updates) noexcept nogil:
    cdef size_t bytes = <size_t> updates.capacity * updates.stride * sizeof(uint64_t)
    return whole_pages(bytes) if bytes >= LARGE else 0


cdef inline int _reserve_block(Updates* updates, size_t bytes) noexcept nogil:
    cdef size_t before = block_bytes(updates)
    cdef void* block = (grow_block(updates.words, before, bytes) if before > 0
                        else take_block(bytes))
    if block == NULL:
        return -1
    if before == 0:
        if updates.length > 0:
            memcpy(block, updates.words, <size_t> updates.length * updates.stride * sizeof(uint64_t))
        free(updates.words)
    updates.words = <uint64_t*> block
    updates.capacity = bytes // (updates.stride * sizeof(uint64_t))
    return 0


# The bytes of its memory.
cdef inline size_t bytes_of(const Updates* updates) noexcept nogil:
    return <size_t> updates.capacity * updates.stride * sizeof(uint64_t)


# Copies an update; the most frequent widths as constants, which spares a call.
cdef inline void copy_update(uint64_t* target, const uint64_t* update, int stride) noexcept nogil:
    if stride == 2:
        memcpy(target, update, 2 * sizeof(uint64_t))
    elif stride == 4:
        memcpy(target, update, 4 * sizeof(uint64_t))
    elif stride == 5:
        memcpy(target, update, 5 * sizeof(uint64_t))
    elif stride == 3:
        memcpy(target, update, 3 * sizeof(uint64_t))
    elif stride == 1:
        target[0] = update[0]
    else:
        memcpy(target, update, stride * sizeof(uint64_t))


# Copies a few words, most often one or two, which spares a call.
cdef inline void copy_few(uint64_t* target, const uint64_t* words, int count) noexcept nogil:
    if count == 1:
        target[0] = words[0]
    elif count == 2:
        memcpy(target, words, 2 * sizeof(uint64_t))
    else:
        memcpy(target, words, count * sizeof(uint64_t))


# The words of a new, uninitialised last update; NULL where memory is short.
cdef inline uint64_t* push(Updates* updates) noexcept nogil:
    if updates.length == updates.capacity and reserve(updates, 1) < 0:
        return NULL
    updates.length += 1
    return updates.words + (updates.length - 1) * updates.stride


cdef inline uint64_t* update_at(const Updates* updates, Py_ssize_t i) noexcept nogil:
    return updates.words + i * updates.stride


# Appends copies of `count` updates of the same stride; -1 where memory is short.
cdef inline int append(Updates* updates, const uint64_t* words, Py_ssize_t count) noexcept nogil:
    if count == 0:
        return 0        # neither side may have memory yet
    if reserve(updates, count) < 0:
        return -1
    memcpy(updates.words + updates.length * updates.stride, words,
           <size_t> count * updates.stride * sizeof(uint64_t))
    updates.length += count
    return 0


# Appends bare rows to others with their time, and a diff of 1; -1 where memory is short.
cdef inline int append_dressed(Updates* updates, const Updates* bare) noexcept nogil:
    cdef uint64_t* target
    cdef Py_ssize_t i
    if reserve(updates, bare.length) < 0:
        return -1
    for i in range(bare.length):
        target = updates.words + (updates.length + i) * updates.stride
        memcpy(target, bare.words + i * bare.stride, bare.stride * sizeof(uint64_t))
        target[bare.stride] = bare.time
        target[bare.stride + 1] = 1
    updates.length += bare.length
    return 0


# Gives bare rows their time and a diff; -1 where memory is short, with nothing changed.
cdef inline int dress(Updates* updates) noexcept nogil:
    cdef Updates dressed = empty_updates(updates.row_words, 1)
    if not is_bare(updates):
        return 0
    if append_dressed(&dressed, updates) < 0:
        return -1
    release(updates)
    updates[0] = dressed
    return 0


cdef inline void release(Updates* updates) noexcept nogil:
    if block_bytes(updates) > 0:
        give_block(updates.words, block_bytes(updates))
    else:
        free(updates.words)
    updates.words = NULL
    updates.length = 0
    updates.capacity = 0


# Gives memory back if it is large, so that the next taker can have it; what is small is kept.
cdef inline void release_large(Updates* updates) noexcept nogil:
    if block_bytes(updates) > 0:
        release(updates)
