# A slab allocates many small arrays; a freed one waits in the free list of its size for the next taker.
#
# Sizes have four classes between powers of two. Arrays are cut from chunks, one beside the other, of which
# each is as large as all before it, up to MOST_CHUNK; an array of more than MOST_WORDS is malloc's.

from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc

from ivm.memory.huge_pages cimport HUGE_PAGE, LARGE, give_block, take_block, whole_pages

cdef extern from *:
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil

cdef enum:
    FIRST_CHUNK = 1 << 16   # bytes
    MOST_CHUNK = 2 * HUGE_PAGE
    MOST_WORDS = 1 << 12
    CLASSES = 44            # up to that of MOST_WORDS


# The head of a chunk, before its memory.
cdef struct Chunk:
    Chunk* before
    size_t bytes            # with the head


cdef struct Slab:
    Chunk* last             # from which is cut at present; those before are full
    size_t cut              # of its bytes
    size_t bytes            # of all chunks and large arrays
    size_t waiting          # bytes of the arrays that wait
    uint64_t* waits[CLASSES]    # for each class an array that waits; its first word leads to the next


cdef inline int class_of(size_t words) noexcept nogil:
    cdef size_t last = words - 1
    cdef int shift
    if last < 4:
        return <int> last
    shift = 61 - leading_zeros(last)
    return 4 * shift + <int> (last >> shift)


# Rounds `words`, at least 1, up to the words of its size class.
cdef inline size_t room_for(size_t words) noexcept nogil:
    cdef int number = class_of(words)
    if number < 4:
        return number + 1
    return <size_t> (number % 4 + 5) << (number // 4 - 1)


# An array with room for `words`; NULL where memory is short.
cdef inline uint64_t* take_words(Slab* slab, size_t words) noexcept nogil:
    cdef size_t bytes = room_for(words) * sizeof(uint64_t)
    cdef uint64_t* array
    if words > MOST_WORDS:
        array = <uint64_t*> malloc(bytes)
        if array != NULL:
            slab.bytes += bytes
        return array
    array = slab.waits[class_of(words)]
    if array != NULL:
        slab.waits[class_of(words)] = (<uint64_t**> array)[0]
        slab.waiting -= bytes
        return array
    if (slab.last == NULL or slab.cut + bytes > slab.last.bytes) and not _add_chunk(slab):
        return NULL
    slab.cut += bytes
    return <uint64_t*> (<char*> slab.last + slab.cut - bytes)


# Gives back an array that was taken for `words`.
cdef inline void give_words(Slab* slab, uint64_t* array, size_t words) noexcept nogil:
    cdef size_t bytes = room_for(words) * sizeof(uint64_t)
    if words > MOST_WORDS:
        free(array)
        slab.bytes -= bytes
        return
    (<uint64_t**> array)[0] = slab.waits[class_of(words)]
    slab.waits[class_of(words)] = array
    slab.waiting += bytes


cdef inline bint _add_chunk(Slab* slab) noexcept nogil:
    cdef size_t bytes = min(max(slab.bytes, <size_t> FIRST_CHUNK), <size_t> MOST_CHUNK)
    cdef Chunk* chunk
    if bytes < LARGE:
        chunk = <Chunk*> malloc(bytes)
    else:
        bytes = whole_pages(bytes)
        chunk = <Chunk*> take_block(bytes)
    if chunk == NULL:
        return False
    chunk.before = slab.last
    chunk.bytes = bytes
    slab.last = chunk
    slab.cut = sizeof(Chunk)
    slab.bytes += bytes
    return True


# Gives all chunks back, and with them every array that is not large.
cdef inline void release_chunks(Slab* slab) noexcept nogil:
    cdef Chunk* chunk
    cdef int number
    while slab.last != NULL:
        chunk = slab.last
        slab.last = chunk.before
        slab.bytes -= chunk.bytes
        if chunk.bytes >= LARGE:
            give_block(chunk, chunk.bytes)
        else:
            free(chunk)
    for number in range(CLASSES):
        slab.waits[number] = NULL
    slab.cut = slab.waiting = 0


# Makes the chunks of `other`, from which nothing was given back, those of `slab`.
cdef inline void adopt_chunks(Slab* slab, Slab* other) noexcept nogil:
    cdef Chunk* first = other.last
    if first == NULL:
        return
    while first.before != NULL:
        first = first.before
    first.before = slab.last
    slab.last = other.last
    slab.cut = other.cut
    slab.bytes += other.bytes
