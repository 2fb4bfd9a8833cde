"""Exchange: every row goes to the shard that owns its key.

Few rows are handed over by one thread, each straight to what its owner puts out. Of many, each shard
first deals its own rows out, so that no buffer has two writers, and then takes what all have dealt it.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from ivm.operators.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.hashing cimport hash_rows, shard_of
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport (
    Updates, append, copy_update, empty_updates, push, release, reserve, update_at,
)

cdef enum:
    HASHED_ROWS = 512   # at once


cdef class Exchange(Operator):
    """The rows of all shards' sources that this shard owns; `source` is that of this shard.

    Rows of the source have `layout`; `key` lists the key's columns. They are packed by `packing`.
    The operators of all `shards` make up a Crossing.
    """

    def __init__(self, Region region, int row_words, Operator source, Layout layout, key,
                 Interner interner, Packing packing, int shards):
        cdef int s
        self.source = source
        for column in key:
            self.key.push_back(column)
        self.layout = layout
        self.interner = interner
        self.packing = packing
        self.piles.assign(shards, empty_updates(row_words, region.depth))
        for s in range(shards):
            self.own.push_back(&self.piles[s])

    def __dealloc__(self):
        cdef size_t s
        for s in range(self.piles.size()):
            release(&self.piles[s])

    cdef int know(self, tuple operators) except -1:
        cdef Exchange other
        cdef size_t shard = operators.index(self)
        self.mine = &self.piles[shard]
        for other in operators:
            self.outs.push_back(&other.out)
            self.given.push_back(&other.piles[shard])
        return 0

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int hand_over(self) except -1 nogil:
        return self.deal_to(self.outs.data(), &self.source.out)

    # What others hand over goes behind the shard's own rows, for which and for an even share of all there
    # is room. If nobody else reads the source's rows, they move up where they lie.
    cdef int deal(self) except -1 nogil:
        cdef Updates given = self.source.out
        if self.packing.identity and read_alone(self.source):
            self.mine[0], self.source.out = self.source.out, self.mine[0]
            self.mine.length = 0
        elif reserve(self.mine, given.length) < 0:
            self.no_memory()
        return self.deal_to(self.own.data(), &given)

    cdef int gather(self) except -1 nogil:
        cdef Updates* pile
        self.out, self.mine[0] = self.mine[0], self.out
        self.mine.length = 0
        for pile in self.given:
            if append(&self.out, pile.words, pile.length) < 0:
                self.no_memory()
            release(pile)
        return 0

    # No target grows into rows of `given` that are still to be read, where that is one of them.
    cdef int deal_to(self, Updates** targets, const Updates* given) except -1 nogil:
        cdef const uint64_t* update = given.words
        cdef uint64_t hashes[HASHED_ROWS]
        cdef size_t shards = self.outs.size()
        cdef Py_ssize_t left = given.length, n
        if left > HASHED_ROWS:
            self.make_room(targets, left // <Py_ssize_t> shards)
        while left > 0:
            n = min(left, <Py_ssize_t> HASHED_ROWS)
            hash_rows(update, n, given.stride, self.key.data(), <int> self.key.size(), self.layout,
                      self.interner, hashes)
            self.make_room(targets, n)
            if not self.packing.identity:
                _pack(update, n, given, self.packing, hashes, targets, shards)
            else:
                _copy(update, n, given.stride, hashes, targets, shards)
            update += n * given.stride
            left -= n
        let_go(self.source)
        return 0

    # So that each target takes `more` rows, whoever owns them.
    cdef int make_room(self, Updates** targets, Py_ssize_t more) except -1 nogil:
        cdef size_t s
        for s in range(self.outs.size()):
            if reserve(targets[s], more) < 0:
                self.no_memory()
        return 0

    cdef int no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to exchange updates")


# Appends each of `n` rows to that of `targets` that is its owner's, which has room.
cdef void _copy(const uint64_t* update, Py_ssize_t n, int stride, const uint64_t* hashes,
                Updates** targets, size_t shards) noexcept nogil:
    cdef Updates* target
    cdef Py_ssize_t i
    for i in range(n):
        target = targets[shard_of(hashes[i], shards)]
        copy_update(update_at(target, target.length), update, stride)
        target.length += 1
        update += stride


# The same with rows that are packed; `given` has the shape of what they are among.
cdef void _pack(const uint64_t* update, Py_ssize_t n, const Updates* given, Packing packing,
                const uint64_t* hashes, Updates** targets, size_t shards) noexcept nogil:
    cdef uint64_t* packed
    cdef Updates* target
    cdef Py_ssize_t i
    for i in range(n):
        target = targets[shard_of(hashes[i], shards)]
        packed = push(target)
        packing.pack(update, NULL, NULL, packed)
        memcpy(packed + target.row_words, update + given.row_words,
               (target.time_words + 1) * sizeof(uint64_t))
        update += given.stride
