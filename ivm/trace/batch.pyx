"""Immutable batches: built from consolidated updates, or merged from two batches.

A merge walks both batches in key order once. Each distinct time is advanced once, not each
update: the times form a dictionary, and an update names its entry.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.trace.sort cimport consolidate
from ivm.trace.times cimport MAX_COORDINATES, compare_words, join_into

cdef extern from *:
    int fetch_add "__sync_fetch_and_add"(int*, int) noexcept nogil


cdef void retain(Batch* b) noexcept nogil:
    fetch_add(&b.references, 1)


cdef void drop(Batch* b) noexcept nogil:
    if b == NULL or fetch_add(&b.references, -1) > 1:
        return
    free(b.key)
    free(b.val_start)
    free(b.val)
    free(b.update_start)
    free(b.time_of)
    free(b.diff)
    free(b.times)
    free(b)


cdef size_t batch_bytes(const Batch* b) noexcept nogil:
    cdef size_t total = sizeof(Batch) + b.time_count * b.time_words * sizeof(uint64_t)
    total += b.keys * b.key_words * sizeof(uint64_t)
    total += b.vals * b.val_words * sizeof(uint64_t)
    if b.val_start != NULL:
        total += (b.keys + 1) * sizeof(uint32_t)
    if b.update_start != NULL:
        total += (b.vals + 1) * sizeof(uint32_t)
    if b.time_of != NULL:
        total += b.updates * sizeof(uint32_t)
    if b.diff != NULL:
        total += b.updates * sizeof(int64_t)
    return total


cdef Py_ssize_t seek_key(const Batch* b, const uint64_t* key, Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t step = 1, low = start, high, middle
    cdef int n = b.key_words
    if low >= b.keys or compare_words(key_at(b, low), key, n) >= 0:
        return low
    while low + step < b.keys and compare_words(key_at(b, low + step), key, n) < 0:
        low += step
        step *= 2
    high = low + step if low + step < b.keys else b.keys
    low += 1
    while low < high:
        middle = low + (high - low) // 2
        if compare_words(key_at(b, middle), key, n) < 0:
            low = middle + 1
        else:
            high = middle
    return low


# A batch with room for the given numbers, every optional part present; NULL where memory is short.
cdef Batch* _allocate(int key_words, int val_words, int time_words, Py_ssize_t keys,
                      Py_ssize_t vals, Py_ssize_t updates, Py_ssize_t times) noexcept nogil:
    cdef Batch* b = <Batch*> calloc(1, sizeof(Batch))
    if b == NULL:
        return NULL
    b.references = 1
    b.key_words = key_words
    b.val_words = val_words
    b.time_words = time_words
    # One element more than asked, so that no size is zero and malloc's NULL means failure.
    b.key = <uint64_t*> malloc((keys * key_words + 1) * sizeof(uint64_t))
    b.val_start = <uint32_t*> malloc((keys + 1) * sizeof(uint32_t))
    b.val = <uint64_t*> malloc((vals * val_words + 1) * sizeof(uint64_t))
    b.update_start = <uint32_t*> malloc((vals + 1) * sizeof(uint32_t))
    b.time_of = <uint32_t*> malloc((updates + 1) * sizeof(uint32_t))
    b.diff = <int64_t*> malloc((updates + 1) * sizeof(int64_t))
    b.times = <uint64_t*> malloc((times * time_words + 1) * sizeof(uint64_t))
    if (b.key == NULL or b.val_start == NULL or b.val == NULL or b.update_start == NULL
            or b.time_of == NULL or b.diff == NULL or b.times == NULL):
        drop(b)
        return NULL
    return b


cdef void* _shrink(void* block, size_t bytes) noexcept nogil:
    cdef void* smaller = realloc(block, bytes if bytes > 0 else 1)
    return block if smaller == NULL else smaller


# Leaves out what is constant and gives unused memory back.
cdef void _trim(Batch* b) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint ones = True
    if b.keys == b.vals:
        free(b.val_start)
        b.val_start = NULL
    else:
        b.val_start = <uint32_t*> _shrink(b.val_start, (b.keys + 1) * sizeof(uint32_t))
    if b.vals == b.updates:
        free(b.update_start)
        b.update_start = NULL
    else:
        b.update_start = <uint32_t*> _shrink(b.update_start, (b.vals + 1) * sizeof(uint32_t))
    if b.time_count <= 1:
        free(b.time_of)
        b.time_of = NULL
    else:
        b.time_of = <uint32_t*> _shrink(b.time_of, b.updates * sizeof(uint32_t))
    for i in range(b.updates):
        if b.diff[i] != 1:
            ones = False
            break
    if ones:
        free(b.diff)
        b.diff = NULL
    else:
        b.diff = <int64_t*> _shrink(b.diff, b.updates * sizeof(int64_t))
    b.key = <uint64_t*> _shrink(b.key, b.keys * b.key_words * sizeof(uint64_t))
    b.val = <uint64_t*> _shrink(b.val, b.vals * b.val_words * sizeof(uint64_t))


# The distinct times among `updates`, ascending, as updates of their own; its length is negative
# where memory is short.
cdef Updates _distinct_times(const Updates* updates) noexcept nogil:
    cdef Updates times = empty_updates(0, updates.time_words)
    cdef Py_ssize_t i
    cdef const uint64_t* time
    cdef uint64_t* entry = NULL
    for i in range(updates.length):
        time = updates.words + i * updates.stride + updates.row_words
        if entry != NULL and compare_words(entry, time, times.time_words) == 0:
            continue
        entry = push(&times)
        if entry == NULL:
            times.length = -1
            return times
        memcpy(entry, time, times.time_words * sizeof(uint64_t))
        entry[times.time_words] = 1
    if consolidate(&times) < 0:
        times.length = -1
    return times


cdef uint32_t _find_time(const Updates* times, const uint64_t* time) noexcept nogil:
    cdef Py_ssize_t low = 0, high = times.length, middle
    while low < high:
        middle = (low + high) // 2
        if compare_words(times.words + middle * times.stride, time, times.time_words) < 0:
            low = middle + 1
        else:
            high = middle
    return <uint32_t> low


cdef void _copy_times(Batch* b, const Updates* times) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(times.length):
        memcpy(b.times + i * b.time_words, times.words + i * times.stride,
               b.time_words * sizeof(uint64_t))
    b.time_count = times.length


cdef Batch* build_batch(const Updates* updates, int key_words) noexcept nogil:
    cdef int val_words = updates.row_words - key_words
    cdef Py_ssize_t i, n = updates.length
    cdef const uint64_t* row
    cdef const uint64_t* before = NULL
    cdef Updates times = _distinct_times(updates)
    cdef Batch* b = NULL
    if times.length >= 0:
        b = _allocate(key_words, val_words, updates.time_words, n, n, n, times.length)
    if b == NULL:
        release(&times)
        return NULL
    _copy_times(b, &times)
    for i in range(n):
        row = updates.words + i * updates.stride
        if before == NULL or compare_words(before, row, key_words) != 0:
            b.val_start[b.keys] = <uint32_t> b.vals
            memcpy(b.key + b.keys * key_words, row, key_words * sizeof(uint64_t))
            b.keys += 1
            before = NULL
        if before == NULL or compare_words(before + key_words, row + key_words, val_words) != 0:
            b.update_start[b.vals] = <uint32_t> i
            memcpy(b.val + b.vals * val_words, row + key_words, val_words * sizeof(uint64_t))
            b.vals += 1
        b.time_of[i] = 0 if times.length == 1 else _find_time(&times, row + updates.row_words)
        b.diff[i] = <int64_t> row[updates.stride - 1]
        before = row
    b.updates = n
    b.val_start[b.keys] = <uint32_t> b.vals
    b.update_start[b.vals] = <uint32_t> n
    release(&times)
    _trim(b)
    return b


# --- merging ---

cdef struct Merge:
    const Batch* a
    const Batch* b
    uint32_t* time_a        # index of a's time in the merged dictionary
    uint32_t* time_b
    Batch* out
    int failed              # memory was short
    uint32_t* slot_time     # scratch for the updates of one value
    int64_t* slot_diff
    Py_ssize_t slots
    Py_ssize_t slot_capacity


cdef int _advance_times(const Batch* b, const uint64_t* since, Updates* times) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t* entry
    for i in range(b.time_count):
        entry = push(times)
        if entry == NULL:
            return -1
        memcpy(entry, b.times + i * b.time_words, b.time_words * sizeof(uint64_t))
        join_into(entry, since, b.time_words)
        entry[b.time_words] = 1
    return 0


cdef uint32_t* _map_times(const Batch* b, const uint64_t* since, const Updates* times) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t time[MAX_COORDINATES]
    cdef uint32_t* mapped = <uint32_t*> malloc((b.time_count + 1) * sizeof(uint32_t))
    if mapped == NULL:
        return NULL
    for i in range(b.time_count):
        memcpy(time, b.times + i * b.time_words, b.time_words * sizeof(uint64_t))
        join_into(time, since, b.time_words)
        mapped[i] = _find_time(times, time)
    return mapped


# Collects value v's updates into the scratch slots under their advanced times.
cdef void _collect(Merge* m, const Batch* b, const uint32_t* mapped, Py_ssize_t v) noexcept nogil:
    cdef Py_ssize_t u
    for u in range(first_update(b, v), first_update(b, v + 1)):
        if m.slots == m.slot_capacity and _grow_slots(m) < 0:
            m.failed = 1
            return
        m.slot_time[m.slots] = mapped[0 if b.time_of == NULL else b.time_of[u]]
        m.slot_diff[m.slots] = diff_of(b, u)
        m.slots += 1


cdef int _grow_slots(Merge* m) noexcept nogil:
    cdef Py_ssize_t capacity = 64 if m.slot_capacity == 0 else 2 * m.slot_capacity
    cdef uint32_t* times = <uint32_t*> realloc(m.slot_time, capacity * sizeof(uint32_t))
    cdef int64_t* diffs
    if times == NULL:
        return -1
    m.slot_time = times
    diffs = <int64_t*> realloc(m.slot_diff, capacity * sizeof(int64_t))
    if diffs == NULL:
        return -1
    m.slot_diff = diffs
    m.slot_capacity = capacity
    return 0


# Writes the collected updates of one value, if any remain; `val` is its words.
cdef void _emit_val(Merge* m, const uint64_t* val) noexcept nogil:
    cdef Batch* out = m.out
    cdef Py_ssize_t i, j, before = out.updates
    cdef uint32_t time
    cdef int64_t diff
    for i in range(1, m.slots):      # few and mostly sorted
        time = m.slot_time[i]
        diff = m.slot_diff[i]
        j = i
        while j > 0 and m.slot_time[j - 1] > time:
            m.slot_time[j] = m.slot_time[j - 1]
            m.slot_diff[j] = m.slot_diff[j - 1]
            j -= 1
        m.slot_time[j] = time
        m.slot_diff[j] = diff
    i = 0
    while i < m.slots:
        time = m.slot_time[i]
        diff = m.slot_diff[i]
        i += 1
        while i < m.slots and m.slot_time[i] == time:
            diff += m.slot_diff[i]
            i += 1
        if diff != 0:
            out.time_of[out.updates] = time
            out.diff[out.updates] = diff
            out.updates += 1
    if out.updates > before:
        out.update_start[out.vals] = <uint32_t> before
        memcpy(out.val + out.vals * out.val_words, val, out.val_words * sizeof(uint64_t))
        out.vals += 1
    m.slots = 0


# Writes key `key` with a's values [i, i_end) and b's values [j, j_end).
cdef void _merge_key(Merge* m, const uint64_t* key, Py_ssize_t i, Py_ssize_t i_end,
                     Py_ssize_t j, Py_ssize_t j_end) noexcept nogil:
    cdef Batch* out = m.out
    cdef Py_ssize_t before = out.vals
    cdef int order
    while i < i_end or j < j_end:
        if i == i_end:
            order = 1
        elif j == j_end:
            order = -1
        else:
            order = compare_words(val_at(m.a, i), val_at(m.b, j), out.val_words)
        if order <= 0:
            _collect(m, m.a, m.time_a, i)
        if order >= 0:
            _collect(m, m.b, m.time_b, j)
        _emit_val(m, val_at(m.a, i) if order <= 0 else val_at(m.b, j))
        if order <= 0:
            i += 1
        if order >= 0:
            j += 1
    if out.vals > before:
        out.val_start[out.keys] = <uint32_t> before
        memcpy(out.key + out.keys * out.key_words, key, out.key_words * sizeof(uint64_t))
        out.keys += 1


cdef void _merge_keys(Merge* m) noexcept nogil:
    cdef Py_ssize_t i = 0, j = 0
    cdef int order
    while (i < m.a.keys or j < m.b.keys) and not m.failed:
        if i == m.a.keys:
            order = 1
        elif j == m.b.keys:
            order = -1
        else:
            order = compare_words(key_at(m.a, i), key_at(m.b, j), m.out.key_words)
        if order < 0:
            _merge_key(m, key_at(m.a, i), first_val(m.a, i), first_val(m.a, i + 1), 0, 0)
        elif order > 0:
            _merge_key(m, key_at(m.b, j), 0, 0, first_val(m.b, j), first_val(m.b, j + 1))
        else:
            _merge_key(m, key_at(m.a, i), first_val(m.a, i), first_val(m.a, i + 1),
                       first_val(m.b, j), first_val(m.b, j + 1))
        if order <= 0:
            i += 1
        if order >= 0:
            j += 1
    m.out.val_start[m.out.keys] = <uint32_t> m.out.vals
    m.out.update_start[m.out.vals] = <uint32_t> m.out.updates


cdef Batch* merge_batches(const Batch* a, const Batch* b, const uint64_t* since) noexcept nogil:
    cdef Merge m
    cdef Updates times = empty_updates(0, a.time_words)
    m.a = a
    m.b = b
    m.failed = 0
    m.slot_time = NULL
    m.slot_diff = NULL
    m.slots = 0
    m.slot_capacity = 0
    m.time_a = NULL
    m.time_b = NULL
    m.out = NULL
    if (_advance_times(a, since, &times) == 0 and _advance_times(b, since, &times) == 0
            and consolidate(&times) == 0):
        m.time_a = _map_times(a, since, &times)
        m.time_b = _map_times(b, since, &times)
        if m.time_a != NULL and m.time_b != NULL:
            m.out = _allocate(a.key_words, a.val_words, a.time_words, a.keys + b.keys,
                              a.vals + b.vals, a.updates + b.updates, times.length)
    if m.out != NULL:
        _copy_times(m.out, &times)
        _merge_keys(&m)
        if m.failed:
            drop(m.out)
            m.out = NULL
        else:
            _trim(m.out)
    release(&times)
    free(m.time_a)
    free(m.time_b)
    free(m.slot_time)
    free(m.slot_diff)
    return m.out
