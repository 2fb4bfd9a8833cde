"""Probes look many keys up in a much larger batch, and overlap their cache misses.

Each step of a search waits for memory. The searches for a group of keys take their steps together, and each
prefetches its next line before the others take theirs; so a step costs about one miss for the whole group,
and not one for each key.

The cost of a look-up is then the number of lines that it reads. A binary search reads one at nearly every
level. Where keys are spread about evenly, interpolation search takes fewer: among n keys the first guess is
off by about n^(1/2), the second by about n^(1/4) (Perl, Itai and Avni, "Interpolation search", 1978); of a
million keys, 1,000 and then 32 places. A key that guesses miss is sought from the last guess on. If many are
missed, all are sought by binary search, of which few keys prefetch both lines that may be next.
"""

from libc.math cimport sqrt
from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch, first_val, key_at, seek_key, val_at
from ivm.trace.times cimport compare_words

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil

cdef enum:
    MANY = 8        # keys, whose steps take as long as a miss
    WORTH_GUESSING = 1 << 9     # keys among which to guess where many lie,
    WORTH_A_GUESS = 1 << 17     # and few: the first levels of a binary search are in the caches
    MORE_GUESSES = 2            # that read a key, or one
    FAR = 1 << 12               # where the keys are not more than these
    NEAR = 8                    # keys on both sides of the last guess, among which a key is to be
    ASTRAY = 4                  # times the expected error of a guess: beyond, the keys are not spread evenly
    MOST_STRAYED = 8            # of so many keys at most one may lie elsewhere


