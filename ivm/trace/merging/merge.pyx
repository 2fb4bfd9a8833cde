"""Merges two batches with fuel: any number of updates at a time.

Invariant: the output is the sum of all rows before the two sides' cursors, with times advanced
(`merge_times`); so a merge may stop after any value, and resumes from the cursors. Runs of one side are found
by galloping and copied as blocks; where the sides alternate, rows are chosen one by one
(`ivm.trace.merging.merge_branchless`).

An array is left out of the result while its contents are constant. From the first exception on it is written,
and the constant part before is filled in at the end, with fuel too. Diffs are written as well where rows are
chosen one by one, and left out in the end if all are 1.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from libcpp.algorithm cimport sort

from ivm.memory.huge_pages cimport LARGE
from ivm.threads.team cimport note_overflow, watch_overflow
from ivm.trace.batch cimport (
    MOST_UPDATES, Batch, Room, allocate_batch, diff_of, drop, first_update, first_val, follows, is_plain,
    key_at, pack_batch, seek_key, val_at,
)
from ivm.trace.counts cimport sum_of
from ivm.trace.merging.merge_state cimport Merge, Side
from ivm.trace.merging.merge_times cimport merge_times
from ivm.trace.merging.merge_output cimport (
    begin_vals,
    copy_starts,
    copy_updates,
    copy_words,
    is_last_key,
    write_update,
    write_val,
)
from ivm.trace.times cimport compare_words
from ivm.trace.merging.merge_branchless cimport zip_sides

cdef int64_t WITHOUT_END = <int64_t> 1 << 62     # of fuel


# --- starting and ending ---

cdef Merge* start_merge(Batch* a, Batch* b, const uint64_t* since) noexcept nogil:
    cdef Py_ssize_t times = a.time_count + b.time_count
    cdef size_t words = times * (1 + a.time_words)
    cdef Merge* m = <Merge*> malloc(sizeof(Merge) + words * 8 + 3 * times * sizeof(uint32_t))
    if m == NULL:
        return NULL
    memset(m, 0, sizeof(Merge))
    m.a.b = a
    m.b.b = b
    m.slot_diff = <int64_t*> (m + 1)
    m.slot_time = <uint32_t*> (m.slot_diff + words)
    m.a.mapped = m.slot_time + times
    m.b.mapped = m.a.mapped + a.time_count
    m.out = _allocate_sum(a, b, since)
    if m.out == NULL or merge_times(m, since, <uint64_t*> m.slot_diff + times) < 0:
        free_merge(m)
        return NULL
    memset(m.slot_diff, 0, m.out.time_count * sizeof(int64_t))
    if m.out.time_count == 1:
        m.out.time_of = NULL
    m.diffs_from = 0 if a.diff != NULL or b.diff != NULL else -1
    m.vals_from = 0 if a.val_start != NULL or b.val_start != NULL else -1
    m.updates_from = 0 if a.update_start != NULL or b.update_start != NULL else -1
    return m


cdef Batch* _allocate_sum(const Batch* a, const Batch* b, const uint64_t* since) noexcept nogil:
    cdef Room room
    cdef bint appends = _appends_only(a, b, since)
    cdef Batch* out
    room.keys = a.keys + b.keys + 1     # one more, for a key that is written before it is known to stay
    room.vals = a.vals + b.vals
    room.updates = a.updates + b.updates
    room.times = a.time_count + b.time_count
    room.diff = room.val_start = room.update_start = room.time_of = True
    if appends:
        # Later batches find room here, so that rows in the order of their keys are copied twice.
        room.keys = room.vals = min(2 * room.updates, <Py_ssize_t> MOST_UPDATES)
        room.diff = room.val_start = room.update_start = room.time_of = False
    out = allocate_batch(a.key_words, a.val_words, a.time_words, &room)
    if out != NULL:
        out.room = room.keys if appends else 0
    return out


# True if a merge only appends the keys and values of one batch to those of another, and they are large.
cdef bint _appends_only(const Batch* a, const Batch* b, const uint64_t* since) noexcept nogil:
    return ((a.keys + b.keys) * (a.key_words + a.val_words) * sizeof(uint64_t) >= LARGE
            and is_plain(a, since[0]) and is_plain(b, since[0]) and follows(a, b))


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
    if m.overflowed:
        note_overflow()
    m.out = NULL
    free_merge(m)
    return pack_batch(out)


cdef void free_merge(Merge* m) noexcept nogil:
    drop(m.out)
    free(m)


cdef Batch* merge_batches(Batch* a, Batch* b, const uint64_t* since) noexcept nogil:
    cdef Merge* m = start_merge(a, b, since)
    if m == NULL:
        return NULL
    work_merge(m, WITHOUT_END)
    return finish_merge(m)


# --- runs of one side ---

# Moves a side past its value, and past its key if that was the last one.
cdef inline void _pass_val(Side* side) noexcept nogil:
    side.val += 1
    side.key += side.val == first_val(side.b, side.key + 1)


# Copies the values of a side's key up to `end`.
cdef void _copy_vals(Merge* m, Side* side, Py_ssize_t end) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* b = side.b
    cdef Py_ssize_t first = first_update(b, side.val), last = first_update(b, end)
    m.fuel -= last - first
    if not side.steady:
        while side.val < end:
            _gather(m, side)
            _write_gathered(m, key_at(b, side.key), val_at(b, side.val))
            _pass_val(side)
        return
    begin_vals(m, key_at(b, side.key), end - side.val)
    if m.updates_from >= 0:
        copy_starts(out.update_start + out.vals, b.update_start, side.val, end,
                     out.updates - first)
    copy_words(out.val + out.vals * out.val_words, val_at(b, side.val), (end - side.val) * out.val_words)
    out.vals += end - side.val
    copy_updates(m, side, first, last)
    side.val = end
    side.key += end == first_val(b, side.key + 1)


# Copies the keys of a side up to `end`, none of which is half copied.
cdef void _copy_keys(Merge* m, Side* side, Py_ssize_t end) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* b = side.b
    cdef Py_ssize_t vals = first_val(b, end), first = first_update(b, side.val)
    if not side.steady:
        while side.key < end:
            _copy_vals(m, side, first_val(b, side.key + 1))
        return
    if m.vals_from >= 0:
        copy_starts(out.val_start + out.keys, b.val_start, side.key, end, out.vals - side.val)
    copy_words(out.key + out.keys * out.key_words, key_at(b, side.key),
          (end - side.key) * out.key_words)
    if m.updates_from >= 0:
        copy_starts(out.update_start + out.vals, b.update_start, side.val, vals,
                     out.updates - first)
    copy_words(out.val + out.vals * out.val_words, val_at(b, side.val), (vals - side.val) * out.val_words)
    out.keys += end - side.key
    out.vals += vals - side.val
    m.fuel -= first_update(b, vals) - first
    copy_updates(m, side, first, first_update(b, vals))
    side.key = end
    side.val = vals


# Copies the rows of a side before the key at `end`, as far as the fuel lasts.
cdef void _copy_rows(Merge* m, Side* side, Py_ssize_t end) noexcept nogil:
    cdef const Batch* b = side.b
    cdef Py_ssize_t low = side.key, high = end, middle
    cdef Py_ssize_t limit = first_update(b, side.val) + m.fuel
    if side.val > first_val(b, low) or is_last_key(m.out, m.out.keys, key_at(b, low)):
        end = low                   # a key that is under way
    elif first_update(b, first_val(b, end)) > limit:
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
        _copy_vals(m, side, min(first_val(b, side.key + 1), side.val + m.fuel))


# --- one value ---

# Adds the updates of a side's value to the slots, one sum for each distinct time.
cdef void _gather(Merge* m, const Side* side) noexcept nogil:
    cdef Py_ssize_t u
    cdef uint32_t time
    for u in range(first_update(side.b, side.val), first_update(side.b, side.val + 1)):
        time = side.mapped[0 if side.b.time_of == NULL else side.b.time_of[u]]
        if m.slot_diff[time] == 0:
            m.slot_time[m.slots] = time
            m.slots += 1
        m.slot_diff[time] = sum_of(m.slot_diff[time], diff_of(side.b, u))


# Writes the gathered updates of one row. A sum that has come to zero and grown again is listed twice; taking
# it once makes this right.
cdef void _write_gathered(Merge* m, const uint64_t* key, const uint64_t* val) noexcept nogil:
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
    write_val(m, key, val, first)


# Merges a row that both sides have.
cdef inline void _merge_val(Merge* m) noexcept nogil:
    cdef Py_ssize_t u = first_update(m.a.b, m.a.val), w = first_update(m.b.b, m.b.val)
    m.fuel -= (first_update(m.a.b, m.a.val + 1) - u) + (first_update(m.b.b, m.b.val + 1) - w)
    _gather(m, &m.a)
    _gather(m, &m.b)
    _write_gathered(m, key_at(m.a.b, m.a.key), val_at(m.a.b, m.a.val))
    _pass_val(&m.a)
    _pass_val(&m.b)


# --- all rows ---

# The end of the run of a side's values of its key below `val`, within the fuel.
cdef inline Py_ssize_t _val_run(Merge* m, const Side* side, const uint64_t* val) noexcept nogil:
    cdef Py_ssize_t end = side.val + 1
    cdef Py_ssize_t limit = min(first_val(side.b, side.key + 1), side.val + m.fuel)
    while end < limit and compare_words(val_at(side.b, end), val, side.b.val_words) < 0:
        end += 1
    return end


cdef void _merge_rows(Merge* m) noexcept nogil:
    cdef int order
    cdef bint same
    cdef Py_ssize_t end
    cdef Side* side
    cdef Side* other
    while m.fuel > 0:
        if m.a.key == m.a.b.keys and m.b.key == m.b.b.keys:
            return
        if m.a.key == m.a.b.keys:
            _copy_rows(m, &m.b, m.b.b.keys)
            continue
        if m.b.key == m.b.b.keys:
            _copy_rows(m, &m.a, m.a.b.keys)
            continue
        order = compare_words(key_at(m.a.b, m.a.key), key_at(m.b.b, m.b.key), m.out.key_words)
        same = order == 0
        if same:
            order = compare_words(val_at(m.a.b, m.a.val), val_at(m.b.b, m.b.val), m.out.val_words)
            if order == 0:
                _merge_val(m)
                continue
        side = &m.a if order < 0 else &m.b
        other = &m.b if order < 0 else &m.a
        if same:
            end = _val_run(m, side, val_at(other.b, other.val))
            if not zip_sides(m, side, end - side.val, same):
                _copy_vals(m, side, end)
        else:
            end = min(side.b.keys, seek_key(side.b, key_at(other.b, other.key), side.key + 1))
            if not zip_sides(m, side, end - side.key, same):
                _copy_rows(m, side, end)


# --- filling in ---

# Fills in arrays that were left out while they were constant, from the end, as far as the fuel lasts.
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
    cdef int* before = watch_overflow(&m.overflowed)
    m.fuel = fuel
    _merge_rows(m)
    watch_overflow(before)
    if m.fuel > 0:
        _fill_in(m)
    return m.fuel
