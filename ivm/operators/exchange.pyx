"""Exchange: every row of a sum goes to the shard that owns its key.

Few rows are handed over by one thread, each straight to what its owner puts out. Many are dealt out by
all threads, and sorted on the way (`ivm.trace.dealing`): what reads them would sort them anyway, or finds
equal keys together.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.hashing cimport hash_rows, shard_of
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.sharding cimport Owners
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport (
    Updates, copy_update, empty_updates, push, release, reserve, update_at,
)
from ivm.trace.dealing cimport Part, deal_out

cdef enum:
    HASHED_ROWS = 512   # at once


cdef class Exchange(Operator):
    """The rows of all shards' sources that this shard owns; `sources` are those of this shard.

    What comes from those that are marked in `negated` changes its sign. Rows of the sources have
    `layout`; `key` lists the key's columns. They are packed by `packing`. The operators of all
    shards make up a Crossing.
    """

    def __init__(self, Region region, int row_words, tuple sources, tuple negated, Layout layout,
                 key, Interner interner, Packing packing):
        for source, negative in zip(sources, negated, strict=True):
            self.inputs.push_back(<void*> <Operator?> source)
            self.negated.push_back(negative)
        self.sources = sources
        for column in key:
            self.key.push_back(column)
        self.layout = layout
        self.interner = interner
        self.packing = packing
        self.packed.resize(len(sources), empty_updates(row_words, region.depth))

    def __dealloc__(self):
        cdef size_t s
        for s in range(self.packed.size()):
            release(&self.packed[s])

    cdef int know(self, tuple operators) except -1:
        cdef Exchange other
        for other in operators:
            self.outs.push_back(&other.out)
        return 0

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef void* source
        for source in self.inputs:
            total += (<Operator> source).out.length
        return total

    cdef int hand_over(self) except -1 nogil:
        cdef size_t s
        for s in range(self.inputs.size()):
            if (<Operator> self.inputs[s]).out.length > 0:
                self.hand_over_rows(&(<Operator> self.inputs[s]).out, self.negated[s])
                let_go(<Operator> self.inputs[s])
        return 0

    cdef int hand_over_rows(self, const Updates* given, bint negated) except -1 nogil:
        cdef const uint64_t* update = given.words
        cdef uint64_t hashes[HASHED_ROWS]
        cdef Py_ssize_t left = given.length, n
        while left > 0:
            n = min(left, <Py_ssize_t> HASHED_ROWS)
            hash_rows(update, n, given.stride, self.key.data(), <int> self.key.size(), self.layout,
                      self.interner, hashes)
            if _append(update, n, given, negated, self.packing, hashes, &self.outs) < 0:
                self.no_memory()
            update += n * given.stride
            left -= n
        return 0

    cdef int pack(self) except -1 nogil:
        cdef const Updates* given
        cdef size_t s
        cdef Py_ssize_t i
        for s in range(self.inputs.size()):
            given = &(<Operator> self.inputs[s]).out
            self.packed[s].length = 0
            if reserve(&self.packed[s], given.length) < 0:
                self.no_memory()
            for i in range(given.length):
                _pack(update_at(given, i), given, self.packing, push(&self.packed[s]),
                      &self.packed[s])
        return 0

    cdef int list_parts(self, vector[Part]* parts) except -1 nogil:
        cdef Updates* given
        cdef Updates* rows
        cdef size_t s
        for s in range(self.inputs.size()):
            given = rows = &(<Operator> self.inputs[s]).out
            if not self.packing.identity:
                rows = &self.packed[s]
            parts.push_back(Part(rows, given, self.negated[s],
                                 read_alone(<Operator> self.inputs[s])))
        return 0

    cdef int deal_all(self, vector[Part]* parts) except -1 nogil:
        cdef Owners owners = Owners(self.outs.data(), <int> self.outs.size(), self.key.data(),
                                    <int> self.key.size())
        return deal_out(parts.data(), <int> parts.size(), &owners, self.layout, self.interner)

    cdef int no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to exchange updates")


# Appends each of `n` rows to that of `outs` that is its owner's; -1 where memory is short.
cdef int _append(const uint64_t* update, Py_ssize_t n, const Updates* given, bint negated,
                 Packing packing, const uint64_t* hashes, vector[Updates*]* outs) noexcept nogil:
    cdef Updates* out
    cdef uint64_t* row
    cdef Py_ssize_t i
    for i in range(n):
        out = outs[0][shard_of(hashes[i], outs.size())]
        row = push(out)
        if row == NULL:
            return -1
        if packing.identity:
            copy_update(row, update, given.stride)
        else:
            _pack(update, given, packing, row, out)
        if negated:
            row[out.stride - 1] = 0 - row[out.stride - 1]
        update += given.stride
    return 0


# Packs one row of `given` as `row` of `out`.
cdef inline void _pack(const uint64_t* update, const Updates* given, Packing packing, uint64_t* row,
                       const Updates* out) noexcept nogil:
    packing.pack(update, NULL, NULL, row)
    memcpy(row + out.row_words, update + given.row_words, (out.time_words + 1) * sizeof(uint64_t))
