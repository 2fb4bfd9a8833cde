"""Interned strings: a striped hash table whose entries never move.

An id names a stripe and an entry of it, so a reader that got the id from another thread (which
orders memory between them) finds the content without a lock: the entry was written before the
id was given out, and nothing moves it. Only `intern` locks, and only one stripe.
"""

cimport cython
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy
from libcpp.mutex cimport mutex

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

cdef enum:
    STRIPES = 16
    STRIPE_BITS = 4
    FIRST_BITS = 6             # the first chunk has 64 entries
    FIRST = 1 << FIRST_BITS
    CHUNKS = 23                # together 2^28 entries and more
    INLINE = 7                 # bytes that fit into the word
    LONG = 0xFF                # the low byte of an interned string's word

cdef uint32_t MARK = 0x80000000u
cdef uint32_t NEXT = 0x7FFFFFFFu
cdef uint32_t MAX_ENTRIES = (1u << 28) - FIRST


cdef uint64_t hash_bytes(const char* data, Py_ssize_t n) noexcept nogil:
    """Multiply-and-fold over 8 bytes at a time, the last ones padded with zeros."""
    cdef uint64_t h = mix(<uint64_t> n ^ 0x9E3779B97F4A7C15u, 0xA0761D6478BD642Fu), word
    while n > 0:
        word = 0
        memcpy(&word, data, 8 if n >= 8 else n)
        h = mix(h ^ word, 0xE7037ED1A0B428DBu)
        data += 8
        n -= 8
    return mix(h, 0x8EBC6AF09C88C6E3u)


cdef inline Entry* entry_at(const Stripe* stripe, uint32_t index) noexcept nogil:
    cdef uint32_t position = index + FIRST
    cdef int top = 31 - leading_zeros(position)
    return stripe.chunks[top - FIRST_BITS] + (position - (1u << top))


cdef inline Entry* entry_of(const Strings* strings, uint64_t word) noexcept nogil:
    cdef uint32_t id = <uint32_t> (word >> 8)
    return entry_at(&strings.stripes[id & (STRIPES - 1)], id >> STRIPE_BITS)


cdef inline uint64_t inline_word(const char* data, Py_ssize_t n) noexcept nogil:
    cdef uint64_t word = 0
    if n > 0:       # an empty content may have no address
        memcpy(&word, data, n)
    return byteswap(word) | <uint64_t> n


cdef int grow_buckets(Stripe* stripe) noexcept nogil:
    """Doubles the buckets and threads every live entry anew; -1 where memory is short."""
    cdef uint32_t count = 64 if stripe.buckets == NULL else 2 * (stripe.mask + 1)
    cdef uint32_t* buckets = <uint32_t*> calloc(count, sizeof(uint32_t))
    cdef uint32_t i, bucket
    cdef Entry* entry
    if buckets == NULL:
        return -1
    for i in range(stripe.used):
        entry = entry_at(stripe, i)
        if entry.data != NULL:
            bucket = <uint32_t> (entry.hash >> 32) & (count - 1)
            entry.next = (entry.next & MARK) | buckets[bucket]
            buckets[bucket] = i + 1
    if stripe.buckets != NULL:
        stripe.bytes -= (stripe.mask + 1) * sizeof(uint32_t)
    stripe.bytes += count * sizeof(uint32_t)
    free(stripe.buckets)
    stripe.buckets = buckets
    stripe.mask = count - 1
    return 0


cdef uint32_t new_entry(Stripe* stripe) noexcept nogil:
    """The index, from 1, of an entry to fill; 0 where memory is short or ids are used up."""
    cdef uint32_t index = stripe.free
    cdef int chunk
    if index:
        stripe.free = entry_at(stripe, index - 1).next & NEXT
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
    cdef uint32_t index
    cdef Entry* entry
    cdef char* copy
    if (stripe.buckets == NULL or stripe.live > stripe.mask) and grow_buckets(stripe) < 0:
        return 0
    index = stripe.buckets[<uint32_t> (h >> 32) & stripe.mask]
    while index:
        entry = entry_at(stripe, index - 1)
        if entry.hash == h and entry.length == n and memcmp(entry.data, data, n) == 0:
            return index
        index = entry.next & NEXT
    copy = <char*> malloc(n)
    if copy == NULL:
        return 0
    index = new_entry(stripe)
    if index == 0:
        free(copy)
        return 0
    memcpy(copy, data, n)
    entry = entry_at(stripe, index - 1)
    entry.data = copy
    entry.hash = h
    entry.length = n
    entry.next = stripe.buckets[<uint32_t> (h >> 32) & stripe.mask]
    stripe.buckets[<uint32_t> (h >> 32) & stripe.mask] = index
    stripe.live += 1
    stripe.bytes += n
    return index


cdef uint64_t intern(Strings* strings, const char* data, Py_ssize_t n) noexcept nogil:
    if n <= INLINE:
        return inline_word(data, n)
    return intern_hashed(strings, data, n, hash_bytes(data, n))


