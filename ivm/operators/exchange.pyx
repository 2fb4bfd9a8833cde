"""Exchange: every row goes to the shard that owns its key.

Each shard first deals its own rows out, so that a row is hashed once and no buffer has two writers;
then each takes what all have dealt it.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.operator cimport KEPT_UPDATES, Operator, Region, let_go
from ivm.rows.hashing cimport hash_rows, shard_of
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport (
    Updates, append, block_bytes, empty_updates, push, release, reserve, update_at,
)

cdef enum:
    HASHED_ROWS = 512   # at once


cdef class Deal(Operator):
    """The rows of `source`, packed by `packing`, apart by which of `shards` owns them.

    Rows of the source have `layout`; `key` lists the key's columns.
    """

    cdef Operator source
    cdef vector[Updates] piles      # one for each shard
    cdef vector[int] key
    cdef Layout layout
    cdef Interner interner
    cdef Packing packing

    def __init__(self, Region region, int row_words, Operator source, Layout layout, key,
                 Interner interner, Packing packing, int shards):
        self.source = source
        for column in key:
            self.key.push_back(column)
        self.layout = layout
        self.interner = interner
        self.packing = packing
        self.piles.assign(shards, empty_updates(row_words, region.depth))

    def __dealloc__(self):
        cdef size_t s
        for s in range(self.piles.size()):
            release(&self.piles[s])

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef bint yields(self) noexcept nogil:
        cdef size_t s
        for s in range(self.piles.size()):
            if self.piles[s].length > 0:
                return True
        return False

    cdef int step(self) except -1 nogil:
        cdef const Updates* given = &self.source.out
        cdef uint64_t hashes[HASHED_ROWS]
        cdef Py_ssize_t start = 0, n
        if given.length > HASHED_ROWS:
            self._make_room(given.length // <Py_ssize_t> self.piles.size())
        while start < given.length:
            n = min(given.length - start, <Py_ssize_t> HASHED_ROWS)
            hash_rows(update_at(given, start), n, given.stride, self.key.data(),
                      <int> self.key.size(), self.layout, self.interner, hashes)
            self._make_room(n)
            if not self.packing.identity:
                self._pack(given, start, n, hashes)
            elif given.stride == 4:     # the most frequent widths, as constants
                self._copy(update_at(given, start), n, 4, hashes)
            elif given.stride == 5:
                self._copy(update_at(given, start), n, 5, hashes)
            else:
                self._copy(update_at(given, start), n, given.stride, hashes)
            start += n
        let_go(self.source)
        return 0

    # So that each pile takes `more` rows, whoever owns them.
    cdef int _make_room(self, Py_ssize_t more) except -1 nogil:
        cdef size_t s
        for s in range(self.piles.size()):
            if reserve(&self.piles[s], more) < 0:
                with gil:
                    raise MemoryError("no memory to exchange updates")
        return 0

    cdef inline void _copy(self, const uint64_t* update, Py_ssize_t n, int stride,
                           const uint64_t* hashes) noexcept nogil:
        cdef Updates* piles = self.piles.data()
        cdef Updates* pile
        cdef size_t shards = self.piles.size()
        cdef Py_ssize_t i
        for i in range(n):
            pile = piles + shard_of(hashes[i], shards)
            memcpy(pile.words + pile.length * stride, update, stride * sizeof(uint64_t))
            pile.length += 1
            update += stride

    cdef void _pack(self, const Updates* given, Py_ssize_t start, Py_ssize_t n,
                    const uint64_t* hashes) noexcept nogil:
        cdef const uint64_t* update
        cdef uint64_t* target
        cdef Updates* pile
        cdef Py_ssize_t i
        for i in range(n):
            update = update_at(given, start + i)
            pile = &self.piles[shard_of(hashes[i], self.piles.size())]
            target = push(pile)
            self.packing.pack(update, NULL, NULL, target)
            memcpy(target + pile.row_words, update + given.row_words,
                   (pile.time_words + 1) * sizeof(uint64_t))

    cdef void abandon(self) noexcept nogil:
        cdef size_t s
        for s in range(self.piles.size()):
            self.piles[s].length = 0

    cdef int rest(self) except -1 nogil:
        cdef size_t s
        for s in range(self.piles.size()):
            self.piles[s].length = 0
            if self.piles[s].capacity > KEPT_UPDATES:
                release(&self.piles[s])
        return 0


cdef class Exchange(Operator):
    """What all shards' `deals` have for the shard numbered `shard`."""

    cdef tuple deals
    cdef vector[Updates*] piles     # borrowed from `deals`

    def __init__(self, Region region, int row_words, tuple deals, int shard):
        cdef Deal deal
        self.deals = deals
        for deal in deals:
            self.piles.push_back(&deal.piles[shard])

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef Updates* pile
        for pile in self.piles:
            total += pile.length
        return total

    cdef int step(self) except -1 nogil:
        cdef Updates* pile
        self.out.length = 0
        for pile in self.piles:
            if self.out.length == 0:
                self.out, pile[0] = pile[0], self.out
            elif append(&self.out, pile.words, pile.length) < 0:
                with gil:
                    raise MemoryError("no memory to exchange updates")
            pile.length = 0
            if block_bytes(pile) > 0:
                release(pile)
        return 0
