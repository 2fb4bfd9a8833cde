"""Arrange seals a collection's updates into the batches of a trace that many operators may read.

There is one trace, whatever the number of shards. Few updates are sealed by one thread; of many, each thread
sorts those in a range of the keys. (Shared arrangements, VLDB 2020, section 4.2.)
"""

from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.updates cimport Updates, append, bytes_of, dress, is_bare
from ivm.trace.sorting.partition cimport Part
from ivm.trace.spine cimport Trace

cdef enum:
    WORTH_THREADS = 1 << 14     # updates that threads seal together


cdef class Sealing(Operator):
    """Seals updates as batches of `trace`."""

    # At the root every reader has read the trace in this step: only its last time counts. A loop may be
    # entered again.
    cdef int rest(self) except -1 nogil:
        Operator.rest(self)
        return self.trace.absorb(
            self.region.upper - 1 if self.region.depth == 1 else self.region.lower)

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + self.trace.held_bytes()

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for an arrangement's updates")


cdef class Arrange(Sealing):
    """Seals each activation's input as a batch; rows are a key's words, then a value's.

    `sources` are those of all shards. It has no output of its own: consumers read `trace`.
    """

    def __init__(self, Region region, int row_words, tuple sources, int key_words, tuple strings):
        self.seeks = True       # it sorts, and its trace merges
        self.sources = sources
        for source in sources:
            self.given.push_back(<void*> <Operator?> source)
        self.trace = Trace(key_words, row_words - key_words, region.depth, strings)
        self.trace.threads = len(sources)

    # In a loop, the batch sealed in the round before becomes history even if no other follows.
    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = self.trace.fresh != NULL
        cdef void* source
        for source in self.given:
            total += (<Operator> source).out.length
        return total

    cdef Py_ssize_t yields(self) noexcept nogil:
        return 0 if self.trace.fresh == NULL else self.trace.fresh.updates

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t total = 0
        cdef int giving = 0
        cdef void* source
        self.out.length = 0
        for source in self.given:
            total += (<Operator> source).out.length
            giving += (<Operator> source).out.length > 0
        if giving > 1:
            self.level()
        if self.given.size() > 1 and self.trace.key_words > 0 and total >= WORTH_THREADS:
            self.seal_together()
        else:
            self.seal()
        for source in self.given:
            if read_alone(<Operator> source):
                (<Operator> source).out.length = 0
                let_go(<Operator> source)
        return 0

    # Turns bare rows into ordinary updates, unless the rows of all sources are bare, and of one time.
    cdef int level(self) except -1 nogil:
        cdef Updates* first = NULL
        cdef Updates* rows
        cdef void* source
        cdef bint alike = True
        for source in self.given:
            rows = &(<Operator> source).out
            if rows.length > 0:
                first = rows if first == NULL else first
                alike &= rows.stride == first.stride and rows.time == first.time
        if alike:
            return 0
        for source in self.given:
            rows = &(<Operator> source).out
            if is_bare(rows) and dress(rows) < 0:
                self._no_memory()
        return 0

    cdef int seal(self) except -1 nogil:
        cdef Updates* all = NULL
        cdef Updates* more
        cdef void* source
        cdef bint consolidated = False
        for source in self.given:
            more = &(<Operator> source).out
            if more.length == 0:
                continue
            if all == NULL and read_alone(<Operator> source):
                all = more
                consolidated = (<Operator> source).consolidated
                continue
            consolidated = all == NULL and (<Operator> source).consolidated
            all = &self.out if all == NULL else all
            if append(all, more.words, more.length) < 0:
                self._no_memory()
        if all == NULL:
            all = &self.out
        if self.dates:
            self.date(all)
        if self.dates or not consolidated:
            return self.trace.seal_unsorted(all, self.region.lower)
        return self.trace.seal(all, self.region.lower)

    cdef int seal_together(self) except -1 nogil:
        cdef vector[Part] parts
        cdef Updates* rows
        cdef void* source
        for source in self.given:
            rows = &(<Operator> source).out
            if rows.length == 0:
                continue
            if self.dates and not read_alone(<Operator> source):
                if append(&self.out, rows.words, rows.length) < 0:
                    self._no_memory()
                continue
            if self.dates:
                self.date(rows)
            parts.push_back(Part(rows, rows, False, read_alone(<Operator> source)))
        if self.out.length > 0:
            self.date(&self.out)
            parts.push_back(Part(&self.out, &self.out, False, True))
        return self.trace.seal_together(parts.data(), <int> parts.size(), self.region.lower)

    cdef void date(self, Updates* updates) noexcept nogil:
        pass
