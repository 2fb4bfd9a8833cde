"""An interner gives equal strings equal words, by a striped hash table whose entries never move.

An id names a stripe and an entry of it, so a reader that got the id from another thread (which
orders memory between them) finds the content without a lock: the entry was written before the
id was given out, and nothing moves it. Only `intern` locks, and only one stripe.

Each stripe is open addressed, and a slot holds half of the hash beside the entry's number: a new
string compares no foreign entry, which would be a cache miss.

Contents lie one after another in the blocks of their stripe. Only a sweep moves them, when nobody
reads: it packs a stripe of which a quarter is no longer in use into one block.
"""

cimport cython
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset
from libcpp.mutex cimport mutex

from ivm.memory.arena cimport Contents, free_contents, new_content, start_block

cdef extern from *:
    """
    static inline uint64_t ivm_mix(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128) a * b;
        return (uint64_t) product ^ (uint64_t) (product >> 64);
    }
    """
    uint64_t mix "ivm_mix"(uint64_t a, uint64_t b) noexcept nogil
    uint64_t byteswap "__builtin_bswap64"(uint64_t) noexcept nogil
    int leading_zeros "__builtin_clz"(uint32_t) noexcept nogil
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil
    const int RELAXED "__ATOMIC_RELAXED"
    uint64_t* slots_at "__atomic_load_n"(uint64_t* const*, int) noexcept nogil
    uint32_t mask_at "__atomic_load_n"(const uint32_t*, int) noexcept nogil
    void set_slots "__atomic_store_n"(uint64_t**, uint64_t*, int) noexcept nogil
    void set_mask "__atomic_store_n"(uint32_t*, uint32_t, int) noexcept nogil

cdef enum:
    STRIPES = 16
    STRIPE_BITS = 4
    FIRST_BITS = 6             # the first chunk has 64 entries
    FIRST = 1 << FIRST_BITS
    CHUNKS = 23                # together 2^28 entries and more
    INLINE = 7                 # bytes that fit into the word
    RECENT_BITS = 6            # of the contents among those interned together that may be seen to repeat
    LONG = 0xFF                # the low byte of an interned string's word

cdef uint32_t MAX_ENTRIES = (1u << 28) - FIRST


cdef uint64_t hash_bytes(const char* data, Py_ssize_t n) noexcept nogil:
    """Multiply-and-fold over 8 bytes at a time, the last ones of more than 8 padded with zeros."""
    cdef uint64_t h = mix(<uint64_t> n ^ 0x9E3779B97F4A7C15u, 0xA0761D6478BD642Fu), word
    while n >= 8:
        memcpy(&word, data, 8)
        h = mix(h ^ word, 0xE7037ED1A0B428DBu)
        data += 8
        n -= 8
    if n > 0:
        memcpy(&word, data + n - 8, 8)
        h = mix(h ^ word >> (64 - 8 * n), 0xE7037ED1A0B428DBu)
    return mix(h, 0x8EBC6AF09C88C6E3u)


cdef inline Entry* entry_at(const Stripe* stripe, uint32_t index) noexcept nogil:
    cdef uint32_t position = index + FIRST
    cdef int top = 31 - leading_zeros(position)
    return stripe.chunks[top - FIRST_BITS] + (position - (1u << top))


cdef inline Entry* entry_of(const Strings* strings, uint64_t word) noexcept nogil:
    cdef uint32_t id = <uint32_t> (word >> 8)
    return entry_at(&strings.stripes[id & (STRIPES - 1)], id >> STRIPE_BITS)


# The word of at most INLINE bytes, put together from loads that overlap: no call, no loop.
cdef inline uint64_t inline_word(const char* data, Py_ssize_t n) noexcept nogil:
    cdef const unsigned char* bytes = <const unsigned char*> data
    cdef uint64_t word = 0
    cdef uint32_t low, high
    if n >= 4:
        memcpy(&low, data, 4)
        memcpy(&high, data + n - 4, 4)
        word = low | <uint64_t> high << (8 * n - 32)
    elif n > 0:     # an empty content may have no address
        word = (bytes[0] | <uint64_t> bytes[n >> 1] << 8 * (n >> 1)
                | <uint64_t> bytes[n - 1] << 8 * (n - 1))
    return byteswap(word) | <uint64_t> n


