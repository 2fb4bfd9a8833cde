# The output of a merge: updates, values, keys, and runs copied from one side.
#
# An array is left out while its contents are constant: see `Merge`.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ivm.trace.batch cimport Batch
from ivm.trace.merging.merge_state cimport Merge, Side
from ivm.trace.times cimport compare_words

cdef enum:
    SHORT_COPY = 8      # words, up to which a loop beats a call


cdef inline void copy_words(uint64_t* target, const uint64_t* source, Py_ssize_t words) noexcept nogil:
    cdef Py_ssize_t i
    if words > SHORT_COPY:
        memcpy(target, source, words * sizeof(uint64_t))
    else:
        for i in range(words):
            target[i] = source[i]


cdef inline void write_update(Merge* m, uint32_t time, int64_t diff) noexcept nogil:
    cdef Batch* out = m.out
    if out.time_of != NULL:
        out.time_of[out.updates] = time
    if diff != 1 and m.diffs_from < 0:
        m.diffs_from = out.updates
    if m.diffs_from >= 0:
        out.diff[out.updates] = diff
        m.odd_diffs |= <uint64_t> (diff ^ 1)
    out.updates += 1


# True if `key` is the last of the result's `keys`, so that its values go on.
cdef inline bint is_last_key(const Batch* out, Py_ssize_t keys, const uint64_t* key) noexcept nogil:
    return keys > 0 and compare_words(out.key + (keys - 1) * out.key_words, key, out.key_words) == 0


# Prepares for `count` values of `key` to be written.
cdef inline void begin_vals(Merge* m, const uint64_t* key, Py_ssize_t count) noexcept nogil:
    cdef Batch* out = m.out
    cdef bint goes_on = is_last_key(out, out.keys, key)
    if not goes_on:
        copy_words(out.key + out.keys * out.key_words, key, out.key_words)
        out.keys += 1
    if m.vals_from < 0 and (goes_on or count > 1):
        m.vals_from = out.keys - 1
        out.val_start[m.vals_from] = <uint32_t> m.vals_from     # as of all keys before
    elif m.vals_from >= 0 and not goes_on:
        out.val_start[out.keys - 1] = <uint32_t> out.vals


# Writes a value of `key` whose updates are those from `first` on, unless there are none.
cdef inline void write_val(Merge* m, const uint64_t* key, const uint64_t* val,
                           Py_ssize_t first) noexcept nogil:
    cdef Batch* out = m.out
    if out.updates == first:
        return
    begin_vals(m, key, 1)
    if out.updates != first + 1 and m.updates_from < 0:
        m.updates_from = out.vals
    if m.updates_from >= 0:
        out.update_start[out.vals] = <uint32_t> first
    copy_words(out.val + out.vals * out.val_words, val, out.val_words)
    out.vals += 1


# Copies the updates [first, last) of a side, in their order.
cdef inline void copy_updates(Merge* m, const Side* side, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* b = side.b
    cdef Py_ssize_t i, n = last - first
    cdef uint32_t* time_of = out.time_of + out.updates
    cdef int64_t* diff = out.diff + out.updates
    cdef uint64_t odd = 0
    if out.time_of != NULL:
        if b.time_of == NULL:
            for i in range(n):
                time_of[i] = side.mapped[0]
        else:
            for i in range(n):
                time_of[i] = side.mapped[b.time_of[first + i]]
    if m.diffs_from >= 0:
        if b.diff == NULL:
            for i in range(n):
                diff[i] = 1
        else:
            for i in range(n):
                diff[i] = b.diff[first + i]
                odd |= <uint64_t> (b.diff[first + i] ^ 1)
            m.odd_diffs |= odd
    out.updates += n


# Copies the starts of one array, shifted to their place in another: source[i] + shift, or first + i + shift.
cdef inline void copy_starts(uint32_t* target, const uint32_t* source, Py_ssize_t first,
                              Py_ssize_t last, Py_ssize_t shift) noexcept nogil:
    cdef Py_ssize_t i
    if source == NULL:
        for i in range(last - first):
            target[i] = <uint32_t> (first + i + shift)
    else:
        for i in range(last - first):
            target[i] = source[first + i] + <uint32_t> shift
