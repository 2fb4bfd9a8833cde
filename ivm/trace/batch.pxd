# An immutable, sorted batch of updates, columnar: keys, each key's values, each value's updates.
#
# Keys ascend strictly, a key's values ascend strictly, a value's updates ascend strictly in time and no diff
# is zero. Constant arrays are left out: see the NULL cases below. A batch is one block of memory: this header
# and then its arrays, to which the pointers point.
#
# A batch of keys and values alone may have room behind these. Later rows are appended there and belong to
# another batch with a header of its own: each batch has its own lengths, so that none changes, and all hold
# the block.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from ivm.trace.counts cimport sum_of
from ivm.trace.times cimport compare_words, less_equal

cdef int64_t MOST_UPDATES       # of one batch: positions are 32-bit

cdef struct Batch:
    int references          # holders; changed atomically
    int key_words           # words of a key
    int val_words           # words of a value
    int time_words          # coordinates of a time
    Py_ssize_t keys         # distinct keys
    Py_ssize_t vals         # distinct (key, value) pairs
    Py_ssize_t updates      # distinct (key, value, time) triples
    Py_ssize_t time_count   # distinct times
    uint64_t* times         # time_count * time_words, ascending lexicographically
    uint64_t* key           # keys * key_words
    uint64_t* val           # vals * val_words
    int64_t* diff           # updates; NULL: all are 1
    uint32_t* val_start     # keys + 1: key k's values; NULL: key k has the one value k
    uint32_t* update_start  # vals + 1: value v's updates; NULL: value v has the one update v
    uint32_t* time_of       # updates: indices of times; NULL: all have time 0
    size_t mapped           # bytes of the block if it is large, 0 if it is from malloc
    uint64_t serial         # its identity in this process; 0 until one is asked for (see ivm.runtime.export)
    Batch* home             # the batch in whose block the arrays lie; NULL: in its own
    Py_ssize_t room         # rows for which a block of keys and values has memory, if it may be appended to; else 0
    Py_ssize_t filled       # rows of all batches in such a block, changed atomically

# Numbers of elements to make room for, and flags for the optional arrays.
cdef struct Room:
    Py_ssize_t keys
    Py_ssize_t vals
    Py_ssize_t updates
    Py_ssize_t times
    bint diff
    bint val_start
    bint update_start
    bint time_of

cdef inline Py_ssize_t first_val(const Batch* b, Py_ssize_t k) noexcept nogil:
    return k if b.val_start == NULL else b.val_start[k]

cdef inline Py_ssize_t first_update(const Batch* b, Py_ssize_t v) noexcept nogil:
    return v if b.update_start == NULL else b.update_start[v]

cdef inline int64_t diff_of(const Batch* b, Py_ssize_t u) noexcept nogil:
    return 1 if b.diff == NULL else b.diff[u]

cdef inline const uint64_t* time_of(const Batch* b, Py_ssize_t u) noexcept nogil:
    return b.times if b.time_of == NULL else b.times + b.time_of[u] * b.time_words

# Counts the copies of value v as of `time`.
cdef inline int64_t count_as_of(const Batch* b, Py_ssize_t v, const uint64_t* time) noexcept nogil:
    cdef int64_t count = 0
    cdef Py_ssize_t u
    for u in range(first_update(b, v), first_update(b, v + 1)):
        if less_equal(time_of(b, u), time, b.time_words):
            count = sum_of(count, diff_of(b, u))
    return count

cdef inline const uint64_t* key_at(const Batch* b, Py_ssize_t k) noexcept nogil:
    return b.key + k * b.key_words

cdef inline const uint64_t* val_at(const Batch* b, Py_ssize_t v) noexcept nogil:
    return b.val + v * b.val_words

# Finds the batch with the least key among `count` batches, from position at[i] in each; -1 if none has one
# left.
cdef inline Py_ssize_t least_key(Batch* const* batches, Py_ssize_t count,
                                 const Py_ssize_t* at) noexcept nogil:
    cdef Py_ssize_t i, least = -1
    cdef const uint64_t* key = NULL
    cdef const Batch* b
    for i in range(count):
        b = batches[i]
        if at[i] < b.keys and (key == NULL or compare_words(key_at(b, at[i]), key, b.key_words) < 0):
            key = key_at(b, at[i])
            least = i
    return least

# The first key at or after position `start` that is not below `key`; by galloping, so a sweep over
# ascending keys costs at most the logarithm of each gap.
cdef Py_ssize_t seek_key(const Batch* b, const uint64_t* key, Py_ssize_t start) noexcept nogil

# Find the key of value `v` and the value of update `u`.
cdef Py_ssize_t find_key(const Batch* b, Py_ssize_t v) noexcept nogil
cdef Py_ssize_t find_val(const Batch* b, Py_ssize_t u) noexcept nogil

# Allocates an empty batch with one holder and room; NULL where memory is short.
cdef Batch* allocate_batch(int key_words, int val_words, int time_words,
                           const Room* room) noexcept nogil
# Copies a batch into a block of its own, wherever its arrays lie; NULL where memory is short.
cdef Batch* copy_batch(const Batch* b) noexcept nogil
# Closes the gaps between the arrays and gives unused memory back; only before a batch is shared. Returns the
# batch's new place.
cdef Batch* pack_batch(Batch* b) noexcept nogil

# True if every update is a key of its own, with diff 1, at one time of one coordinate that `since` has
# passed.
cdef bint is_plain(const Batch* b, uint64_t since) noexcept nogil

# True if two plain batches are such that all keys of the elder come before those of the younger.
cdef inline bint follows(const Batch* elder, const Batch* younger) noexcept nogil:
    return compare_words(key_at(elder, elder.keys - 1), younger.key, elder.key_words) < 0

# The number of keys that may be appended to a batch's block, or -1 if it is not made for that.
cdef Py_ssize_t room_behind(const Batch* b) noexcept nogil

# Appends the plain `younger` to the block of the plain `elder` that it follows, as a batch at `time`. NULL
# where there is no room, or another batch took it, or memory is short.
cdef Batch* append_batch(Batch* elder, const Batch* younger, uint64_t time) noexcept nogil

cdef size_t batch_bytes(const Batch* b) noexcept nogil
cdef void retain(Batch* b) noexcept nogil
cdef void drop(Batch* b) noexcept nogil
