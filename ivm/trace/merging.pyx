"""Merges that several threads may work at: each adds up a range of the keys.

The parts are written to one block, each where it begins if all rows before it stay. What was lost is closed
up at the end, each array by one thread, which takes fuel as well, a sixteenth of what moving an update
through a merge does. An array that some part has left out, since all that it would say there is constant, is
filled in then. A small block is copied to one of the size that is needed, and not closed up.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memmove
from libcpp.vector cimport vector

from ivm.team cimport share_work
from ivm.trace.batch cimport (
    Batch, Room, allocate_batch, drop, first_update, first_val, key_at, pack_batch, seek_key,
)
from ivm.trace.merge cimport (
    Merge, appends_only, finish_merge, free_merge, merge_batches, start_merge, start_part, work_merge,
)

cdef enum:
    CLOSED_AT_ONCE = 1 << 12    # elements
    CLOSING_SHARE = 16          # of which so many take the fuel of an update

cdef int64_t WITHOUT_END = <int64_t> 1 << 62     # of fuel

# What one thread does next: merge a part, or close up an array.
cdef struct Task:
    Merging* merging
    int piece
    Py_ssize_t fuel


cdef Merging* start_merging(Batch* a, Batch* b, const uint64_t* since, int parts) noexcept nogil:
    cdef Merging* m = <Merging*> calloc(
        1, sizeof(Merging) + parts * (sizeof(Merge*) + sizeof(Batch)))
    cdef bint started
    if m == NULL:
        return NULL
    m.a = a
    m.b = b
    m.views = <Batch*> (m + 1)
    m.part = <Merge**> (m.views + parts)
    m.parts = 1 if appends_only(a, b, since) else parts
    if m.parts > 1:
        started = start_parts(m, since)
    else:
        m.part[0] = start_merge(a, b, since)
        started = m.part[0] != NULL
    if not started:
        free_merging(m)
        return NULL
    return m


cdef bint start_parts(Merging* m, const uint64_t* since) noexcept nogil:
    cdef Py_ssize_t in_a = 0, in_b = 0, end_a, end_b
    cdef Room room
    cdef int p
    # One element more in each part, for what is written before it is known to count.
    room.keys = m.a.keys + m.b.keys + m.parts
    room.vals = m.a.vals + m.b.vals + m.parts
    room.updates = m.a.updates + m.b.updates + m.parts
    room.times = m.a.time_count + m.b.time_count
    room.diff = room.val_start = room.update_start = room.time_of = True
    m.block = allocate_batch(m.a.key_words, m.a.val_words, m.a.time_words, &room)
    if m.block == NULL:
        return False
    for p in range(m.parts):
        view_part(m, p, in_a, in_b)
        split(m.a, m.b, p + 1, m.parts, &end_a, &end_b)
        m.part[p] = start_part(m.a, in_a, end_a, m.b, in_b, end_b, since, &m.views[p])
        if m.part[p] == NULL:
            return False
        in_a = end_a
        in_b = end_b
    return True


# Lets a part begin where the rows before those keys of both batches end.
cdef void view_part(Merging* m, int p, Py_ssize_t in_a, Py_ssize_t in_b) noexcept nogil:
    cdef Batch* view = &m.views[p]
    cdef Py_ssize_t keys = in_a + in_b + p, vals = first_val(m.a, in_a) + first_val(m.b, in_b) + p
    cdef Py_ssize_t updates = updates_before(m.a, in_a) + updates_before(m.b, in_b) + p
    view[0] = m.block[0]
    view.key += keys * view.key_words
    view.val += vals * view.val_words
    view.diff += updates
    view.val_start += keys
    view.update_start += vals
    view.time_of += updates


# The keys of two batches before which lie about `p` parts, of so many, of their updates.
cdef void split(const Batch* a, const Batch* b, int p, int parts, Py_ssize_t* in_a,
                Py_ssize_t* in_b) noexcept nogil:
    cdef const Batch* more = a if a.keys >= b.keys else b
    cdef const Batch* less = b if a.keys >= b.keys else a
    cdef Py_ssize_t wanted = (a.updates + b.updates) // parts * p, low = 0, high = more.keys, middle
    cdef Py_ssize_t other = less.keys
    if p == parts:
        low = more.keys
    while low < high and p < parts:
        middle = (low + high) // 2
        other = seek_key(less, key_at(more, middle), 0)
        if updates_before(more, middle) + updates_before(less, other) < wanted:
            low = middle + 1
        else:
            high = middle
    other = seek_key(less, key_at(more, low), 0) if low < more.keys else less.keys
    in_a[0] = low if more == a else other
    in_b[0] = other if more == a else low


cdef inline Py_ssize_t updates_before(const Batch* b, Py_ssize_t k) noexcept nogil:
    return first_update(b, first_val(b, k))


cdef int work_together(vector[Merging*]& merges, Py_ssize_t fuel, int threads) except -1 nogil:
    cdef vector[Task] tasks
    cdef Merging* m
    cdef int piece
    for m in merges:
        for piece in range(m.parts):
            tasks.push_back(Task(m, piece, fuel // m.parts))
    share_work(merge_piece, tasks.data(), tasks.size(), threads)
    tasks.clear()
    for m in merges:
        if is_to_close(m):
            begin_closing(m)
            for piece in range(ARRAYS):
                tasks.push_back(Task(m, piece, fuel_left(m)))
    share_work(close_piece, tasks.data(), tasks.size(), threads)
    for m in merges:
        if m.out == NULL:
            work_merging(m, fuel_left(m))
        else:
            m.left = closing_left(m)
    return 0


cdef int merge_piece(void* context, Py_ssize_t i) except -1 nogil:
    cdef const Task* task = <const Task*> context + i
    work_merge(task.merging.part[task.piece], task.fuel)
    return 0


cdef int close_piece(void* context, Py_ssize_t i) except -1 nogil:
    cdef const Task* task = <const Task*> context + i
    close_array(task.merging, task.piece, task.fuel)
    return 0


cdef void work_merging(Merging* m, Py_ssize_t fuel) noexcept nogil:
    cdef int p, array
    for p in range(m.parts):
        if fuel > 0:
            fuel = work_merge(m.part[p], fuel)
    if fuel > 0 and m.parts > 1:
        begin_closing(m)
        for array in range(ARRAYS):
            if fuel > 0:
                fuel = close_array(m, array, fuel)
    m.left = fuel


# What merging the parts has left.
cdef Py_ssize_t fuel_left(const Merging* m) noexcept nogil:
    cdef Py_ssize_t left = 0
    cdef int p
    for p in range(m.parts):
        left += max(m.part[p].fuel, 0)
    return left


# Whether there are several parts, and each is merged.
cdef bint is_to_close(const Merging* m) noexcept nogil:
    cdef int p
    for p in range(m.parts):
        if m.part[p].fuel <= 0:
            return False
    return m.parts > 1


cdef Batch* finish_merging(Merging* m) noexcept nogil:
    cdef Batch* out
    if m.parts > 1:
        out = m.out
        leave_out(m)
        m.out = NULL
        if out == m.block:
            m.block = NULL
        free_merging(m)
        return pack_batch(out)
    out = finish_merge(m.part[0])
    m.part[0] = NULL
    free_merging(m)
    return out


cdef void free_merging(Merging* m) noexcept nogil:
    cdef int p
    for p in range(m.parts):
        if m.part[p] != NULL:
            if m.parts > 1:
                m.part[p].out = NULL    # a view of the block
            free_merge(m.part[p])
    if m.out != m.block:
        drop(m.out)
    drop(m.block)
    free(m)


cdef Batch* merge_at_once(Batch* a, Batch* b, const uint64_t* since, int parts) except? NULL nogil:
    cdef vector[Merging*] merges
    cdef Batch* merged = NULL
    if parts == 1:
        return merge_batches(a, b, since)
    merges.resize(1, NULL)
    merges[0] = start_merging(a, b, since, parts)
    if merges[0] == NULL:
        return NULL
    try:
        work_together(merges, WITHOUT_END, parts)
        merged = finish_merging(merges[0])
    finally:
        if merged == NULL:
            free_merging(merges[0])
    return merged


# --- closing up ---

# Says where the result is to be: in the block, or, if that is small and there is memory, elsewhere.
cdef void begin_closing(Merging* m) noexcept nogil:
    cdef Room room
    cdef Batch* out
    if m.out != NULL:
        return
    add_lengths(m)
    m.out = m.block
    if m.block.mapped > 0:
        return
    room.keys = m.block.keys
    room.vals = m.block.vals
    room.updates = m.block.updates
    room.times = m.block.time_count
    room.diff = is_needed(m, DIFFS)
    room.val_start = is_needed(m, VAL_STARTS)
    room.update_start = is_needed(m, UPDATE_STARTS)
    room.time_of = is_needed(m, TIMES)
    out = allocate_batch(m.block.key_words, m.block.val_words, m.block.time_words, &room)
    if out == NULL:
        return
    out.keys = m.block.keys
    out.vals = m.block.vals
    out.updates = m.block.updates
    out.time_count = m.block.time_count
    memcpy(out.times, m.block.times, out.time_count * out.time_words * sizeof(uint64_t))
    m.out = out


# Moves what the parts have written to an array to where it belongs, as far as the fuel lasts; what is left of it.
cdef Py_ssize_t close_array(Merging* m, int array, Py_ssize_t fuel) noexcept nogil:
    cdef Closing* closing = &m.closings[array]
    cdef Py_ssize_t length, count
    cdef bint needed = is_needed(m, array)
    while needed and closing.part < m.parts and fuel > 0:
        length = length_of(&m.views[closing.part], array)
        count = min(length - closing.moved, <Py_ssize_t> CLOSED_AT_ONCE)
        move_array(m, closing.part, array, closing.moved, count)
        fuel -= 1 + count // CLOSING_SHARE
        closing.moved += count
        if closing.moved == length:
            closing.part += 1
            closing.moved = 0
    if needed and closing.part == m.parts:
        end_starts(m, array)
    closing.left = fuel
    return fuel


# What the array that took most fuel has left.
cdef Py_ssize_t closing_left(const Merging* m) noexcept nogil:
    cdef Py_ssize_t left = m.closings[0].left
    cdef int array
    for array in range(1, ARRAYS):
        left = min(left, m.closings[array].left)
    return left


# Notes what the parts have together: the lengths of the result.
cdef void add_lengths(Merging* m) noexcept nogil:
    cdef int p
    m.block.keys = m.block.vals = m.block.updates = 0
    for p in range(m.parts):
        m.block.keys += m.views[p].keys
        m.block.vals += m.views[p].vals
        m.block.updates += m.views[p].updates
    m.block.time_count = m.views[0].time_count


# Writes behind all starts where the last one ends.
cdef void end_starts(Merging* m, int array) noexcept nogil:
    if array == VAL_STARTS:
        m.out.val_start[m.out.keys] = <uint32_t> m.out.vals
    elif array == UPDATE_STARTS:
        m.out.update_start[m.out.vals] = <uint32_t> m.out.updates


# The elements of an array.
cdef Py_ssize_t length_of(const Batch* b, int array) noexcept nogil:
    if array == KEYS or array == VAL_STARTS:
        return b.keys
    return b.vals if array == VALS or array == UPDATE_STARTS else b.updates


# Whether the result has an array.
cdef bint is_needed(const Merging* m, int array) noexcept nogil:
    cdef bint odd = False
    cdef int p
    if array == VAL_STARTS:
        return m.block.keys != m.block.vals
    if array == UPDATE_STARTS:
        return m.block.vals != m.block.updates
    if array == TIMES:
        return m.block.time_count > 1
    for p in range(m.parts):
        odd |= m.part[p].odd_diffs != 0
    return array != DIFFS or odd


# Puts `count` elements of a part's array, from the `at`-th on, to where they belong.
cdef void move_array(Merging* m, int p, int array, Py_ssize_t at, Py_ssize_t count) noexcept nogil:
    cdef Batch* part = &m.views[p]
    cdef Py_ssize_t keys = 0, vals = 0, updates = 0, i
    cdef int before
    for before in range(p):
        keys += m.views[before].keys
        vals += m.views[before].vals
        updates += m.views[before].updates
    if array == KEYS:
        move(m.out.key + (keys + at) * part.key_words, part.key + at * part.key_words,
             count * part.key_words * sizeof(uint64_t))
    elif array == VALS:
        move(m.out.val + (vals + at) * part.val_words, part.val + at * part.val_words,
             count * part.val_words * sizeof(uint64_t))
    elif array == TIMES:
        move(m.out.time_of + updates + at, part.time_of + at, count * sizeof(uint32_t))
    elif array == VAL_STARTS:
        move_starts(m.out.val_start + keys, part.val_start if part.keys != part.vals else NULL, at, count,
                    vals)
    elif array == UPDATE_STARTS:
        move_starts(m.out.update_start + vals,
                    part.update_start if part.vals != part.updates else NULL, at, count, updates)
    elif m.part[p].odd_diffs != 0:
        move(m.out.diff + updates + at, part.diff + at, count * sizeof(int64_t))
    else:
        for i in range(updates + at, updates + at + count):
            m.out.diff[i] = 1


cdef inline void move(void* target, const void* source, size_t bytes) noexcept nogil:
    if target != source:
        memmove(target, source, bytes)


# Positions, counted from the part's first one, become those in the whole; NULL: each is its own.
cdef inline void move_starts(uint32_t* target, const uint32_t* source, Py_ssize_t at, Py_ssize_t count,
                             Py_ssize_t first) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(at, at + count):
        target[i] = <uint32_t> (first + (i if source == NULL else source[i]))


# Leaves out of the result what all that an array would say is constant.
cdef void leave_out(Merging* m) noexcept nogil:
    if not is_needed(m, DIFFS):
        m.out.diff = NULL
    if not is_needed(m, VAL_STARTS):
        m.out.val_start = NULL
    if not is_needed(m, UPDATE_STARTS):
        m.out.update_start = NULL
    if not is_needed(m, TIMES):
        m.out.time_of = NULL