# The slot at which the search for a hash begins.
cdef inline uint32_t home_of(const Stripe* stripe, uint64_t h) noexcept nogil:
    return <uint32_t> (h >> 32) & stripe.mask


# Asks for the slot at which the search for a hash will begin: without the lock, and so in vain where the slots
# are just being replaced.
cdef inline void prefetch_home(const Stripe* stripe, uint64_t h) noexcept nogil:
    prefetch(slots_at(&stripe.slots, RELAXED) + (<uint32_t> (h >> 32) & mask_at(&stripe.mask, RELAXED)))


# Enters every live entry into the slots, which are empty.
cdef void enter_all(Stripe* stripe) noexcept nogil:
    cdef uint32_t i, slot
    cdef const Entry* entry
    for i in range(stripe.used):
        entry = entry_at(stripe, i)
        if entry.data != NULL:
            slot = home_of(stripe, entry.hash)
            while stripe.slots[slot] != 0:
                slot = (slot + 1) & stripe.mask
            stripe.slots[slot] = entry.hash >> 32 << 32 | (i + 1)


cdef int make_slots(Stripe* stripe, uint32_t count) noexcept nogil:
    """Enters every live entry into `count` new slots; -1 where memory is short."""
    cdef uint64_t* slots = <uint64_t*> calloc(count, sizeof(uint64_t))
    if slots == NULL:
        return -1
    if stripe.slots != NULL:
        stripe.bytes -= (<size_t> stripe.mask + 1) * sizeof(uint64_t)
        free(stripe.slots)
    stripe.bytes += count * sizeof(uint64_t)
    set_slots(&stripe.slots, slots, RELAXED)
    set_mask(&stripe.mask, count - 1, RELAXED)
    enter_all(stripe)
    return 0


cdef uint32_t new_entry(Stripe* stripe) noexcept nogil:
    """The index, from 1, of an entry to fill; 0 where memory is short or ids are used up."""
    cdef uint32_t index = stripe.free
    cdef int chunk
    if index:
        stripe.free = entry_at(stripe, index - 1).next
        return index
    if stripe.used >= MAX_ENTRIES:
        return 0
    chunk = 31 - leading_zeros(stripe.used + FIRST) - FIRST_BITS
    if stripe.chunks[chunk] == NULL:
        stripe.chunks[chunk] = <Entry*> calloc(FIRST << chunk, sizeof(Entry))
        if stripe.chunks[chunk] == NULL:
            return 0
        stripe.bytes += (FIRST << chunk) * sizeof(Entry)
    stripe.used += 1
    return stripe.used


cdef uint32_t find_or_add(Stripe* stripe, uint64_t h, const char* data, uint32_t n) noexcept nogil:
    """The index, from 1, of the content's entry; 0 where it cannot be kept."""
    cdef uint32_t index, slot
    cdef Entry* entry
    cdef char* copy
    if (stripe.slots == NULL or stripe.live > stripe.mask // 4 * 3) and make_slots(
            stripe, 2 * FIRST if stripe.slots == NULL else 2 * (stripe.mask + 1)) < 0:
        return 0
    slot = home_of(stripe, h)
    while stripe.slots[slot] != 0:
        if stripe.slots[slot] >> 32 == h >> 32:
            index = <uint32_t> stripe.slots[slot]
            entry = entry_at(stripe, index - 1)
            if entry.hash == h and entry.length == n and memcmp(entry.data, data, n) == 0:
                return index
        slot = (slot + 1) & stripe.mask
    copy = new_content(&stripe.contents, n)
    if copy == NULL:
        return 0
    index = new_entry(stripe)
    if index == 0:
        return 0
    memcpy(copy, data, n)
    entry = entry_at(stripe, index - 1)
    entry.data = copy
    entry.hash = h
    entry.length = n
    stripe.slots[slot] = h >> 32 << 32 | index
    stripe.live += 1
    return index


