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
            self.terms.push_back(Term(<void*> <Operator?> source, negative))
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
        cdef Term term
        for term in self.terms:
            total += (<Operator> term.source).out.length
        return total

    cdef int hand_over(self, const vector[void*]* shards) except -1 nogil:
        cdef Term term
        for term in self.terms:
            if (<Operator> term.source).out.length > 0:
                self.hand_over_rows(&(<Operator> term.source).out, term.negated, shards)
                let_go(<Operator> term.source)
        return 0

    cdef int pack(self) except -1 nogil:
        cdef const Updates* given
        cdef size_t s
        cdef Py_ssize_t i
        for s in range(self.terms.size()):
            given = &(<Operator> self.terms[s].source).out
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
        for s in range(self.terms.size()):
            given = rows = &(<Operator> self.terms[s].source).out
            if self.packing is not None:
                rows = &self.packed[s]
            parts.push_back(Part(rows, given, self.terms[s].negated,
                                 read_alone(<Operator> self.terms[s].source)))
        return 0
