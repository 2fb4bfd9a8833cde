"""Exchange: every row goes to the shard that owns its key, packed as the key's words, then the value's."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator, Region, read_alone
from ivm.rows.hashing cimport hash_rows, shard_of
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport Updates, push, reserve, update_at

cdef enum:
    HASHED_ROWS = 512   # at once


cdef class Exchange(Operator):
    """Shard `shard`'s rows of all shards' `sources`.

    Each shard reads every source and keeps its own rows, so no buffer has two writers. Rows of the
    sources have `layout`; `key` lists the key's columns.
    """

    cdef tuple sources
    cdef vector[void*] inputs       # borrowed from `sources`
    cdef vector[int] key
    cdef Layout layout
    cdef Interner interner
    cdef Packing packing
    cdef int shard
    cdef vector[uint64_t] row       # scratch

    def __init__(self, Region region, int row_words, tuple sources, Layout layout, key,
                 Interner interner, Packing packing, int shard):
        self.sources = sources
        for source in sources:
            self.inputs.push_back(<void*> source)
        for column in key:
            self.key.push_back(column)
        self.layout = layout
        self.interner = interner
        self.packing = packing
        self.shard = shard
        self.row.resize(row_words)

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef size_t s
        for s in range(self.inputs.size()):
            total += (<Operator> self.inputs[s]).out.length
        return total

    cdef int step(self) except -1 nogil:
        cdef size_t s
        self.out.length = 0
        if self.inputs.size() == 1 and read_alone(<Operator> self.inputs[0]) and (
                (<Operator> self.inputs[0]).out.stride == self.out.stride):
            self._repack(&(<Operator> self.inputs[0]).out)
            return 0
        # An even share; whatever is more makes its room as it comes.
        if reserve(&self.out, self.load() // self.inputs.size()) < 0:
            self._no_memory()
        for s in range(self.inputs.size()):
            self._take(&(<Operator> self.inputs[s]).out)
        return 0

    # All rows of the one source, where they lie.
    cdef void _repack(self, Updates* given) noexcept nogil:
        cdef Py_ssize_t i
        cdef size_t bytes = self.out.row_words * sizeof(uint64_t)
        self.out, given[0] = given[0], self.out
        for i in range(self.out.length):
            memcpy(self.row.data(), update_at(&self.out, i), bytes)
            self.packing.pack(self.row.data(), NULL, NULL, update_at(&self.out, i))

    cdef int _take(self, const Updates* given) except -1 nogil:
        cdef uint64_t hashes[HASHED_ROWS]
        cdef Py_ssize_t start = 0, size, i
        cdef size_t shards = self.inputs.size()
        cdef const uint64_t* update
        cdef uint64_t* target
        while start < given.length:
            size = min(given.length - start, <Py_ssize_t> HASHED_ROWS)
            update = update_at(given, start)
            if shards > 1:
                hash_rows(update, size, given.stride, self.key.data(), <int> self.key.size(),
                          self.layout, self.interner, hashes)
            for i in range(size):
                if shards == 1 or shard_of(hashes[i], shards) == <size_t> self.shard:
                    target = push(&self.out)
                    if target == NULL:
                        self._no_memory()
                    self._write(update, given.row_words, target)
                update += given.stride
            start += size
        return 0

    cdef inline void _write(self, const uint64_t* update, int row_words, uint64_t* target) noexcept nogil:
        if self.packing.identity:
            memcpy(target, update, self.out.stride * sizeof(uint64_t))
            return
        self.packing.pack(update, NULL, NULL, target)
        memcpy(target + self.out.row_words, update + row_words,
               (self.out.time_words + 1) * sizeof(uint64_t))

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to exchange updates")
