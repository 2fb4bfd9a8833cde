"""Stages: one operator in every shard, and loops of stages.

Shards are not threads: a small activation runs every shard on the calling thread, in whose cache
its updates lie. To move half of them into another core's costs as much as the work on them, be the
other thread awake or not.

A loop is swept in lexicographic order of its coordinates with all root times of the step together,
which is a linear extension of the product order; rounds in which nothing is parked are skipped.
"""

from cython.parallel cimport prange
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.arrange cimport Arrange
from ivm.operators.operator cimport Operator, Region, earlier
from ivm.trace.times cimport MAX_COORDINATES, round_of

cdef enum:
    SMALL_LOAD = 1 << 14    # updates below which one thread runs all shards

cdef uint64_t NEVER = 0xFFFFFFFFFFFFFFFF


# Whether several threads should share so many updates of `shards` shards.
cdef inline bint is_worth_sharing(Py_ssize_t updates, Py_ssize_t shards) noexcept nogil:
    return shards > 1 and updates >= SMALL_LOAD


cdef class Stage:
    """`operators`: one for each shard."""

    def __init__(self, tuple operators):
        self.operators = operators
        self.outer = (<Operator?> operators[0]).region
        for operator in operators:
            self.shards.push_back(<void*> (<Operator?> operator))
        self.loads.resize(self.shards.size())
        self.schedule = NULL
        self.traces = []
        self.belong(self)

    cdef void belong(self, Stage root):
        for operator in self.operators:
            (<Operator> operator).stage = <void*> root
            if isinstance(operator, Arrange):
                (<Arrange> operator).trace.stage = <void*> root
                root.traces.append((<Arrange> operator).trace)

    cdef bint troubled(self) noexcept nogil:
        cdef size_t s
        for s in range(self.shards.size()):
            if (<Operator> self.shards[s]).troubled():
                return True
        return False

    cdef bint yields(self) noexcept nogil:
        cdef size_t s
        for s in range(self.shards.size()):
            if (<Operator> self.shards[s]).yields():
                return True
        return False

    cdef int run(self) except -1 nogil:
        cdef Py_ssize_t s, n = self.shards.size(), total = 0
        for s in range(n):
            self.loads[s] = (<Operator> self.shards[s]).load()
            total += self.loads[s]
        if total == 0:
            self.empty()
            return 0
        self.left = True
        self.unrested += total
        self.unsettled += total
        if is_worth_sharing(total, n):
            for s in prange(n, num_threads=<int> n, schedule="static", chunksize=1):
                (<Operator> self.shards[s]).step()
        else:
            for s in range(n):
                if self.loads[s] > 0:
                    (<Operator> self.shards[s]).step()
                else:
                    (<Operator> self.shards[s]).out.length = 0
        return 0

    # Nothing came: nothing is left of what the activation before put out.
    cdef void empty(self) noexcept nogil:
        cdef size_t s
        if self.left:
            for s in range(self.shards.size()):
                (<Operator> self.shards[s]).out.length = 0
            self.left = False

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef size_t s
        for s in range(self.shards.size()):
            total += (<Operator> self.shards[s]).load()
        return total

    cdef bint parks(self):
        return any([(<Operator> operator).parks for operator in self.operators])

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        cdef bint found = False
        cdef size_t s
        for s in range(self.shards.size()):
            if (<Operator> self.shards[s]).parked(at):
                found = True
        return found

    cdef int rest(self) except -1 nogil:
        cdef Py_ssize_t s, n = self.shards.size()
        if self.unrested == 0:
            return 0
        if is_worth_sharing(self.unrested, n):
            for s in prange(n, num_threads=<int> n, schedule="static", chunksize=1):
                (<Operator> self.shards[s]).rest()
        else:
            for s in range(n):
                (<Operator> self.shards[s]).rest()
        self.unrested = 0
        self.left = False
        return 0

    cdef int settle(self) except -1 nogil:
        cdef Py_ssize_t s, n = self.shards.size()
        if self.unsettled == 0:
            return 0
        if is_worth_sharing(self.unsettled, n):
            for s in prange(n, num_threads=<int> n, schedule="static", chunksize=1):
                (<Operator> self.shards[s]).settle()
        else:
            for s in range(n):
                (<Operator> self.shards[s]).settle()
        self.unsettled = 0
        return 0

    cdef void abandon(self) noexcept nogil:
        cdef size_t s
        for s in range(self.shards.size()):
            (<Operator> self.shards[s]).abandon()


