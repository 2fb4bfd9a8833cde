"""Arranging: a collection's updates sealed into the batches of a trace that many may read."""

from ivm.operators.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.updates cimport Updates, append
from ivm.trace.trace cimport Trace


cdef class Arrange(Operator):
    """Seals each activation's input as a batch; rows of `source` are a key's words, then a value's.

    It has no output of its own: consumers read `trace`.
    """

    def __init__(self, Region region, int row_words, Operator source, int key_words, tuple strings):
        self.seeks = True       # it sorts, and its trace merges
        self.source = source
        self.dealer = source if isinstance(source, Dealer) and not self.dates else None
        if self.dealer is not None:
            self.dealer.arranged = True
        self.trace = Trace(key_words, row_words - key_words, region.depth, strings)

    # In a loop, what the round before sealed becomes history even if nothing follows.
    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length + (self.trace.fresh != NULL)

    cdef bint yields(self) noexcept nogil:
        return self.trace.fresh != NULL

    cdef int step(self) except -1 nogil:
        cdef Updates* given = &self.source.out
        self.out.length = 0
        if not read_alone(self.source):
            if append(&self.out, given.words, given.length) < 0:
                self._no_memory()
            given = &self.out
        self.seal(given)
        given.length = 0
        let_go(self.source)
        return 0

    cdef int seal(self, Updates* given) except -1 nogil:
        if self.dealer is not None and not self.dealer.left.empty():
            self.trace.seal_dealt(given, self.dealer.left.data(), self.dealer.left.size(),
                                  self.region.lower)
            self.dealer.left.clear()
            return 0
        if self.dates:
            self.date(given)
        if self.dates or not self.source.consolidated:
            return self.trace.seal_unsorted(given, self.region.lower)
        return self.trace.seal(given, self.region.lower)

    cdef void date(self, Updates* updates) noexcept nogil:
        pass

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for an arrangement's updates")

    # At the root all that reads the trace in this step has read it: its last time is what counts. A loop
    # may be entered again.
    cdef int rest(self) except -1 nogil:
        Operator.rest(self)
        return self.trace.absorb(
            self.region.upper - 1 if self.region.depth == 1 else self.region.lower)