cdef int intern_together(Strings* strings, const char** data, const Py_ssize_t* lengths, int n,
                         uint64_t* words) noexcept nogil:
    cdef uint64_t hashes[TOGETHER]
    cdef Stripe* stripe
    cdef uint32_t index
    cdef int i
    for i in range(n):
        if lengths[i] > INLINE:
            hashes[i] = hash_bytes(data[i], lengths[i])
            stripe = &strings.stripes[hashes[i] & (STRIPES - 1)]
            # Without the lock: where the buckets are being replaced, it is asked for in vain.
            prefetch(stripe.buckets + (<uint32_t> (hashes[i] >> 32) & stripe.mask))
    for i in range(n):
        if lengths[i] > INLINE:
            stripe = &strings.stripes[hashes[i] & (STRIPES - 1)]
            stripe.lock.lock()
            if stripe.buckets != NULL:
                index = stripe.buckets[<uint32_t> (hashes[i] >> 32) & stripe.mask]
                if index:
                    prefetch(entry_at(stripe, index - 1))
            stripe.lock.unlock()
    for i in range(n):
        words[i] = (intern_hashed(strings, data[i], lengths[i], hashes[i]) if lengths[i] > INLINE
                    else inline_word(data[i], lengths[i]))
        if words[i] == NO_STRING:
            return -1
    return 0


# The word of a content of more than INLINE bytes, whose hash is `h`.
cdef uint64_t intern_hashed(Strings* strings, const char* data, Py_ssize_t n,
                            uint64_t h) noexcept nogil:
    cdef uint64_t prefix = 0
    cdef uint32_t index
    cdef Stripe* stripe = &strings.stripes[h & (STRIPES - 1)]
    if n > 0x7FFFFFFF:
        return NO_STRING
    stripe.lock.lock()
    index = find_or_add(stripe, h, data, <uint32_t> n)
    stripe.lock.unlock()
    if index == 0:
        return NO_STRING
    memcpy(&prefix, data, 3)
    return byteswap(prefix) | (<uint64_t> ((index - 1) << STRIPE_BITS | (h & (STRIPES - 1)))) << 8 | LONG


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
    """Frees the unmarked entries, clears the marks and threads the buckets anew."""
    cdef uint32_t i, bucket
    cdef Entry* entry
    for i in range(stripe.mask + 1):
        stripe.buckets[i] = 0
    for i in range(stripe.used):
        entry = entry_at(stripe, i)
        if entry.data == NULL:
            continue
        if entry.next & MARK:
            bucket = <uint32_t> (entry.hash >> 32) & stripe.mask
            entry.next = stripe.buckets[bucket]
            stripe.buckets[bucket] = i + 1
        else:
            free(entry.data)
            stripe.bytes -= entry.length
            stripe.live -= 1
            entry.data = NULL
            entry.next = stripe.free
            stripe.free = i + 1


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
        cdef uint32_t i
        if self.strings == NULL:
            return
        for s in range(STRIPES):
            stripe = &self.strings.stripes[s]
            for i in range(stripe.used):
                free(entry_at(stripe, i).data)
            for i in range(CHUNKS):
                free(stripe.chunks[i])
            free(stripe.buckets)
            del stripe.lock
        free(self.strings)

    @property
    def bytes(self):
        """Bytes of the contents that are held, and of the table."""
        return sum(self.strings.stripes[i].bytes for i in range(STRIPES))

    @property
    def count(self):
        """Strings that are held; those that fit into a word are not."""
        return sum(self.strings.stripes[i].live for i in range(STRIPES))

    cdef uint64_t encode(self, const char* data, Py_ssize_t n) noexcept nogil:
        return intern(self.strings, data, n)

    cdef const char* view(self, uint64_t word, char* buffer, Py_ssize_t* n) noexcept nogil:
        return view(self.strings, word, buffer, n)

    cdef int compare(self, uint64_t a, uint64_t b) noexcept nogil:
        return compare(self.strings, a, b)

    cdef uint64_t hash(self, uint64_t word) noexcept nogil:
        return content_hash(self.strings, word)

    cdef void begin_sweep(self) noexcept nogil:
        cdef Stripe* stripe
        cdef uint32_t i
        cdef int s
        for s in range(STRIPES):
            stripe = &self.strings.stripes[s]
            for i in range(stripe.used):
                entry_at(stripe, i).next &= NEXT

    cdef void mark(self, const uint64_t* words, Py_ssize_t n, Py_ssize_t stride) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if words[i * stride] & LONG == LONG:
                entry_of(self.strings, words[i * stride]).next |= MARK

    cdef void sweep(self) noexcept:
        cdef uint64_t pinned
        cdef int s
        for pinned in self._pins:
            self.mark(&pinned, 1, 1)
        # Holding the GIL: a look-up beside the step interns its key, and must not find a string
        # missing that is just being threaded anew, or it would be kept twice.
        for s in range(STRIPES):
            if self.strings.stripes[s].buckets != NULL:
                sweep_stripe(&self.strings.stripes[s])

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


def content_of(Interner interner, uint64_t word):
    """The content of a word."""
    cdef char buffer[8]
    cdef Py_ssize_t n
    cdef const char* data = interner.view(word, buffer, &n)
    return data[:n]


def order_of(Interner interner, uint64_t a, uint64_t b):
    """Negative, zero or positive, as content a is below, equal to or above content b."""
    return interner.compare(a, b)


def order_prefix_of(Interner interner, uint64_t word):
    """The word that orders the content of `word` among all but those that share it."""
    return prefix_of(interner.strings, word)


def hash_of(Interner interner, uint64_t word):
    """The hash of a word's content."""
    return interner.hash(word)


def keep_only(Interner interner, words):
    """Release every string but those of `words` and those pinned."""
    cdef uint64_t word
    interner.begin_sweep()
    for word in words:
        interner.mark(&word, 1, 1)
    interner.sweep()
