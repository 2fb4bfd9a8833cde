"""Operators: the base class with a region as its position, an output, and readers of traces.

One activation of an operator takes all input updates of the region's round, for every root time of the step
at once, and runs to completion. Upstream operators of the same scope ran before it.

An operator with a state for each key keeps it in shards, each for the keys that it owns. Few updates are
taken by the first shard for all, wherever the states lie; many go to their owners first. A trace is not
divided: each reader reads all of it. Few new updates of a trace are taken by the first shard as well, and
many in slices, or by the owners of their keys.
"""

cimport cython
from libc.stdint cimport uint64_t

from ivm.rows.updates cimport bytes_of, empty_updates, release
from ivm.trace.batch cimport Batch
from ivm.trace.spine cimport Trace


@cython.freelist(16)    # they come and go with dataflows
cdef class Region:
    """The position of one scope; `depth` counts its times' coordinates."""

    def __init__(self, int depth):
        self.depth = depth
        for i in range(MAX_COORDINATES):
            self.at[i] = 0
        self.lower = 0
        self.upper = 0
        self.weight = 0
        self.budget = NULL


cdef class Operator:
    """One shard of an operator in the scope of `region`; its output rows have `row_words` words."""

    def __cinit__(self, *args):     # region, row_words and the operator's own arguments
        self.region = <Region?> args[0]
        self.out = empty_updates(args[1], self.region.depth)
        self.readers = self.shard = self.part = 0
        self.shards = self.parts = 1
        self.parks = self.settles = self.seeks = self.consolidated = False
        self.shares = NULL
        self.slices = self.owns = self.keeps = False
        self.unseen = 0

    def __dealloc__(self):
        release(&self.out)

    cdef int step(self) except -1 nogil:
        return 0

    cdef int step_all(self, const vector[void*]* shards) except -1 nogil:
        return 0

    cdef int hand_out(self, const vector[void*]* shards) except -1 nogil:
        return 0

    cdef bint troubled(self) noexcept nogil:
        return False

    cdef Py_ssize_t yields(self) noexcept nogil:
        return self.out.length

    cdef Py_ssize_t load(self) noexcept nogil:
        return 0

    cdef Py_ssize_t foreseen(self) except -1 nogil:
        cdef Py_ssize_t load = self.load()
        return first_of(load, self.part + 1, self.parts) - first_of(load, self.part, self.parts)

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        return False

    cdef void abandon(self) noexcept nogil:
        self.out.length = 0

    cdef int rest(self) except -1 nogil:
        self.out.length = 0
        if self.out.capacity > KEPT_UPDATES:
            release(&self.out)
        return 0

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out)

    cdef void evaluated_by(self, Operator evaluate) noexcept:
        pass

    cdef int settle(self) except -1 nogil:
        return 0


@cython.freelist(16)    # they come and go with dataflows
cdef class Reader:
    """A reader's view of `trace`.

    A trace of an enclosing scope is new in the loop's first round only. While `catching_up`, all updates in
    the trace count as new then: this hydrates a dataflow from existing arrangements.
    """

    def __init__(self, Trace trace):
        self.trace = trace

    cdef int look(self, Region region) except -1 nogil:
        if self.sees_all(region):
            self.delta.assign(self.trace.layers.begin(), self.trace.layers.end())
            self.history.clear()
        else:
            self.delta.clear()
            self.history.assign(self.trace.layers.begin(), self.trace.layers.end())
        if self.trace.fresh != NULL:
            if self.sees_fresh(region):
                self.delta.push_back(self.trace.fresh)
            else:
                self.history.push_back(self.trace.fresh)
        return 0

    cdef bint sees_all(self, Region region) noexcept nogil:
        cdef int i
        for i in range(1, region.depth):
            if region.at[i] != 0:
                return False
        return self.catching_up

    cdef bint sees_fresh(self, Region region) noexcept nogil:
        cdef int i
        for i in range(self.trace.time_words, region.depth):
            if region.at[i] != 0:
                return False
        return True

    cdef Py_ssize_t waiting(self, Region region) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef Batch* b
        if self.trace.fresh != NULL and self.sees_fresh(region):
            total = self.trace.fresh.updates
        if self.sees_all(region):
            for b in self.trace.layers:
                total += b.updates
        return total

    cdef Py_ssize_t held(self) noexcept nogil:
        cdef Py_ssize_t total = 0 if self.trace.fresh == NULL else self.trace.fresh.updates
        cdef Batch* b
        for b in self.trace.layers:
            total += b.updates
        return total

    cdef bint remembers(self, Region region) noexcept nogil:
        return (not self.trace.layers.empty() and not self.sees_all(region)) or (
            self.trace.fresh != NULL and not self.sees_fresh(region))
