"""Batches: their memory, and the search for a key by galloping.

The arrays lie behind the header in one block, those of 64-bit words first, so that each is aligned.
A small batch costs one allocation. A large block is mapped by itself (`blocks`): pages that turn out
not to be needed are given back, and nothing has to be moved to close gaps. The room of a block that may
be appended to stays: its pages cost nothing before they are touched, unless they waited to be.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memmove

from ivm.memory.huge_pages cimport LARGE, forget_pages, give_block, take_block, whole_pages
from ivm.trace.times cimport compare_words

cdef extern from *:
    int fetch_add "__sync_fetch_and_add"(int*, int) noexcept nogil
    bint replace "__sync_bool_compare_and_swap"(Py_ssize_t*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef extern from "<malloc.h>" nogil:
    enum: M_ARENA_MAX
    enum: M_MMAP_THRESHOLD
    enum: M_TRIM_THRESHOLD
    int mallopt(int parameter, int value)

cdef enum:
    KEPT_BYTES = 32 << 20       # that malloc keeps at hand

MOST_UPDATES = 0xFFFFFFFE

# Otherwise malloc would map and trim the memory of each step, and the kernel would clear it again and again.
# That took a third of the time of sorting 16 Ki rows.
mallopt(M_MMAP_THRESHOLD, KEPT_BYTES)
mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
# Otherwise each thread would have an arena of its own, without huge pages, whose free memory no other thread
# could use.
mallopt(M_ARENA_MAX, 1)


cdef void retain(Batch* b) noexcept nogil:
    fetch_add(&b.references, 1)


cdef void drop(Batch* b) noexcept nogil:
    if b == NULL or fetch_add(&b.references, -1) > 1:
        return
    drop(b.home)
    if b.mapped > 0:
        give_block(b, b.mapped)
    else:
        free(b)


cdef size_t batch_bytes(const Batch* b) noexcept nogil:
    cdef size_t words = (b.time_count * b.time_words + b.keys * b.key_words + b.vals * b.val_words
                         + (b.updates if b.diff != NULL else 0))
    cdef size_t halves = ((b.keys + 1 if b.val_start != NULL else 0)
                          + (b.vals + 1 if b.update_start != NULL else 0)
                          + (b.updates if b.time_of != NULL else 0))
    return sizeof(Batch) + words * sizeof(uint64_t) + halves * sizeof(uint32_t)


cdef Batch* allocate_batch(int key_words, int val_words, int time_words,
                           const Room* room) noexcept nogil:
    cdef size_t words = (room.times * time_words + room.keys * key_words + room.vals * val_words
                         + (room.updates if room.diff else 0))
    cdef size_t halves = ((room.keys + 1 if room.val_start else 0)
                          + (room.vals + 1 if room.update_start else 0)
                          + (room.updates if room.time_of else 0))
    cdef size_t bytes = sizeof(Batch) + words * sizeof(uint64_t) + halves * sizeof(uint32_t)
    cdef size_t pages = whole_pages(bytes) if bytes >= LARGE else 0
    cdef Batch* b = <Batch*> (take_block(pages) if pages > 0 else malloc(bytes))
    cdef uint32_t* half
    if b == NULL:
        return NULL
    b.references = 1
    b.serial = 0
    b.home = NULL
    b.room = b.filled = 0
    b.key_words = key_words
    b.val_words = val_words
    b.time_words = time_words
    b.keys = b.vals = b.updates = b.time_count = 0
    b.mapped = pages
    b.times = <uint64_t*> (b + 1)
    b.val = b.times + room.times * time_words
    b.key = b.val + room.vals * val_words
    b.diff = <int64_t*> (b.key + room.keys * key_words) if room.diff else NULL
    half = <uint32_t*> (b.times + words)
    b.val_start = half if room.val_start else NULL
    half += room.keys + 1 if room.val_start else 0
    b.update_start = half if room.update_start else NULL
    half += room.vals + 1 if room.update_start else 0
    b.time_of = half if room.time_of else NULL
    return b


cdef Batch* pack_batch(Batch* b) noexcept nogil:
    cdef uint64_t* word = b.times + b.time_count * b.time_words
    cdef uint32_t* half
    cdef Batch* moved
    cdef Py_ssize_t shift
    if b.room > 0:
        b.filled = b.keys
        return b
    if b.mapped > 0:
        return _copy_small(b) if batch_bytes(b) < LARGE else _trim(b)
    word = <uint64_t*> _close(word, <void**> &b.val, b.vals * b.val_words * sizeof(uint64_t))
    word = <uint64_t*> _close(word, <void**> &b.key, b.keys * b.key_words * sizeof(uint64_t))
    word = <uint64_t*> _close(word, <void**> &b.diff, b.updates * sizeof(int64_t))
    half = <uint32_t*> _close(word, <void**> &b.val_start, (b.keys + 1) * sizeof(uint32_t))
    half = <uint32_t*> _close(half, <void**> &b.update_start, (b.vals + 1) * sizeof(uint32_t))
    half = <uint32_t*> _close(half, <void**> &b.time_of, b.updates * sizeof(uint32_t))
    moved = <Batch*> realloc(b, <char*> half - <char*> b)
    if moved == NULL or moved == b:
        return b
    shift = <char*> moved - <char*> b
    _shift(<void**> &moved.times, shift)
    _shift(<void**> &moved.key, shift)
    _shift(<void**> &moved.val, shift)
    _shift(<void**> &moved.diff, shift)
    _shift(<void**> &moved.val_start, shift)
    _shift(<void**> &moved.update_start, shift)
    _shift(<void**> &moved.time_of, shift)
    return moved


cdef bint is_plain(const Batch* b, uint64_t since) noexcept nogil:
    return (b.time_words == 1 and b.times[b.time_count - 1] <= since and b.diff == NULL
            and b.val_start == NULL and b.update_start == NULL)


cdef Py_ssize_t room_behind(const Batch* b) noexcept nogil:
    cdef const Batch* home = b if b.home == NULL else b.home
    if home.room == 0:
        return -1
    return home.room - home.filled if home.filled == b.keys else 0


cdef Batch* append_batch(Batch* elder, const Batch* younger, uint64_t time) noexcept nogil:
    cdef Batch* home = elder if elder.home == NULL else elder.home
    cdef Py_ssize_t keys = elder.keys + younger.keys
    cdef Batch* b
    if keys > home.room:
        return NULL
    b = <Batch*> malloc(sizeof(Batch) + sizeof(uint64_t))
    if b == NULL:
        return NULL
    if not replace(&home.filled, elder.keys, keys):
        free(b)
        return NULL
    b[0] = elder[0]
    b.references = 1
    b.keys = b.vals = b.updates = keys
    b.time_count = 1
    b.times = <uint64_t*> (b + 1)
    b.times[0] = time
    b.time_of = NULL
    b.mapped = 0
    b.serial = 0
    b.home = home
    b.room = b.filled = 0
    retain(home)
    memcpy(b.key + elder.keys * b.key_words, younger.key,
           younger.keys * b.key_words * sizeof(uint64_t))
    memcpy(b.val + elder.keys * b.val_words, younger.val,
           younger.keys * b.val_words * sizeof(uint64_t))
    return b


# Trims a mapped batch in place: the pages between its arrays and behind them are given back.
cdef Batch* _trim(Batch* b) noexcept nogil:
    cdef char* end = <char*> (b.times + b.time_count * b.time_words)
    cdef size_t kept
    end = _forget_until(end, b.val, b.vals * b.val_words * sizeof(uint64_t))
    end = _forget_until(end, b.key, b.keys * b.key_words * sizeof(uint64_t))
    end = _forget_until(end, b.diff, b.updates * sizeof(int64_t))
    end = _forget_until(end, b.val_start, (b.keys + 1) * sizeof(uint32_t))
    end = _forget_until(end, b.update_start, (b.vals + 1) * sizeof(uint32_t))
    end = _forget_until(end, b.time_of, b.updates * sizeof(uint32_t))
    kept = whole_pages(end - <char*> b)
    if kept < b.mapped:
        give_block(<char*> b + kept, b.mapped - kept)
        b.mapped = kept
    return b


# Gives back the pages between `end` and `array`, if there is an array; returns the array's end.
cdef inline char* _forget_until(char* end, void* array, size_t bytes) noexcept nogil:
    if array == NULL:
        return end
    forget_pages(end, <char*> array - end)
    return <char*> array + bytes


# Copies a mapped batch that turned out small into a block of its exact size; returns `b` itself where memory
# is short.
cdef Batch* _copy_small(Batch* b) noexcept nogil:
    cdef Batch* copy = copy_batch(b)
    if copy == NULL:
        return b
    drop(b)
    return copy


cdef Batch* copy_batch(const Batch* b) noexcept nogil:
    cdef Room room
    cdef Batch* copy
    room.keys = b.keys
    room.vals = b.vals
    room.updates = b.updates
    room.times = b.time_count
    room.diff = b.diff != NULL
    room.val_start = b.val_start != NULL
    room.update_start = b.update_start != NULL
    room.time_of = b.time_of != NULL
    copy = allocate_batch(b.key_words, b.val_words, b.time_words, &room)
    if copy == NULL:
        return NULL
    copy.keys = b.keys
    copy.vals = b.vals
    copy.updates = b.updates
    copy.time_count = b.time_count
    memcpy(copy.times, b.times, b.time_count * b.time_words * sizeof(uint64_t))
    memcpy(copy.key, b.key, b.keys * b.key_words * sizeof(uint64_t))
    memcpy(copy.val, b.val, b.vals * b.val_words * sizeof(uint64_t))
    if room.diff:
        memcpy(copy.diff, b.diff, b.updates * sizeof(int64_t))
    if room.val_start:
        memcpy(copy.val_start, b.val_start, (b.keys + 1) * sizeof(uint32_t))
    if room.update_start:
        memcpy(copy.update_start, b.update_start, (b.vals + 1) * sizeof(uint32_t))
    if room.time_of:
        memcpy(copy.time_of, b.time_of, b.updates * sizeof(uint32_t))
    return copy


# Moves the array at `array`, if there is one, to `target`; returns its end.
cdef inline void* _close(void* target, void** array, size_t bytes) noexcept nogil:
    if array[0] == NULL:
        return target
    if array[0] != target:
        memmove(target, array[0], bytes)
        array[0] = target
    return <char*> target + bytes


cdef inline void _shift(void** array, Py_ssize_t bytes) noexcept nogil:
    if array[0] != NULL:
        array[0] = <char*> array[0] + bytes


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


cdef Py_ssize_t find_key(const Batch* b, Py_ssize_t v) noexcept nogil:
    return v if b.val_start == NULL else last_start(b.val_start, b.keys, v)


cdef Py_ssize_t find_val(const Batch* b, Py_ssize_t u) noexcept nogil:
    return u if b.update_start == NULL else last_start(b.update_start, b.vals, u)


# The last of `n` starts, which ascend from 0 on, that is not behind `position`.
cdef Py_ssize_t last_start(const uint32_t* starts, Py_ssize_t n, Py_ssize_t position) noexcept nogil:
    cdef Py_ssize_t low = 0, high = n - 1, middle
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= position:
            low = middle
        else:
            high = middle - 1
    return low
