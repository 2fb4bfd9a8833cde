"""Merging two batches, with fuel: any number of updates at a time.

What is written so far is always the sum of what lies before the two sides' cursors, with times
advanced (`merge_times`); so a merge may stop after any value, and goes on from the cursors. Runs
that only one side has are found by galloping and copied as blocks; where the sides alternate, rows
are chosen without branches.

An array is left out of the result while all that it would say is constant. When that ends, it is
written from there on, and what comes before is filled in at last, with fuel too.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from libcpp.algorithm cimport sort

from ivm.trace.batch cimport (
    Batch, Room, allocate_batch, diff_of, drop, first_update, first_val, key_at, pack_batch, retain,
    seek_key, val_at,
)
from ivm.trace.merge_times cimport merge_times
from ivm.trace.merge_writing cimport (
    copy_starts, copy_updates, copy_words, write_key, write_update, write_val,
)
from ivm.trace.times cimport compare_words

cdef int64_t WITHOUT_END = <int64_t> 1 << 62     # of fuel

cdef enum:
    ZIP_STEPS = 32      # rows chosen one by one between looks for a run
    SHORT_RUN = 4       # keys, from which a run is copied as a block


# --- starting and ending ---

cdef Merge* start_merge(Batch* a, Batch* b, const uint64_t* since) noexcept nogil:
    cdef Room room
    cdef Py_ssize_t times = a.time_count + b.time_count
    cdef size_t words = times * (1 + a.time_words)
    cdef Merge* m = <Merge*> malloc(sizeof(Merge) + words * 8 + 3 * times * sizeof(uint32_t))
    if m == NULL:
        return NULL
    memset(m, 0, sizeof(Merge))
    room.keys = a.keys + b.keys
    room.vals = a.vals + b.vals
    room.updates = a.updates + b.updates
    room.times = times
    room.diff = room.val_start = room.update_start = room.time_of = True
    m.slot_diff = <int64_t*> (m + 1)
    m.slot_time = <uint32_t*> (m.slot_diff + words)
    m.a.mapped = m.slot_time + times
    m.b.mapped = m.a.mapped + a.time_count
    m.out = allocate_batch(a.key_words, a.val_words, a.time_words, &room)
    m.a.b = a
    m.b.b = b
    if m.out == NULL or merge_times(m, since, <uint64_t*> m.slot_diff + times) < 0:
        drop(m.out)
        free(m)
        return NULL
    retain(a)
    retain(b)
    memset(m.slot_diff, 0, m.out.time_count * sizeof(int64_t))
    if m.out.time_count == 1:
        m.out.time_of = NULL
    m.diffs_from = 0 if a.diff != NULL or b.diff != NULL else -1
    m.vals_from = 0 if a.val_start != NULL or b.val_start != NULL else -1
    m.updates_from = 0 if a.update_start != NULL or b.update_start != NULL else -1
    return m


cdef Batch* finish_merge(Merge* m) noexcept nogil:
    cdef Batch* out = m.out
    if out.keys == out.vals:
        out.val_start = NULL
    else:
        out.val_start[out.keys] = <uint32_t> out.vals
    if out.vals == out.updates:
        out.update_start = NULL
    else:
        out.update_start[out.vals] = <uint32_t> out.updates
    if m.odd_diffs == 0:
        out.diff = NULL
    m.out = NULL
    free_merge(m)
    return pack_batch(out)


cdef void free_merge(Merge* m) noexcept nogil:
    drop(m.out)
    drop(m.a.b)
    drop(m.b.b)
    free(m)


cdef Batch* merge_batches(Batch* a, Batch* b, const uint64_t* since) noexcept nogil:
    cdef Merge* m = start_merge(a, b, since)
    if m == NULL:
        return NULL
    work_merge(m, WITHOUT_END)
    return finish_merge(m)


# --- runs of one side ---

# The values of a side up to `end`.
cdef void _copy_vals(Merge* m, Side* side, Py_ssize_t end) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* b = side.b
    cdef Py_ssize_t first = first_update(b, side.val), last = first_update(b, end)
    m.fuel -= last - first
    if not side.steady:
        while side.val < end:
            _gather(m, side)
            _write_gathered(m, val_at(b, side.val))
            side.val += 1
        return
    if m.updates_from >= 0:
        copy_starts(out.update_start + out.vals, b.update_start, side.val, end,
                     out.updates - first)
    copy_words(out.val + out.vals * out.val_words, val_at(b, side.val), (end - side.val) * out.val_words)
    out.vals += end - side.val
    copy_updates(m, side, first, last)
    side.val = end


# The keys of a side up to `end`.
cdef void _copy_keys(Merge* m, Side* side, Py_ssize_t end) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* b = side.b
    cdef Py_ssize_t before
    if not side.steady:
        while side.key < end:
            before = out.vals
            _copy_vals(m, side, first_val(b, side.key + 1))
            write_key(m, key_at(b, side.key), before)
            side.key += 1
        return
    if m.vals_from >= 0:
        copy_starts(out.val_start + out.keys, b.val_start, side.key, end,
                     out.vals - first_val(b, side.key))
    copy_words(out.key + out.keys * out.key_words, key_at(b, side.key),
          (end - side.key) * out.key_words)
    out.keys += end - side.key
    side.key = end
    _copy_vals(m, side, first_val(b, end))


# --- one value ---

# Adds the updates of a side's value to the slots, a sum for each time that occurs.
cdef void _gather(Merge* m, const Side* side) noexcept nogil:
    cdef Py_ssize_t u
    cdef uint32_t time
    for u in range(first_update(side.b, side.val), first_update(side.b, side.val + 1)):
        time = side.mapped[0 if side.b.time_of == NULL else side.b.time_of[u]]
        if m.slot_diff[time] == 0:
            m.slot_time[m.slots] = time
            m.slots += 1
        m.slot_diff[time] += diff_of(side.b, u)


# Writes what was gathered as the updates of one value. A sum that has come to zero and grown again
# is listed twice, which the sum's being taken once makes good.
cdef void _write_gathered(Merge* m, const uint64_t* val) noexcept nogil:
    cdef Py_ssize_t i, first = m.out.updates
    cdef int64_t diff
    if m.slots > 1:
        sort(m.slot_time, m.slot_time + m.slots)
    for i in range(m.slots):
        diff = m.slot_diff[m.slot_time[i]]
        m.slot_diff[m.slot_time[i]] = 0
        if diff != 0:
            write_update(m, m.slot_time[i], diff)
    m.slots = 0
    write_val(m, val, first)


# A value that both sides have.
cdef inline void _merge_val(Merge* m) noexcept nogil:
    cdef Py_ssize_t u = first_update(m.a.b, m.a.val), w = first_update(m.b.b, m.b.val)
    cdef Py_ssize_t first = m.out.updates
    cdef Py_ssize_t count = (first_update(m.a.b, m.a.val + 1) - u
                             + first_update(m.b.b, m.b.val + 1) - w)
    cdef uint32_t s, t
    cdef int64_t diff
    m.fuel -= count
    s = m.a.mapped[0 if m.a.b.time_of == NULL else m.a.b.time_of[u]]
    t = m.b.mapped[0 if m.b.b.time_of == NULL else m.b.b.time_of[w]]
    if count == 2 and s == t:
        diff = diff_of(m.a.b, u) + diff_of(m.b.b, w)
        if diff != 0:
            write_update(m, s, diff)
            write_val(m, val_at(m.a.b, m.a.val), first)
    else:
        _gather(m, &m.a)
        _gather(m, &m.b)
        _write_gathered(m, val_at(m.a.b, m.a.val))
    m.a.val += 1
    m.b.val += 1


# --- one key ---

cdef inline void _open(Merge* m, bint in_a, bint in_b) noexcept nogil:
    m.open = True
    m.open_key = key_at(m.a.b, m.a.key) if in_a else key_at(m.b.b, m.b.key)
    m.open_val = m.out.vals
    m.a.key += in_a
    m.b.key += in_b
    m.a.val_end = first_val(m.a.b, m.a.key)
    m.b.val_end = first_val(m.b.b, m.b.key)


# The end of the run of a side's values below `val` (NULL: all of the key's), within the fuel.
cdef inline Py_ssize_t _val_run(Merge* m, const Side* side, const uint64_t* val) noexcept nogil:
    cdef Py_ssize_t end = side.val + 1, limit = min(side.val_end, side.val + max(m.fuel, 1))
    if val == NULL:
        end = limit
    while end < limit and compare_words(val_at(side.b, end), val, side.b.val_words) < 0:
        end += 1
    return end


# Goes on with the open key, as far as the fuel lasts.
cdef void _merge_open_key(Merge* m) noexcept nogil:
    cdef bint zip = m.a.single and m.b.single and m.out.val_words == 1
    cdef int order
    while m.fuel > 0:
        if m.a.val < m.a.val_end and m.b.val < m.b.val_end:
            if zip:
                _zip_vals(m)
                if m.fuel <= 0 or m.a.val == m.a.val_end or m.b.val == m.b.val_end:
                    continue
            order = compare_words(val_at(m.a.b, m.a.val), val_at(m.b.b, m.b.val), m.out.val_words)
            if order == 0:
                _merge_val(m)
            elif order < 0:
                _copy_vals(m, &m.a, _val_run(m, &m.a, val_at(m.b.b, m.b.val)))
            else:
                _copy_vals(m, &m.b, _val_run(m, &m.b, val_at(m.a.b, m.a.val)))
        elif m.a.val < m.a.val_end:
            _copy_vals(m, &m.a, _val_run(m, &m.a, NULL))
        elif m.b.val < m.b.val_end:
            _copy_vals(m, &m.b, _val_run(m, &m.b, NULL))
        else:
            write_key(m, m.open_key, m.open_val)
            m.open = False
            return


# --- all keys ---

# Copies the keys of a side up to `end`, as far as the fuel lasts. A key of more updates than that
# is opened instead.
cdef void _copy_run(Merge* m, Side* side, Py_ssize_t end) noexcept nogil:
    cdef const Batch* b = side.b
    cdef Py_ssize_t low = side.key, high = end, middle
    cdef Py_ssize_t limit = first_update(b, side.val) + m.fuel
    if first_update(b, first_val(b, end)) > limit:
        while low < high:           # the last key that ends within the fuel
            middle = (low + high + 1) // 2
            if first_update(b, first_val(b, middle)) <= limit:
                low = middle
            else:
                high = middle - 1
        end = low
    if end > side.key:
        _copy_keys(m, side, end)
    else:
        _open(m, side == &m.a, side == &m.b)


# One of two words or addresses, without a branch: `x` if `mask` is all ones, `y` if it is 0.
cdef inline uint64_t _either(uint64_t mask, uint64_t x, uint64_t y) noexcept nogil:
    return y ^ ((x ^ y) & mask)


# Chooses one key after the other while the sides alternate; stops at a key that both have or that
# has several values, after a run, at the end of a side, and without fuel.
cdef inline void _zip_keys(Merge* m, int key_words, int val_words) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* a = m.a.b
    cdef const Batch* b = m.b.b
    cdef Py_ssize_t i = m.a.key, j = m.b.key, va = m.a.val, vb = m.b.val, n, s, from_a, o, v
    cdef const uint64_t* x
    cdef const uint64_t* y
    cdef uint64_t mask
    cdef bint val_starts = m.vals_from >= 0
    cdef int w
    while True:
        n = min(min(a.keys - i, b.keys - j), min(m.fuel, <Py_ssize_t> ZIP_STEPS))
        from_a = i
        o = out.keys
        v = out.vals
        for s in range(n):
            x = a.key + i * key_words
            y = b.key + j * key_words
            if a.val_start != NULL and a.val_start[i + 1] - a.val_start[i] != 1 or (
                    b.val_start != NULL and b.val_start[j + 1] - b.val_start[j] != 1):
                break
            if key_words == 1:
                if x[0] == y[0]:
                    break
                mask = -(<uint64_t> (x[0] < y[0]))
                out.key[o] = _either(mask, x[0], y[0])
            else:
                w = compare_words(x, y, key_words)
                if w == 0:
                    break
                mask = -(<uint64_t> (w < 0))
                copy_words(out.key + o * key_words,
                      <const uint64_t*> _either(mask, <uint64_t> x, <uint64_t> y), key_words)
            if val_words == 1:
                out.val[v] = _either(mask, a.val[va], b.val[vb])
            else:
                copy_words(out.val + v * val_words, <const uint64_t*> _either(
                    mask, <uint64_t> (a.val + va * val_words),
                    <uint64_t> (b.val + vb * val_words)), val_words)
            _zip_update(m, mask, va, vb, v - out.vals)
            if val_starts:
                out.val_start[o] = <uint32_t> v
            i += <Py_ssize_t> (mask & 1)
            va += <Py_ssize_t> (mask & 1)
            j += <Py_ssize_t> (~mask & 1)
            vb += <Py_ssize_t> (~mask & 1)
            o += 1
            v += 1
        s = o - out.keys
        _end_zip(m, v)
        out.keys = o
        from_a = i - from_a
        if s < ZIP_STEPS or from_a == 0 or from_a == s:
            break
    m.a.key = i
    m.b.key = j
    m.a.val = va
    m.b.val = vb


# Chooses one value after the other of the open key; stops at a value that both sides have, at the
# end of a side's values, and without fuel. Values have one word.
cdef void _zip_vals(Merge* m) noexcept nogil:
    cdef const uint64_t* x = m.a.b.val
    cdef const uint64_t* y = m.b.b.val
    cdef Py_ssize_t i = m.a.val, j = m.b.val, o = m.out.vals
    cdef Py_ssize_t end = o + m.fuel
    cdef uint64_t mask
    while i < m.a.val_end and j < m.b.val_end and x[i] != y[j] and o < end:
        mask = -(<uint64_t> (x[i] < y[j]))
        m.out.val[o] = _either(mask, x[i], y[j])
        _zip_update(m, mask, i, j, o - m.out.vals)
        i += <Py_ssize_t> (mask & 1)
        j += <Py_ssize_t> (~mask & 1)
        o += 1
    _end_zip(m, o)
    m.a.val = i
    m.b.val = j


# The update of a's value i or else b's value j, each with one update; `s` values came before in
# this zip.
cdef inline void _zip_update(Merge* m, uint64_t mask, Py_ssize_t i, Py_ssize_t j,
                             Py_ssize_t s) noexcept nogil:
    cdef Batch* out = m.out
    cdef int64_t diff
    if out.time_of != NULL:
        out.time_of[out.updates + s] = <uint32_t> _either(
            mask, m.a.mapped[0 if m.a.b.time_of == NULL else m.a.b.time_of[i]],
            m.b.mapped[0 if m.b.b.time_of == NULL else m.b.b.time_of[j]])
    if m.diffs_from >= 0:
        diff = <int64_t> _either(mask, <uint64_t> diff_of(m.a.b, i), <uint64_t> diff_of(m.b.b, j))
        out.diff[out.updates + s] = diff
        m.odd_diffs |= <uint64_t> (diff ^ 1)
    if m.updates_from >= 0:
        out.update_start[out.vals + s] = <uint32_t> (out.updates + s)


cdef inline void _end_zip(Merge* m, Py_ssize_t vals) noexcept nogil:
    m.fuel -= vals - m.out.vals
    m.out.updates += vals - m.out.vals
    m.out.vals = vals


cdef void _merge_keys(Merge* m) noexcept nogil:
    cdef bint single = m.a.single and m.b.single
    cdef int order, key_words = m.out.key_words, val_words = m.out.val_words
    cdef Py_ssize_t end
    cdef Side* side
    cdef Side* other
    while m.fuel > 0:
        if m.open:
            _merge_open_key(m)
            continue
        if m.a.key == m.a.b.keys and m.b.key == m.b.b.keys:
            return
        if m.a.key == m.a.b.keys:
            _copy_run(m, &m.b, m.b.b.keys)
            continue
        if m.b.key == m.b.b.keys:
            _copy_run(m, &m.a, m.a.b.keys)
            continue
        order = compare_words(key_at(m.a.b, m.a.key), key_at(m.b.b, m.b.key), key_words)
        if order == 0:
            _open(m, True, True)
            continue
        side = &m.a if order < 0 else &m.b
        other = &m.b if order < 0 else &m.a
        end = seek_key(side.b, key_at(other.b, other.key), side.key + 1)
        if (end - side.key >= SHORT_RUN or not single
                or first_val(m.a.b, m.a.key + 1) != m.a.val + 1
                or first_val(m.b.b, m.b.key + 1) != m.b.val + 1):
            _copy_run(m, side, end)
        elif key_words == 1 and val_words == 1:
            _zip_keys(m, 1, 1)
        else:
            _zip_keys(m, key_words, val_words)


# --- filling in ---

# Writes what was left out while it was constant, from the end, as far as the fuel lasts.
cdef void _fill_in(Merge* m) noexcept nogil:
    cdef Py_ssize_t i, end
    if m.diffs_from > 0 and m.odd_diffs != 0:
        end = m.diffs_from
        m.diffs_from = max(end - max(m.fuel, 0), 0)
        for i in range(m.diffs_from, end):
            m.out.diff[i] = 1
        m.fuel -= end - m.diffs_from
    if m.vals_from > 0 and m.out.vals != m.out.keys:
        end = m.vals_from
        m.vals_from = max(end - max(m.fuel, 0), 0)
        copy_starts(m.out.val_start + m.vals_from, NULL, m.vals_from, end, 0)
        m.fuel -= end - m.vals_from
    if m.updates_from > 0 and m.out.updates != m.out.vals:
        end = m.updates_from
        m.updates_from = max(end - max(m.fuel, 0), 0)
        copy_starts(m.out.update_start + m.updates_from, NULL, m.updates_from, end, 0)
        m.fuel -= end - m.updates_from


cdef Py_ssize_t work_merge(Merge* m, Py_ssize_t fuel) noexcept nogil:
    m.fuel = fuel
    _merge_keys(m)
    if m.fuel > 0:
        _fill_in(m)
    return m.fuel
