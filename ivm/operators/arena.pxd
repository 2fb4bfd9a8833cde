# Memory that is given back all at once: taking some is an addition, and small arrays lie side by side.

from libc.stdlib cimport free, malloc

from ivm.rows.blocks cimport LARGE, give_block, take_block, whole_pages

cdef enum:
    SMALL = 1 << 16     # bytes of the first chunk; those after it are large blocks


# The head of a chunk, before its memory.
cdef struct Chunk:
    Chunk* before
    size_t bytes        # with the head


cdef struct Arena:
    Chunk* last         # from which is taken at present; those before are full
    size_t taken        # of its bytes


# Memory for `bytes`, a multiple of 8; NULL where there is none.
cdef inline void* take_memory(Arena* arena, size_t bytes) noexcept nogil:
    cdef size_t wanted
    cdef Chunk* chunk = arena.last
    if chunk == NULL or arena.taken + bytes > chunk.bytes:
        wanted = max(sizeof(Chunk) + bytes, <size_t> (SMALL if chunk == NULL else LARGE))
        if wanted >= LARGE:
            wanted = whole_pages(wanted)
            chunk = <Chunk*> take_block(wanted)
        else:
            chunk = <Chunk*> malloc(wanted)
        if chunk == NULL:
            return NULL
        chunk.before = arena.last
        chunk.bytes = wanted
        arena.last = chunk
        arena.taken = sizeof(Chunk)
    arena.taken += bytes
    return <char*> chunk + arena.taken - bytes


# Takes everything back; a first chunk that is small stays for what comes next.
cdef inline void clear_arena(Arena* arena) noexcept nogil:
    while arena.last != NULL and (arena.last.before != NULL or arena.last.bytes >= LARGE):
        _drop_last(arena)
    arena.taken = sizeof(Chunk)


cdef inline void release_arena(Arena* arena) noexcept nogil:
    while arena.last != NULL:
        _drop_last(arena)


cdef inline void _drop_last(Arena* arena) noexcept nogil:
    cdef Chunk* chunk = arena.last
    arena.last = chunk.before
    if chunk.bytes >= LARGE:
        give_block(chunk, chunk.bytes)
    else:
        free(chunk)
