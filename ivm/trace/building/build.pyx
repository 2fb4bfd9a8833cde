"""Building a batch: a first pass over the updates measures it, a second one fills it.

The first pass finds what is constant, so that no array is made that would be left out, and the
block has its exact size. Distinct times are numbered by counting where they lie close together, and
else through a hash table.

A sum of many small batches is sorted and built anew: that takes less than merging two at a time.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from ivm.rows.updates cimport Updates, empty_updates, push, release, reserve, update_at
from ivm.trace.batch cimport (
    Batch, Room, allocate_batch, diff_of, first_update, first_val, key_at, time_of, val_at,
)
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words, join_into

cdef enum:
    DENSE = 8       # times that may lie between the first and the last, for each update

cdef Batch* build_batch(const Updates* updates, int key_words) noexcept nogil:
    cdef Room room
    cdef Batch* b
    cdef Updates times = empty_updates(0, updates.time_words)
    cdef uint32_t* numbers = NULL
    cdef int failed = 0
    cdef Py_ssize_t i
    _measure(updates, key_words, &room)
    if room.time_of:
        numbers = <uint32_t*> malloc(updates.length * sizeof(uint32_t))
        failed = -1 if numbers == NULL else _number(updates, numbers, &times)
        room.times = times.length
    b = allocate_batch(key_words, updates.row_words - key_words, updates.time_words,
                       &room) if failed == 0 else NULL
    if b != NULL:
        _fill(b, updates)
        b.time_count = room.times
        if room.time_of:
            memcpy(b.time_of, numbers, b.updates * sizeof(uint32_t))
            for i in range(times.length):
                memcpy(b.times + i * b.time_words, update_at(&times, i),
                       b.time_words * sizeof(uint64_t))
        else:
            memcpy(b.times, updates.words + updates.row_words, b.time_words * sizeof(uint64_t))
    release(&times)
    free(numbers)
    return b


cdef Batch* sum_batches(Batch** batches, size_t count, const uint64_t* since) noexcept nogil:
    cdef Batch* b = batches[0]
    cdef Updates updates = empty_updates(b.key_words + b.val_words, b.time_words)
    cdef int key_words = b.key_words
    cdef Py_ssize_t all = 0
    cdef size_t i
    for i in range(count):
        all += batches[i].updates
    if reserve(&updates, all) < 0:
        return NULL
    for i in range(count):
        _append(&updates, batches[i], since)
    b = build_in_place(&updates, key_words)
    release(&updates)
    return b


cdef Batch* build_in_place(Updates* updates, int key_words) noexcept nogil:
    cdef Room nothing
    if consolidate(updates) < 0:
        return NULL
    if updates.length > 0:
        return build_batch(updates, key_words)
    memset(&nothing, 0, sizeof(Room))
    return allocate_batch(key_words, updates.row_words - key_words, updates.time_words, &nothing)


# Appends a batch's updates, for which there is room, with times joined with `since`.
cdef void _append(Updates* updates, const Batch* b, const uint64_t* since) noexcept nogil:
    cdef Py_ssize_t k = 0, v = 0, u
    cdef uint64_t* update
    for u in range(b.updates):
        while u >= first_update(b, v + 1):
            v += 1
        while v >= first_val(b, k + 1):
            k += 1
        update = push(updates)
        memcpy(update, key_at(b, k), b.key_words * sizeof(uint64_t))
        memcpy(update + b.key_words, val_at(b, v), b.val_words * sizeof(uint64_t))
        update += updates.row_words
        memcpy(update, time_of(b, u), b.time_words * sizeof(uint64_t))
        join_into(update, since, b.time_words)
        update[b.time_words] = <uint64_t> diff_of(b, u)


# --- measuring and filling ---

# Measures the lengths of the arrays, and decides about the optional ones.
cdef void _measure(const Updates* updates, int key_words, Room* room) noexcept nogil:
    # The most frequent widths, as constants.
    if key_words == 1 and updates.row_words == 1 and updates.time_words == 1:
        _measure_rows(updates, 1, 1, 3, room)
    elif key_words == 1 and updates.row_words == 1 and updates.time_words == 2:
        _measure_rows(updates, 1, 1, 4, room)
    elif key_words == 1 and updates.row_words == 2 and updates.time_words == 1:
        _measure_rows(updates, 1, 2, 4, room)
    elif key_words == 1 and updates.row_words == 2 and updates.time_words == 2:
        _measure_rows(updates, 1, 2, 5, room)
    else:
        _measure_wide(updates, key_words, room)


cdef inline void _measure_rows(const Updates* updates, int key_words, int row_words, int stride,
                               Room* room) noexcept nogil:
    cdef int w
    cdef Py_ssize_t i, keys = 1, vals = 1, n = updates.length
    cdef const uint64_t* row = updates.words
    cdef const uint64_t* before
    cdef uint64_t in_time = 0, in_diff = row[stride - 1] ^ 1, in_key, in_val
    for i in range(1, n):
        before = row
        row += stride
        in_key = in_val = 0
        for w in range(key_words):
            in_key |= row[w] ^ before[w]
        for w in range(key_words, row_words):
            in_val |= row[w] ^ before[w]
        for w in range(row_words, stride - 1):
            in_time |= row[w] ^ before[w]
        in_diff |= row[stride - 1] ^ 1
        keys += in_key != 0
        vals += (in_key | in_val) != 0
    _make_room(room, keys, vals, n, in_diff, in_time)


# Measures as _measure_rows does, without a look at values whose keys differ.
cdef void _measure_wide(const Updates* updates, int key_words, Room* room) noexcept nogil:
    cdef int w, row_words = updates.row_words, stride = updates.stride
    cdef Py_ssize_t i, keys = 1, vals = 1, n = updates.length
    cdef const uint64_t* row = updates.words
    cdef const uint64_t* before
    cdef uint64_t in_time = 0, in_diff = row[stride - 1] ^ 1
    for i in range(1, n):
        before = row
        row += stride
        if compare_words(row, before, key_words) != 0:
            keys += 1
            vals += 1
        else:
            vals += compare_words(row + key_words, before + key_words, row_words - key_words) != 0
        for w in range(row_words, stride - 1):
            in_time |= row[w] ^ before[w]
        in_diff |= row[stride - 1] ^ 1
    _make_room(room, keys, vals, n, in_diff, in_time)


cdef inline void _make_room(Room* room, Py_ssize_t keys, Py_ssize_t vals, Py_ssize_t updates,
                            uint64_t in_diff, uint64_t in_time) noexcept nogil:
    room.keys = keys
    room.vals = vals
    room.updates = updates
    room.times = 1
    room.diff = in_diff != 0
    room.val_start = keys != vals
    room.update_start = vals != updates
    room.time_of = in_time != 0


cdef void _fill(Batch* b, const Updates* updates) noexcept nogil:
    cdef int stride = updates.stride, w
    cdef Py_ssize_t i
    b.updates = updates.length
    if b.val_start != NULL or b.update_start != NULL:
        if b.key_words == 1 and b.val_words == 1:
            _fill_groups(b, updates, 1, 1)
        else:
            _fill_groups(b, updates, b.key_words, b.val_words)
    elif b.key_words == 1 and b.val_words <= 1:
        for i in range(b.updates):
            b.key[i] = updates.words[i * stride]
        for i in range(b.updates if b.val_words == 1 else 0):
            b.val[i] = updates.words[i * stride + 1]
        b.keys = b.vals = b.updates
    else:
        for i in range(b.updates):
            for w in range(b.key_words):
                b.key[i * b.key_words + w] = updates.words[i * stride + w]
            memcpy(b.val + i * b.val_words, updates.words + i * stride + b.key_words,
                   b.val_words * sizeof(uint64_t))
        b.keys = b.vals = b.updates
    if b.diff != NULL:
        for i in range(b.updates):
            b.diff[i] = <int64_t> updates.words[i * stride + stride - 1]


# Fills keys and values where some key has several values, or some value several updates. Each entry is
# written over until the next one begins, without branches.
cdef inline void _fill_groups(Batch* b, const Updates* updates, int key_words,
                              int val_words) noexcept nogil:
    cdef int stride = updates.stride, w
    cdef Py_ssize_t i, k = 0, v = 0
    cdef const uint64_t* row = updates.words
    cdef const uint64_t* before = row
    cdef uint64_t in_key, in_val
    if b.val_start != NULL:
        b.val_start[0] = 0
    if b.update_start != NULL:
        b.update_start[0] = 0
    for i in range(updates.length):
        in_key = in_val = 0
        for w in range(key_words):
            in_key |= row[w] ^ before[w]
        for w in range(key_words, key_words + val_words):
            in_val |= row[w] ^ before[w]
        k += in_key != 0
        v += (in_key | in_val) != 0
        for w in range(key_words):
            b.key[k * key_words + w] = row[w]
        for w in range(val_words):
            b.val[v * val_words + w] = row[key_words + w]
        if b.val_start != NULL:
            b.val_start[k + 1] = <uint32_t> (v + 1)
        if b.update_start != NULL:
            b.update_start[v + 1] = <uint32_t> (i + 1)
        before = row
        row += stride
    b.keys = k + 1
    b.vals = v + 1


# Numbers each update's time by its rank among the distinct times, which it gathers; -1 where memory is short.
cdef int _number(const Updates* updates, uint32_t* numbers, Updates* times) noexcept nogil:
    cdef uint64_t low, high, time
    cdef Py_ssize_t i
    if updates.time_words == 1:
        low = high = updates.words[updates.row_words]
        for i in range(updates.length):
            time = update_at(updates, i)[updates.row_words]
            low = min(low, time)
            high = max(high, time)
        if high - low < <uint64_t> (DENSE * updates.length):
            return _number_dense(updates, low, <Py_ssize_t> (high - low) + 1, numbers, times)
    if _number_times(updates, numbers, times) < 0:
        return -1
    return _rank_times(numbers, updates.length, times)


# Numbers times of one coordinate from `low` on that span few more than there are updates: no search, no sort.
cdef int _number_dense(const Updates* updates, uint64_t low, Py_ssize_t span, uint32_t* numbers,
                       Updates* times) noexcept nogil:
    cdef uint32_t* ranks = <uint32_t*> calloc(span, sizeof(uint32_t))
    cdef uint64_t* entry
    cdef Py_ssize_t i
    if ranks == NULL:
        return -1
    for i in range(updates.length):
        ranks[update_at(updates, i)[updates.row_words] - low] = 1
    for i in range(span):
        if ranks[i] != 0:
            ranks[i] = <uint32_t> times.length
            entry = push(times)
            if entry == NULL:
                free(ranks)
                return -1
            entry[0] = low + <uint64_t> i
    for i in range(updates.length):
        numbers[i] = ranks[update_at(updates, i)[updates.row_words] - low]
    free(ranks)
    return 0


# Numbers each update's time in the order of first occurrence, and gathers the distinct times. Each has its
# number, from 1 on, in the place of a diff.
cdef int _number_times(const Updates* updates, uint32_t* numbers, Updates* times) noexcept nogil:
    cdef int n = updates.time_words
    cdef Py_ssize_t i, slots = 64
    cdef uint32_t last = 0
    cdef const uint64_t* time
    cdef uint64_t* entry
    cdef uint32_t* table = <uint32_t*> calloc(slots, sizeof(uint32_t))
    if table == NULL:
        return -1
    for i in range(updates.length):
        time = update_at(updates, i) + updates.row_words
        if i > 0 and compare_words(update_at(times, last), time, n) == 0:
            numbers[i] = last
            continue
        if 2 * times.length >= slots:
            slots *= 4
            free(table)
            table = _rehash(times, slots)
            if table == NULL:
                return -1
        last = table[_slot_of(table, slots, times, time)]
        if last == 0:
            entry = push(times)
            if entry == NULL:
                free(table)
                return -1
            memcpy(entry, time, n * sizeof(uint64_t))
            entry[n] = times.length
            last = <uint32_t> times.length
            table[_slot_of(table, slots, times, time)] = last
        last -= 1
        numbers[i] = last
    free(table)
    return 0


cdef uint32_t* _rehash(const Updates* times, Py_ssize_t slots) noexcept nogil:
    cdef uint32_t* table = <uint32_t*> calloc(slots, sizeof(uint32_t))
    cdef Py_ssize_t i
    if table != NULL:
        for i in range(times.length):
            table[_slot_of(table, slots, times, update_at(times, i))] = <uint32_t> i + 1
    return table


cdef inline Py_ssize_t _slot_of(const uint32_t* table, Py_ssize_t slots, const Updates* times,
                                const uint64_t* time) noexcept nogil:
    cdef uint64_t hash = 0
    cdef Py_ssize_t slot
    cdef int w
    for w in range(times.time_words):
        hash = (hash ^ time[w]) * <uint64_t> 0x9E3779B97F4A7C15
        hash ^= hash >> 32
    slot = hash & (slots - 1)
    while table[slot] != 0 and compare_words(
            update_at(times, table[slot] - 1), time, times.time_words) != 0:
        slot = (slot + 1) & (slots - 1)
    return slot


# Sorts the times, so that their numbers become their positions; -1 where memory is short.
cdef int _rank_times(uint32_t* numbers, Py_ssize_t n, Updates* times) noexcept nogil:
    cdef uint32_t* ranks = <uint32_t*> malloc(times.length * sizeof(uint32_t))
    cdef Py_ssize_t i
    if ranks == NULL or consolidate(times) < 0:
        free(ranks)
        return -1
    for i in range(times.length):
        ranks[update_at(times, i)[times.time_words] - 1] = <uint32_t> i
    for i in range(n):
        numbers[i] = ranks[numbers[i]]
    free(ranks)
    return 0