cdef uint64_t intern(Strings* strings, const char* data, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h, word
    cdef Stripe* stripe
    if n <= INLINE:
        return inline_word(data, n)
    h = hash_bytes(data, n)
    stripe = &strings.stripes[h & (STRIPES - 1)]
    stripe.lock.lock()
    word = word_in(stripe, h, data, n)
    stripe.lock.unlock()
    return word


# Chooses the recent content with which one of more than INLINE bytes is compared.
cdef inline int recent_of(const char* data, Py_ssize_t n) noexcept nogil:
    cdef uint64_t first, last
    memcpy(&first, data, 8)
    memcpy(&last, data + n - 8, 8)
    return <int> ((first ^ last << 1) * <uint64_t> 0x9E3779B97F4A7C15 >> (64 - RECENT_BITS))


# The contents of each stripe in one go: one lock, and cache misses that wait for each other. A column of
# few contents repeats them: what has just been seen is not looked up again.
cdef int intern_together(Strings* strings, const char** data, const Py_ssize_t* lengths, int n,
                         uint64_t* words) noexcept nogil:
    cdef uint64_t hashes[TOGETHER]
    cdef uint16_t order[TOGETHER]
    cdef uint16_t recent[1 << RECENT_BITS]      # places of contents
    cdef uint16_t same[TOGETHER]                # the first place of a content; its own for what is looked up
    cdef int ends[STRIPES]
    cdef Stripe* stripe
    cdef int i, s, start = 0, total = 0
    memset(ends, 0, sizeof(ends))
    memset(recent, 0, sizeof(recent))
    for i in range(n):
        if lengths[i] <= INLINE:
            words[i] = inline_word(data[i], lengths[i])
            continue
        s = recent_of(data[i], lengths[i])
        if recent[s] < i and lengths[recent[s]] == lengths[i] and memcmp(
                data[recent[s]], data[i], lengths[i]) == 0:
            same[i] = recent[s]
            continue
        recent[s] = same[i] = <uint16_t> i
        hashes[i] = hash_bytes(data[i], lengths[i])
        ends[hashes[i] & (STRIPES - 1)] += 1
        prefetch_home(&strings.stripes[hashes[i] & (STRIPES - 1)], hashes[i])
    for s in range(STRIPES):
        total += ends[s]
        ends[s] = total - ends[s]
    if total == 0:
        return 0
    for i in range(n):
        if lengths[i] > INLINE and same[i] == i:
            s = hashes[i] & (STRIPES - 1)
            order[ends[s]] = <uint16_t> i
            ends[s] += 1
    for s in range(STRIPES):
        if ends[s] > start and intern_group(&strings.stripes[s], data, lengths, hashes,
                                            order + start, ends[s] - start, words) < 0:
            return -1
        start = ends[s]
    for i in range(n):
        if lengths[i] > INLINE:
            words[i] = words[same[i]]
    return 0


# The words of the `n` contents at the places `order`, all of `stripe`.
cdef int intern_group(Stripe* stripe, const char** data, const Py_ssize_t* lengths,
                      const uint64_t* hashes, const uint16_t* order, int n,
                      uint64_t* words) noexcept nogil:
    cdef int i, at
    cdef uint64_t held
    cdef int failed = 0
    stripe.lock.lock()
    if stripe.slots != NULL:
        for i in range(n):
            held = stripe.slots[home_of(stripe, hashes[order[i]])]
            if held >> 32 == hashes[order[i]] >> 32 and held != 0:
                prefetch(entry_at(stripe, <uint32_t> held - 1))
    for i in range(n):
        at = order[i]
        words[at] = word_in(stripe, hashes[at], data[at], lengths[at])
        if words[at] == NO_STRING:
            failed = -1
            break
    stripe.lock.unlock()
    return failed


# The word of a content of more than INLINE bytes, whose hash is `h`; the stripe is locked.
cdef inline uint64_t word_in(Stripe* stripe, uint64_t h, const char* data,
                             Py_ssize_t n) noexcept nogil:
    cdef uint32_t prefix, index
    if n > 0x7FFFFFFF:
        return NO_STRING
    index = find_or_add(stripe, h, data, <uint32_t> n)
    if index == 0:
        return NO_STRING
    memcpy(&prefix, data, 4)
    return (byteswap(prefix) >> 40 << 40
            | <uint64_t> ((index - 1) << STRIPE_BITS | (h & (STRIPES - 1))) << 8 | LONG)


cdef const char* view(
    const Strings* strings, uint64_t word, char* buffer, Py_ssize_t* n
) noexcept nogil:
    cdef Entry* entry
    cdef uint64_t content
    if word & LONG == LONG:
        entry = entry_of(strings, word)
        n[0] = entry.length
        return entry.data
    content = byteswap(word)
    memcpy(buffer, &content, 8)
    n[0] = word & LONG
    return buffer


cdef int compare(const Strings* strings, uint64_t a, uint64_t b) noexcept nogil:
    cdef char left_buffer[8]
    cdef char right_buffer[8]
    cdef const char* left
    cdef const char* right
    cdef Py_ssize_t left_n, right_n
    cdef int order
    if a == b:
        return 0
    # A differing byte among the first three decides, as shorter contents are padded with zeros.
    if (a >> 40) != (b >> 40) or (a & LONG != LONG and b & LONG != LONG):
        return -1 if a < b else 1
    left = view(strings, a, left_buffer, &left_n)
    right = view(strings, b, right_buffer, &right_n)
    order = memcmp(left, right, left_n if left_n < right_n else right_n)
    if order == 0:
        return -1 if left_n < right_n else 1
    return order


cdef uint64_t prefix_of(const Strings* strings, uint64_t word) noexcept nogil:
    cdef uint64_t content
    if word & LONG != LONG:
        return word
    memcpy(&content, entry_of(strings, word).data, 8)
    content = byteswap(content)
    return content if content & LONG > INLINE else (content | LONG) - LONG + INLINE + 1


cdef uint64_t content_hash(const Strings* strings, uint64_t word) noexcept nogil:
    if word & LONG == LONG:
        return entry_of(strings, word).hash
    return mix(word ^ 0x9E3779B97F4A7C15u, 0xE7037ED1A0B428DBu)


cdef void sweep_stripe(Stripe* stripe) noexcept nogil:
    """Frees the entries that have a bit and are not marked, and enters the others anew."""
    cdef uint32_t i, live = stripe.live, count = stripe.mask + 1
    cdef size_t used = 0
    cdef Entry* entry
    for i in range(stripe.used):
        entry = entry_at(stripe, i)
        if entry.data == NULL:
            continue
        if i >= stripe.marked or (stripe.marks[i // 64] >> (i % 64)) & 1:
            used += entry.length
        else:
            stripe.live -= 1
            entry.data = NULL
            entry.next = stripe.free
            stripe.free = i + 1
    if stripe.live < live:
        while count > 2 * FIRST and stripe.live < count // 4:
            count //= 2
        if make_slots(stripe, count) < 0:
            memset(stripe.slots, 0, (<size_t> stripe.mask + 1) * sizeof(uint64_t))
            enter_all(stripe)
    if stripe.contents.held - used >= stripe.contents.held // 4:
        pack_contents(stripe, used)


cdef void pack_contents(Stripe* stripe, size_t used) noexcept nogil:
    """Moves the contents, of `used` bytes, into one block; where memory is short they stay."""
    cdef Contents packed
    cdef uint32_t i
    cdef Entry* entry
    cdef char* copy
    memset(&packed, 0, sizeof(packed))
    if used > 0 and start_block(&packed, used) < 0:
        return
    for i in range(stripe.used):
        entry = entry_at(stripe, i)
        if entry.data != NULL:
            copy = new_content(&packed, entry.length)
            memcpy(copy, entry.data, entry.length)
            entry.data = copy
    free_contents(&stripe.contents)
    stripe.contents = packed


@cython.no_gc_clear  # a program that is freed after it still unpins its words
cdef class Interner:
    """The strings of one pool; see strings.pxd for the contract."""

    def __cinit__(self):
        self._pins = {}
        self.strings = <Strings*> calloc(1, sizeof(Strings))
        if self.strings == NULL:
            raise MemoryError
        for i in range(STRIPES):
            self.strings.stripes[i].lock = new mutex()

    def __dealloc__(self):
        cdef Stripe* stripe
        if self.strings == NULL:
            return
        for s in range(STRIPES):
            stripe = &self.strings.stripes[s]
            free_contents(&stripe.contents)
            for i in range(CHUNKS):
                free(stripe.chunks[i])
            free(stripe.slots)
            free(stripe.marks)
            del stripe.lock
        free(self.strings)

    @property
    def bytes(self):
        """Bytes of the contents that are held, and of the table."""
        return self.held_bytes()

    @property
    def count(self):
        """Strings that are held; those that fit into a word are not."""
        return sum(self.strings.stripes[i].live for i in range(STRIPES))

    cdef size_t held_bytes(self) noexcept nogil:
        cdef size_t total = 0
        cdef int s
        for s in range(STRIPES):
            total += self.strings.stripes[s].bytes + self.strings.stripes[s].contents.held
        return total

    cdef uint64_t encode(self, const char* data, Py_ssize_t n) noexcept nogil:
        return intern(self.strings, data, n)

    cdef const char* view(self, uint64_t word, char* buffer, Py_ssize_t* n) noexcept nogil:
        return view(self.strings, word, buffer, n)

    cdef int compare(self, uint64_t a, uint64_t b) noexcept nogil:
        return compare(self.strings, a, b)

    cdef uint64_t hash(self, uint64_t word) noexcept nogil:
        return content_hash(self.strings, word)

    cdef int begin_sweep(self) except -1 nogil:
        cdef Stripe* stripe
        cdef int s
        for s in range(STRIPES):
            stripe = &self.strings.stripes[s]
            free(stripe.marks)
            stripe.marked = stripe.used
            stripe.marks = <uint64_t*> calloc(stripe.marked // 64 + 1, sizeof(uint64_t))
            if stripe.marks == NULL:
                with gil:
                    raise MemoryError("no memory to mark strings")
        return 0

    cdef void mark(self, const uint64_t* words, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
        cdef Stripe* stripe
        cdef Py_ssize_t i
        cdef uint32_t id, index
        for i in range(n):
            if words[i * stride] & LONG != LONG:
                continue
            id = <uint32_t> (words[i * stride] >> 8)
            stripe = &self.strings.stripes[id & (STRIPES - 1)]
            index = id >> STRIPE_BITS
            if index < stripe.marked:
                stripe.marks[index // 64] |= <uint64_t> 1 << (index % 64)

    cdef void sweep(self) noexcept:
        cdef Stripe* stripe
        cdef uint64_t pinned
        cdef int s
        for pinned in self._pins:
            self.mark(&pinned, 1, 1)
        # Holding the GIL: a look-up beside the step interns its key, and must not find a string
        # missing that is just being entered anew, or it would be kept twice.
        for s in range(STRIPES):
            stripe = &self.strings.stripes[s]
            if stripe.slots != NULL:
                sweep_stripe(stripe)
            free(stripe.marks)
            stripe.marks = NULL

    cpdef void open_snapshot(self) noexcept:
        self.snapshots += 1

    cpdef void close_snapshot(self) noexcept:
        self.snapshots -= 1

    cdef int pin(self, uint64_t word) except -1:
        if word & LONG == LONG:
            self._pins[word] = self._pins.get(word, 0) + 1
        return 0

    cdef int unpin(self, uint64_t word) except -1:
        if word & LONG == LONG:
            self._pins[word] -= 1
            if self._pins[word] == 0:
                del self._pins[word]
        return 0


def word_of(Interner interner, bytes content):
    """The word of `content`."""
    cdef uint64_t word = interner.encode(content, len(content))
    if word == NO_STRING:
        raise MemoryError
    return word


def pinned_word_of(Interner interner, bytes content):
    """The word of `content`, which is kept as long as the interner."""
    word = word_of(interner, content)
    interner.pin(word)
    return word
