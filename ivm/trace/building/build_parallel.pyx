"""Parallel building: several threads build one batch, each a range of the keys.

Many rows of one time are written to one block. Each part is written to the place that it has if all rows
before it survive consolidation; afterwards the gaps of rows that cancelled are closed. Parts of several times
are built as batches of their own and then concatenated.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates, empty_updates, push, release, update_at
from ivm.threads.team cimport share_work
from ivm.trace.building.build_presorted cimport view_ranges
from ivm.trace.batch cimport (
    Batch, Room, allocate_batch, drop, first_update, first_val, pack_batch, retain,
)
from ivm.trace.sorting.partition cimport Part, Ranges, deal_ranges, give_back, release_ranges
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words
from ivm.trace.building.build_unsorted cimport APPENDED, NO_MEMORY, Appended, append_dealt, build_dealt, build_unsorted


cdef Batch* build_together(Part* parts, int count, int key_words, int threads) except NULL nogil:
    cdef Ranges ranges
    cdef Batch* whole = NULL
    try:
        if not view_ranges(parts, count, key_words, &ranges, threads):
            deal_ranges(parts, count, key_words, &ranges, threads)
        if ranges.ends.size() > ranges.rows.size():
            whole = append_ranges(&ranges, key_words, threads)
        if whole == NULL:
            whole = build_ranges(&ranges, key_words, threads)
        give_back(parts, count)
    finally:
        release_ranges(&ranges)
    return whole


# Builds a batch of each range, and concatenates these.
cdef Batch* build_ranges(Ranges* ranges, int key_words, int threads) except NULL nogil:
    cdef vector[Batch*] made
    cdef Building building
    cdef int count = <int> ranges.rows.size(), t
    made.resize(count, NULL)
    building.ranges = ranges
    building.key_words = key_words
    building.made = made.data()
    try:
        share_work(build_range, &building, count, threads)
        return put_together(made.data(), count, threads)
    finally:
        for t in range(count):
            drop(made[t])


# The shared state of threads that build ranges.
cdef struct Building:
    Ranges* ranges
    int key_words
    Batch** made


cdef int build_range(void* context, Py_ssize_t t) except -1 nogil:
    cdef Building* building = <Building*> context
    cdef Ranges* ranges = building.ranges
    cdef Py_ssize_t first = ranges.first[t], buckets = ranges.first[t + 1] - first
    cdef Updates* rows = &ranges.rows[t]
    if buckets <= 1 or rows.length == 0:
        building.made[t] = build_unsorted(rows, building.key_words)
    else:
        building.made[t] = build_dealt(rows, ranges.ends.data() + first, buckets, building.key_words)
    if building.made[t] == NULL:
        no_memory()
    return 0


# A range's part of a batch that is filled in its place.
cdef struct Filling:
    Ranges* ranges
    Batch part
    Updates diffs       # unless all are 1
    Appended outcome


# Appends all ranges to one batch, each at the place that it has if all rows before survive; NULL if there are
# several times. Gaps of rows that cancelled are closed, and only if there are diffs is everything copied.
cdef Batch* append_ranges(Ranges* ranges, int key_words, int threads) except? NULL nogil:
    cdef vector[Filling] fillings
    cdef vector[Batch*] parts
    cdef Updates all = ranges.rows[0]
    cdef Batch* block = NULL
    cdef Batch* whole = NULL
    cdef Appended outcome = APPENDED
    cdef bint in_place = True
    cdef uint64_t* time = NULL
    cdef int count = <int> ranges.rows.size(), t
    fillings.resize(count)
    parts.resize(count)
    for t in range(1, count):
        all.length += ranges.rows[t].length
    block = allocate_parts(&all, key_words, count)
    if block == NULL:
        no_memory()
    all.length = 0
    for t in range(count):
        fillings[t].ranges = ranges
        view_part(block, all.length, t, &fillings[t].part)
        fillings[t].diffs = empty_updates(0, 0)
        parts[t] = &fillings[t].part
        all.length += ranges.rows[t].length
    try:
        share_work(append_range, fillings.data(), count, threads)
        for t in range(count):
            outcome = max(outcome, fillings[t].outcome)
            parts[t].diff = <int64_t*> fillings[t].diffs.words
            if parts[t].updates == 0:
                continue
            time = parts[t].times if time == NULL else time
            in_place &= parts[t].diff == NULL and compare_words(
                parts[t].times, time, block.time_words) == 0
        if outcome == NO_MEMORY:
            no_memory()
        if outcome == APPENDED and in_place and time != NULL:
            memcpy(block.times, time, block.time_words * sizeof(uint64_t))
            whole = close_parts(block, parts.data(), count)
            block = NULL
        elif outcome == APPENDED:
            whole = concatenate(parts.data(), count, threads)
    finally:
        drop(block)
        for t in range(count):
            release(&fillings[t].diffs)
    return whole


cdef int append_range(void* context, Py_ssize_t t) except -1 nogil:
    cdef Filling* filling = <Filling*> context + t
    cdef Ranges* ranges = filling.ranges
    cdef Py_ssize_t first = ranges.first[t]
    filling.outcome = APPENDED
    if ranges.rows[t].length > 0:
        filling.outcome = append_dealt(&filling.part, &ranges.rows[t], ranges.ends.data() + first,
                                       ranges.first[t + 1] - first, &filling.diffs)
        if filling.part.keys == filling.part.vals:
            filling.part.val_start = NULL
    return 0


# Allocates a block for the updates of one time in several parts, each of which has one start of values more
# than keys.
cdef Batch* allocate_parts(const Updates* updates, int key_words, int parts) noexcept nogil:
    cdef Room room
    memset(&room, 0, sizeof(Room))
    room.keys = updates.length + parts
    room.vals = room.updates = updates.length
    room.times = parts
    room.val_start = True
    return allocate_batch(key_words, updates.row_words - key_words, updates.time_words, &room)


# Makes `part` the p-th part of a block, that of the rows from `first` on.
cdef void view_part(const Batch* block, Py_ssize_t first, int p, Batch* part) noexcept nogil:
    part[0] = block[0]
    part.times += p * block.time_words
    part.key += first * block.key_words
    part.val += first * block.val_words
    part.val_start += first + p


# Moves the parts of a block together, and makes it the batch of all.
cdef Batch* close_parts(Batch* block, Batch** parts, int count) noexcept nogil:
    cdef Py_ssize_t keys = 0, vals = 0, i
    cdef uint32_t* starts
    cdef Batch* part
    cdef int p
    for p in range(count):
        part = parts[p]
        if part.key != block.key + keys * block.key_words:
            memmove(block.key + keys * block.key_words, part.key,
                    part.keys * block.key_words * sizeof(uint64_t))
        if part.val != block.val + vals * block.val_words:
            memmove(block.val + vals * block.val_words, part.val,
                    part.vals * block.val_words * sizeof(uint64_t))
        keys += part.keys
        vals += part.vals
    block.keys = keys
    block.vals = block.updates = vals
    block.time_count = 1
    # The starts lie right behind the keys: pages of a gap would be given back, and cleared for the next
    # batch.
    starts = <uint32_t*> (block.key + keys * block.key_words) if keys < vals else NULL
    block.val_start = starts
    vals = 0
    for p in range(count if starts != NULL else 0):
        part = parts[p]
        for i in range(part.keys):
            starts[i] = <uint32_t> (vals + first_val(part, i))
        starts += part.keys
        vals += part.vals
    if block.val_start != NULL:
        starts[0] = <uint32_t> vals
    return pack_batch(block)


cdef int no_memory() except -1 nogil:
    with gil:
        raise MemoryError("no memory for a batch of an arrangement")


# --- putting parts together ---

# Makes one batch of the parts and releases them; a single part that is not empty is the batch.
cdef Batch* put_together(Batch** parts, int count, int threads) except NULL nogil:
    cdef int p, last = 0, full = 0
    for p in range(count):
        if parts[p].updates > 0:
            last = p
            full += 1
    if full > 1:
        return concatenate(parts, count, threads)
    retain(parts[last])
    return parts[last]


# Concatenates parts whose keys ascend from part to part into one batch, and releases the parts.
cdef Batch* concatenate(Batch** parts, int count, int threads) except NULL nogil:
    cdef Updates times = empty_updates(parts[0].time_words, 0)
    cdef Copying copying = Copying(parts, NULL)
    cdef Batch* whole
    cdef int p
    try:
        if gather_times(parts, count, &times) < 0:
            no_memory()
        whole = copying.whole = allocate_whole(parts, count, times.length)
        if whole == NULL:
            no_memory()
        for p in range(times.length):
            memcpy(whole.times + p * whole.time_words, update_at(&times, p),
                   whole.time_words * sizeof(uint64_t))
        whole.time_count = times.length
    finally:
        release(&times)
    share_work(copy_part, &copying, count, threads)
    for p in range(count):
        whole.keys += parts[p].keys
        whole.vals += parts[p].vals
        whole.updates += parts[p].updates
    if whole.val_start != NULL:
        whole.val_start[whole.keys] = <uint32_t> whole.vals
    if whole.update_start != NULL:
        whole.update_start[whole.vals] = <uint32_t> whole.updates
    return whole


# The shared state of threads that copy parts.
cdef struct Copying:
    Batch** parts
    Batch* whole


# Gathers the distinct times of all parts, ascending; -1 where memory is short.
cdef int gather_times(Batch** parts, int count, Updates* times) noexcept nogil:
    cdef int n = parts[0].time_words, p
    cdef Py_ssize_t i
    cdef uint64_t* entry
    for p in range(count):
        if parts[p].updates == 0:
            continue
        for i in range(parts[p].time_count):
            entry = push(times)
            if entry == NULL:
                return -1
            memcpy(entry, parts[p].times + i * n, n * sizeof(uint64_t))
            entry[n] = 1
    return consolidate(times)


# Allocates a batch with room for all parts, and with each array that one of them has or that they need
# together.
cdef Batch* allocate_whole(Batch** parts, int count, Py_ssize_t times) noexcept nogil:
    cdef Room room
    cdef int p
    room.keys = room.vals = room.updates = 0
    room.times = times
    room.diff = room.val_start = room.update_start = False
    room.time_of = times > 1
    for p in range(count):
        room.keys += parts[p].keys
        room.vals += parts[p].vals
        room.updates += parts[p].updates
        if parts[p].updates > 0:
            room.diff |= parts[p].diff != NULL
            room.val_start |= parts[p].val_start != NULL
            room.update_start |= parts[p].update_start != NULL
    return allocate_batch(parts[0].key_words, parts[0].val_words, parts[0].time_words, &room)


# Copies the p-th part to its place, and releases it.
cdef int copy_part(void* context, Py_ssize_t p) except -1 nogil:
    cdef Batch** parts = (<Copying*> context).parts
    cdef Batch* whole = (<Copying*> context).whole
    cdef Batch* part = parts[p]
    cdef Py_ssize_t keys = 0, vals = 0, updates = 0, before, i
    for before in range(p):
        keys += parts[before].keys
        vals += parts[before].vals
        updates += parts[before].updates
    memcpy(whole.key + keys * whole.key_words, part.key, part.keys * part.key_words * sizeof(uint64_t))
    memcpy(whole.val + vals * whole.val_words, part.val, part.vals * part.val_words * sizeof(uint64_t))
    if whole.val_start != NULL:
        for i in range(part.keys):
            whole.val_start[keys + i] = <uint32_t> (vals + first_val(part, i))
    if whole.update_start != NULL:
        for i in range(part.vals):
            whole.update_start[vals + i] = <uint32_t> (updates + first_update(part, i))
    if whole.diff != NULL and part.diff != NULL:
        memcpy(whole.diff + updates, part.diff, part.updates * sizeof(int64_t))
    elif whole.diff != NULL:
        for i in range(part.updates):
            whole.diff[updates + i] = 1
    if whole.time_of != NULL:
        copy_times(part, whole, updates)
    return 0


# Numbers the times of a part's updates as the whole does. The part's numbers are replaced by those of the
# whole in place.
cdef void copy_times(Batch* part, Batch* whole, Py_ssize_t updates) noexcept nogil:
    cdef int n = part.time_words
    cdef Py_ssize_t i, number = 0
    cdef uint32_t* time_of = whole.time_of + updates
    if part.updates == 0:
        return
    for i in range(part.time_count):
        while compare_words(whole.times + number * n, part.times + i * n, n) != 0:
            number += 1
        part.times[i] = <uint64_t> number   # no time that is still to be read lies before
    for i in range(part.updates):
        time_of[i] = <uint32_t> part.times[0 if part.time_of == NULL else part.time_of[i]]
