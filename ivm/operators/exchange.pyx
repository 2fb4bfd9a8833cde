"""Exchange: every row of a sum goes to the shard that owns its key."""

from libcpp.vector cimport vector

from ivm.operators.dealer cimport Dealer, pack_update
from ivm.operators.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.hashing cimport Partitioner
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates, empty_updates, push, release, reserve, update_at
from ivm.trace.dealing cimport Part


cdef class Exchange(Dealer):
    """The rows of all shards' sources that this shard owns; `sources` are those of this shard.

    What comes from those that are marked in `negated` changes its sign. Rows are packed by `packing`.
    """

    def __init__(self, Region region, int row_words, tuple sources, tuple negated,
                 Partitioner partitioner, Packing packing):
        for source, negative in zip(sources, negated, strict=True):
            self.inputs.push_back(<void*> <Operator?> source)
            self.negated.push_back(negative)
        self.sources = sources
        self.partitioner = partitioner
        self.packing = None if packing.identity else packing
        self.packed.resize(len(sources), empty_updates(row_words, region.depth))

    def __dealloc__(self):
        cdef size_t s
        for s in range(self.packed.size()):
            release(&self.packed[s])

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef void* source
        for source in self.inputs:
            total += (<Operator> source).out.length
        return total

    cdef int hand_over(self, const vector[void*]* shards) except -1 nogil:
        cdef size_t s
        for s in range(self.inputs.size()):
            if (<Operator> self.inputs[s]).out.length > 0:
                self.hand_over_rows(&(<Operator> self.inputs[s]).out, self.negated[s], shards)
                let_go(<Operator> self.inputs[s])
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
                pack_update(update_at(given, i), given, self.packing, push(&self.packed[s]),
                            &self.packed[s])
        return 0

    cdef int list_parts(self, vector[Part]* parts) except -1 nogil:
        cdef Updates* given
        cdef Updates* rows
        cdef size_t s
        for s in range(self.inputs.size()):
            given = rows = &(<Operator> self.inputs[s]).out
            if self.packing is not None:
                rows = &self.packed[s]
            parts.push_back(Part(rows, given, self.negated[s],
                                 read_alone(<Operator> self.inputs[s])))
        return 0
