"""The ends of a loop: Enter, Variable and Feedback, Collect and Leave."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ivm.operators.base.operator cimport Operator, Region
from ivm.operators.loops.parking cimport Parking
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport Updates, append, bytes_of, empty_updates, push, release, reserve
from ivm.rows.words cimport decode_signed
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport pack_coordinate, round_of


cdef int _make_room(Updates* out, Py_ssize_t updates) except -1 nogil:
    if reserve(out, updates) < 0:
        with gil:
            raise MemoryError("no memory to enter a loop")
    return 0


cdef class Enter(Operator):
    """Brings a collection of the enclosing scope into the loop: at root time t it enters at (t, 0)."""

    cdef Operator source

    def __init__(self, Region region, int row_words, Operator source):
        self.source = source

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length if self.region.at[self.region.depth - 1] == 0 else 0

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef Updates* given = &self.source.out
        cdef uint64_t* update
        self.out.length = 0
        if self.region.at[self.region.depth - 1] != 0:
            return 0
        _make_room(&self.out, given.length)
        for i in range(given.length):
            update = push(&self.out)
            memcpy(update, given.words + i * given.stride, (given.stride - 1) * sizeof(uint64_t))
            update[given.stride - 1] = 0
            update[self.out.stride - 1] = given.words[(i + 1) * given.stride - 1]
        return 0


cdef class EnterAt(Operator):
    """Brings each row of a collection of the enclosing scope into the first round of its priority.

    The source's word `priority` holds it; `packing` drops it. (Prioritised fixed point: differential
    dataflow, CIDR 2013.)
    """

    cdef Operator source
    cdef Packing packing
    cdef int priority

    def __init__(self, Region region, int row_words, Operator source, Packing packing, int priority):
        self.source = source
        self.packing = packing
        self.priority = priority

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length if self.region.at[self.region.depth - 1] == 0 else 0

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef Updates* given = &self.source.out
        cdef const uint64_t* row
        cdef uint64_t* update
        cdef int64_t priority
        self.out.length = 0
        if self.region.at[self.region.depth - 1] != 0:
            return 0
        _make_room(&self.out, given.length)
        for i in range(given.length):
            row = given.words + i * given.stride
            priority = min(max(decode_signed(row[self.priority]), 0), <int64_t> 0xFFFFFFFF)
            update = push(&self.out)
            pack(self.packing, row, NULL, NULL, update)
            memcpy(update + self.out.row_words, row + given.row_words,
                   given.time_words * sizeof(uint64_t))
            update[self.out.stride - 2] = pack_coordinate(<uint32_t> priority, 0)
            update[self.out.stride - 1] = row[given.stride - 1]
        return 0


cdef class Variable(Operator):
    """The loop variable: the collection that the loop's body had in the round before."""

    def __init__(self, Region region, int row_words):
        self.parking = Parking()
        self.parks = True

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.parking.due(self.region)

    cdef int step(self) except -1 nogil:
        self.out.length = 0
        self.parking.take(&self.out, self.region)
        if consolidate(&self.out) < 0:
            with gil:
                raise MemoryError("no memory for a round of a loop")
        return 0

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        return self.parking.earliest(at, self.region.depth)

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + self.parking.held_bytes()

    cdef void abandon(self) noexcept nogil:
        self.out.length = 0
        self.parking.clear()


cdef uint64_t NEVER = 0xFFFFFFFFFFFFFFFF


cdef class Feedback(Operator):
    """Hands the body's changes of this round to `variable`, for the next one: (t, r) becomes (t, r + 1).

    Changes of later rounds that have flowed ahead are handed on as well. All are consolidated first: changes
    that cancel must not keep the loop going. A loop of a number of `rounds` has no next one after the last.
    """

    def __init__(self, Region region, int row_words, Operator source, Variable variable, rounds):
        self.source = source
        self.variable = variable
        self.rounds = NEVER if rounds is None else rounds

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef uint64_t* update
        self.out.length = 0
        if append(&self.out, self.source.out.words, self.source.out.length) < 0 or (
                consolidate(&self.out) < 0):
            with gil:
                raise MemoryError("no memory for the next round of a loop")
        for i in range(self.out.length):
            update = self.out.words + i * self.out.stride
            update[self.out.row_words + self.out.time_words - 1] += 1
            if round_of(update[self.out.row_words + self.out.time_words - 1]) >= self.rounds:
                continue
            self.variable.parking.park(&self.out, update)
        self.out.length = 0
        return 0


cdef class Collect(Operator):
    """Gathers the result's changes of all rounds inside a loop, for `Leave`."""

    def __init__(self, Region region, int row_words, Operator source):
        self.source = source
        self.gathered = empty_updates(row_words, region.depth - 1)

    def __dealloc__(self):
        release(&self.gathered)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef Updates* given = &self.source.out
        cdef uint64_t* update
        if reserve(&self.gathered, given.length) < 0:
            with gil:
                raise MemoryError("no memory to leave a loop")
        for i in range(given.length):
            update = push(&self.gathered)
            memcpy(update, given.words + i * given.stride,
                   (self.gathered.stride - 1) * sizeof(uint64_t))
            update[self.gathered.stride - 1] = given.words[(i + 1) * given.stride - 1]
        return 0

    cdef Py_ssize_t yields(self) noexcept nogil:
        return self.gathered.length

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.gathered)

    cdef void abandon(self) noexcept nogil:
        self.gathered.length = 0


cdef class Leave(Operator):
    """Emits the sum over a loop's rounds, as `collect` gathered it: (t, r) becomes t."""

    cdef Collect collect

    def __init__(self, Region region, int row_words, Collect collect):
        self.collect = collect

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.collect.gathered.length

    cdef int step(self) except -1 nogil:
        self.out, self.collect.gathered = self.collect.gathered, self.out
        self.collect.gathered.length = 0
        if consolidate(&self.out) < 0:
            with gil:
                raise MemoryError("no memory to leave a loop")
        return 0