cdef class Loop(Stage):
    """A stage of scope `outer` made of `stages`: those of the loop's body, in order."""

    def __init__(self, Region outer, Region region, tuple stages, max_rounds):
        cdef Stage stage
        self.operators = ()
        self.outer = outer
        self.region = region
        self.stages = stages
        self.max_rounds = max_rounds
        self.failed = False
        for stage in stages:
            self.body.push_back(<void*> stage)
            if stage.parks():
                self.parking.push_back(<void*> stage)
        self.schedule = NULL
        self.traces = []
        self.belong(self)

    cdef void belong(self, Stage root):
        for stage in self.stages:
            (<Stage> stage).belong(root)

    cdef bint parks(self):
        return True

    cdef void enter(self) noexcept nogil:
        cdef int i
        self.region.lower = self.outer.lower
        self.region.upper = self.outer.upper
        for i in range(1, self.outer.depth):
            self.region.at[i] = self.outer.at[i]
        self.region.at[self.outer.depth] = 0

    cdef bint troubled(self) noexcept nogil:
        cdef size_t s
        for s in range(self.body.size()):
            if (<Stage> self.body[s]).troubled():
                return True
        return self.failed

    cdef bint yields(self) noexcept nogil:
        cdef size_t s
        for s in range(self.body.size()):
            if (<Stage> self.body[s]).yields():
                return True
        return False

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef size_t s
        if self.failed:
            return 0
        self.enter()
        for s in range(self.body.size()):
            total += (<Stage> self.body[s]).load()
        return total

    cdef int run(self) except -1 nogil:
        if self.failed:
            return 0
        if self.load() > 0:
            self.round()
        while self.next_round():
            if round_of(self.region.at[self.outer.depth]) > self.max_rounds:
                self.failed = True
                self.abandon()
                break
            self.round()
        self.rest()
        return 0

    cdef int round(self) except -1 nogil:
        cdef size_t s
        for s in range(self.body.size()):
            (<Stage> self.body[s]).run()
        return 0

    # Moves to the earliest round that holds updates, if it belongs to the outer scope's present round.
    cdef bint next_round(self) noexcept nogil:
        cdef uint64_t at[MAX_COORDINATES]
        cdef bint found = False
        cdef int i
        cdef size_t s
        for i in range(1, self.region.depth):
            at[i] = NEVER
        for s in range(self.parking.size()):
            if (<Stage> self.parking[s]).parked(at):
                found = True
        if not found:
            return False
        for i in range(1, self.outer.depth):
            if at[i] != self.outer.at[i]:
                return False
        self.region.at[self.outer.depth] = at[self.outer.depth]
        return True

    # For the enclosing loop: the rounds of this one's body, by the enclosing loop's coordinates.
    cdef bint parked(self, uint64_t* at) noexcept nogil:
        cdef bint found = False
        cdef uint64_t inner[MAX_COORDINATES]
        cdef int i
        cdef size_t s
        for i in range(1, self.region.depth):
            inner[i] = NEVER
        for s in range(self.parking.size()):
            if (<Stage> self.parking[s]).parked(inner):
                found = True
        if found:
            earlier(at, inner, self.outer.depth)
        return found

    cdef int rest(self) except -1 nogil:
        cdef size_t s
        for s in range(self.body.size()):
            (<Stage> self.body[s]).rest()
        return 0

    cdef int settle(self) except -1 nogil:
        cdef size_t s
        for s in range(self.body.size()):
            (<Stage> self.body[s]).settle()
        return 0

    cdef void abandon(self) noexcept nogil:
        cdef size_t s
        for s in range(self.body.size()):
            (<Stage> self.body[s]).abandon()
