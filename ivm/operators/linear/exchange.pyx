"""Exchange sends every row of a sum to the shard that owns its key.

Few rows are handed over by one thread, each straight to its owner's output. Many are partitioned by all
threads, and sorted on the way (`ivm.trace.sorting.partition`): their readers would sort them anyway, or find
equal keys together. Rows too few for more than one thread all go to the first shard.
"""

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport (
    Updates, append, copy_few, copy_update, empty_updates, push, release, reserve, update_at,
)
from ivm.trace.counts cimport negate
from ivm.trace.sorting.partition cimport Part, deal_out


cdef class Exchange(Operator):
    """Collects the rows of all shards' sources that this shard owns; `sources` are those of this shard.

    Updates of sources marked in `negated` change sign. Rows are packed by `packing`. The operators of all
    shards make up a Crossing. Unless it `gathers`, few rows go to their owners as well.
    """

    def __init__(self, Region region, int row_words, tuple sources, tuple negated,
                 Partitioner partitioner, Packing packing, bint gathers):
        for source, negative in zip(sources, negated, strict=True):
            self.terms.push_back(Term(<void*> <Operator?> source, negative))
        self.sources = sources
        self.partitioner = partitioner
        self.gathers = gathers
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

    cdef int gather(self, const vector[void*]* shards) except -1 nogil:
        cdef Term term
        cdef void* shard
        cdef size_t s
        for s in range(shards.size()):
            shard = shards[0][s]
            for term in (<Exchange> shard).terms:
                if (<Operator> term.source).out.length > 0:
                    self.gather_rows(<Operator> term.source, term.negated)
        return 0

    cdef int gather_rows(self, Operator source, bint negated) except -1 nogil:
        cdef Py_ssize_t first = self.out.length, i
        cdef const Updates* given = &source.out
        cdef uint64_t* row
        if self.packing is None and first == 0 and read_alone(source):
            self.out, source.out = source.out, self.out
            source.out.length = 0
        elif self.packing is None:
            if append(&self.out, given.words, given.length) < 0:
                self.no_memory()
        else:
            if reserve(&self.out, given.length) < 0:
                self.no_memory()
            for i in range(given.length):
                pack_update(update_at(given, i), given, self.packing, push(&self.out), &self.out)
        for i in range(first, self.out.length if negated else first):
            row = update_at(&self.out, i)
            negate(&row[self.out.stride - 1])
        return 0

    cdef int hand_over_rows(self, const Updates* given, bint negated,
                            const vector[void*]* shards) except -1 nogil:
        cdef const uint64_t* update = given.words
        cdef Updates* out
        cdef uint64_t* row
        cdef Py_ssize_t i
        for i in range(given.length):
            out = &(<Operator> shards[0][owner_of(update, shards.size(), self.partitioner)]).out
            row = push(out)
            if row == NULL:
                self.no_memory()
            if self.packing is None:
                copy_update(row, update, given.stride)
            else:
                pack_update(update, given, self.packing, row, out)
            if negated:
                negate(&row[out.stride - 1])
            update += given.stride
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

    cdef int deal_all(self, vector[Part]* parts, const vector[void*]* shards) except -1 nogil:
        cdef vector[Updates*] outs
        cdef size_t s
        for s in range(shards.size()):
            outs.push_back(&(<Operator> shards[0][s]).out)
        deal_out(parts.data(), <int> parts.size(), self.partitioner, outs.data(), <int> outs.size())
        for s in range(shards.size()):
            (<Operator> shards[0][s]).consolidated = True
        return 0

    cdef int no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to exchange updates")


# Packs one row of `given` as `row` of `out`.
cdef void pack_update(const uint64_t* update, const Updates* given, Packing packing, uint64_t* row,
                      const Updates* out) noexcept nogil:
    pack(packing, update, NULL, NULL, row)
    copy_few(row + out.row_words, update + given.row_words, out.time_words + 1)