cdef Py_ssize_t probe(const Batch* b, const uint64_t* sought, int stride, Py_ssize_t count, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil:
    cdef Py_ssize_t end = likely_end(b, sought + (n - 1) * stride, count, n, start)
    cdef bint near = False
    if end - start >= (WORTH_GUESSING if n >= MANY else WORTH_A_GUESS):
        if b.key_words == 1:
            near = guess_all(b, sought, stride, n, start, end, at, 1)
        else:
            near = guess_all(b, sought, stride, n, start, end, at, b.key_words)
    if not near:
        halve_all(b, sought, stride, n, start, end, at)
    end = at[n - 1]
    _found(b, sought, stride, n, at)
    return end


# Seeks the keys between `start` and `end` by guesses, unless they are spread too unevenly. Then at[i] is the
# first key that is not below the i-th sought one, or the last one. `words` are those of a key.
cdef inline bint guess_all(const Batch* b, const uint64_t* sought, int stride, int n, Py_ssize_t start,
                           Py_ssize_t end, Py_ssize_t* at, int words) noexcept nogil:
    cdef Py_ssize_t places[GROUP]
    cdef Py_ssize_t last = min(end, b.keys - 1)
    cdef int missed = 0, i
    if not guess_places(b, sought, stride, n, start, last, places, words):
        return False
    for i in range(n):
        at[i] = max(start, min(places[i] - NEAR, last - 2 * NEAR))
    search_near(b, sought, stride, n, at, places, words)
    for i in range(n):
        missed += is_at_edge(at[i], places[i])
    if missed * MOST_STRAYED > n:
        return False
    for i in range(n):
        if is_at_edge(at[i], places[i]):
            at[i] = seek_beyond(b, sought + i * stride, start, end, places[i])
        else:
            at[i] = places[i]
    return True


# Guesses positions from `start` to `last` by interpolation on the first word in which these two keys differ.
# Each place is prefetched when it is known, and read when all are known.
cdef inline bint guess_places(const Batch* b, const uint64_t* sought, int stride, int n, Py_ssize_t start,
                              Py_ssize_t last, Py_ssize_t* places, int words) noexcept nogil:
    cdef uint64_t wanted[GROUP]
    cdef int word = differing_word(key_at(b, start), key_at(b, last), words), strayed = 0, guess, i
    cdef const uint64_t* keys = b.key + word
    cdef Py_ssize_t astray = <Py_ssize_t> (ASTRAY * sqrt(<double> (last - start))), place
    cdef double density
    if word == words:
        return False
    density = <double> (last - start) / <double> (keys[last * words] - keys[start * words])
    if density > NEAR:      # too many keys have the same word
        return False
    for i in range(n):
        wanted[i] = sought[i * stride + word]
        places[i] = nearer(start, keys[start * words], wanted[i], density, start, last)
        prefetch(keys + places[i] * words)
    for guess in range(MORE_GUESSES if last - start > FAR else 1):
        for i in range(n):
            place = nearer(places[i], keys[places[i] * words], wanted[i], density, start, last)
            strayed += place - places[i] > astray or places[i] - place > astray
            places[i] = place
        if strayed * MOST_STRAYED > n:
            return False
        for i in range(n):
            prefetch(keys + places[i] * words)
    return True


# Seeks each key within NEAR keys on both sides of its guess at[i].
cdef inline void search_near(const Batch* b, const uint64_t* sought, int stride, int n,
                             const Py_ssize_t* at, Py_ssize_t* places, int words) noexcept nogil:
    cdef Py_ssize_t length = 2 * NEAR + 1, half
    cdef int i
    for i in range(n):
        places[i] = at[i]
        prefetch(key_at(b, at[i]))
        prefetch(key_at(b, at[i] + 2 * NEAR))
    while length > 1:
        half = length // 2
        length -= half
        for i in range(n):
            places[i] += half if is_below(
                b.key + (places[i] + half - 1) * words, sought + i * stride, words) else 0


# True if a key may lie before or behind the range in which it was sought.
cdef inline bint is_at_edge(Py_ssize_t first, Py_ssize_t place) noexcept nogil:
    return place == first or place == first + 2 * NEAR


# Seeks a key from a place where it may lie before as well as behind.
cdef Py_ssize_t seek_beyond(const Batch* b, const uint64_t* sought, Py_ssize_t start, Py_ssize_t end,
                            Py_ssize_t place) noexcept nogil:
    cdef Py_ssize_t before = max(start, place - 4 * NEAR), at
    if compare_words(key_at(b, place), sought, b.key_words) < 0:
        return seek_key(b, sought, place)
    if before == start or compare_words(key_at(b, before), sought, b.key_words) < 0:
        return seek_key(b, sought, before)
    halve_all(b, sought, 0, 1, start, end, &at)
    return at


# The first word in which two keys differ.
cdef inline int differing_word(const uint64_t* key, const uint64_t* other, int words) noexcept nogil:
    cdef int word = 0
    while word < words and key[word] == other[word]:
        word += 1
    return word


# Interpolates a key's position, from `start` to `last`, from its distance to the key at `at`.
cdef inline Py_ssize_t nearer(Py_ssize_t at, uint64_t there, uint64_t sought, double density,
                              Py_ssize_t start, Py_ssize_t last) noexcept nogil:
    cdef double distance = density * <double> (sought - there if sought >= there else there - sought)
    cdef Py_ssize_t steps = <Py_ssize_t> min(distance, <double> (last - start))
    return min(at + steps, last) if sought >= there else max(at - steps, start)


# Seeks keys by binary search.
cdef void halve_all(const Batch* b, const uint64_t* sought, int stride, int n, Py_ssize_t start,
                    Py_ssize_t end, Py_ssize_t* at) noexcept nogil:
    cdef Py_ssize_t length = end - start + (1 if end < b.keys else 0), half, next
    cdef int i
    for i in range(n):
        at[i] = start
    # The first key that is not below a sought one is always in [at[i], at[i] + length].
    while length > 1:
        half = length // 2
        length -= half
        next = max(length // 2 - 1, 0)
        if n < MANY:
            for i in range(n):
                prefetch(key_at(b, at[i] + next))
                prefetch(key_at(b, at[i] + half + next))
        if b.key_words == 1:
            for i in range(n):
                at[i] += half if b.key[at[i] + half - 1] < sought[i * stride] else 0
                if n >= MANY:
                    prefetch(b.key + at[i] + next)
        else:
            for i in range(n):
                at[i] += half if is_below(key_at(b, at[i] + half - 1), sought + i * stride,
                                          b.key_words) else 0
                if n >= MANY:
                    prefetch(key_at(b, at[i] + next))


# True if a key is below another one. Most differ in their first word, in an unpredictable direction.
cdef inline bint is_below(const uint64_t* key, const uint64_t* other, int words) noexcept nogil:
    cdef bint below = key[0] < other[0]
    if key[0] == other[0]:
        below = compare_words(key + 1, other + 1, words - 1) < 0
    return below


# Bounds the position of `last`, the n-th of `count` sought keys, from `start`: twice as far as an even spread
# gives, or the end. The exact position would take one miss after the other.
cdef inline Py_ssize_t likely_end(const Batch* b, const uint64_t* last, Py_ssize_t count, int n,
                                  Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t end = start + 2 * n * ((b.keys - start) // count + 1)
    if end < b.keys and compare_words(key_at(b, end), last, b.key_words) >= 0:
        return end
    return b.keys


# Turns the positions of absent keys into -1, and prefetches the values of the others.
cdef void _found(const Batch* b, const uint64_t* sought, int stride, int n,
                 Py_ssize_t* at) noexcept nogil:
    cdef int i
    for i in range(n):
        if at[i] == b.keys or compare_words(key_at(b, at[i]), sought + i * stride, b.key_words) != 0:
            at[i] = -1
        elif b.val_start != NULL:
            prefetch(b.val_start + at[i])
    for i in range(n):
        if at[i] >= 0:
            prefetch(val_at(b, first_val(b, at[i])))
            if b.update_start != NULL:
                prefetch(b.update_start + first_val(b, at[i]))
