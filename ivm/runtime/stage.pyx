"""Stages: one operator in every shard, or one for all shards.

Shards are not threads: a small activation runs every shard on the calling thread, in whose cache
its updates lie. To wake another thread, and to move half of them into its core's cache, costs as much
as the work on them. What is small depends on the operator: one that looks for its updates in what it
knows takes ten times as long for each. Of what is new in a trace, which every shard reads, the first one
takes all then, and else each a slice, and when that is done parts of others'; or each takes the keys that
it owns.
"""

cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.arranging.arrange cimport Sealing
from ivm.operators.linear.exchange cimport Exchange
from ivm.operators.errors.evaluate cimport Fallible
from ivm.operators.loops.loop cimport Collect, Feedback
from ivm.operators.base.operator cimport WORTH_SEEKING, Operator
from ivm.runtime.account cimport add_activation, add_time, is_timed, nanoseconds_now
from ivm.threads.work_stealing cimport fill_slice
from ivm.threads.team cimport share_work, watch_overflow
from ivm.trace.sorting.partition cimport Part
from ivm.trace.spine cimport Trace

cdef enum:
    WORTH_A_THREAD = 512        # updates of a shard, for which a thread is worth waking
    PARTS = 8                   # of a slice that threads take, at most,
    WORTH_A_PART = 128          # and updates for which one is: a part is sought from the beginning


# Whether several threads should share so many updates of `shards` shards, a thread being worth waking for
# `worth` of them.
cdef inline bint is_worth_sharing(Py_ssize_t updates, size_t shards, Py_ssize_t worth) noexcept nogil:
    return shards > 1 and updates >= <Py_ssize_t> shards * worth


@cython.freelist(16)    # they come and go with dataflows
cdef class Stage:
    """`operators`: one for each shard, or a single one."""

    def __init__(self, tuple operators):
        cdef Operator first = <Operator?> operators[0]      # all shards are alike
        self.operators = operators
        self.outer = first.region
        self.fallible = isinstance(first, Fallible)
        self.settles = first.settles
        self.tells_rows = not isinstance(first, (Collect, Feedback))
        self.slices = first.slices
        self.owns = first.owns
        self.keeps = first.keeps and len(operators) > 1
        self.worth = WORTH_SEEKING if first.seeks else WORTH_A_THREAD
        self.shards.reserve(len(operators))
        for operator in operators:
            self.shards.push_back(<void*> operator)
        self.loads.resize(self.shards.size())
        if self.slices:
            self.shares.resize(self.shards.size())
            for operator in operators:
                (<Operator> operator).shares = self.shares.data()
        self.divided = 0
        self.overflowed = 0
        self.owner = NULL
        self.belong(self)

    cdef uint64_t meet(self, uint64_t place, uint64_t value) except 0 nogil:
        with gil:
            return self.mesh.meet(place, value, None)[0]

    cdef void belong(self, Stage root):
        self.root = <void*> root
        if not isinstance((<tuple> self.operators)[0], Sealing):
            return
        for operator in self.operators:
            (<Sealing> operator).trace.stage = <void*> root
            root.traces.push_back(<void*> (<Sealing> operator).trace)

    cdef bint troubled(self) noexcept nogil:
        cdef size_t s
        if self.overflowed:
            return True
        for s in range(self.shards.size() if self.fallible else 0):
            if (<Operator> self.shards[s]).troubled():
                return True
        return False

    @property
    def failure(self):
        """Why it failed: a cause, the bound, and a binding's name and the round; None if it has not."""
        return ("overflow", None, None, None) if self.overflowed else None

    @property
    def work(self):
        """Rows put out, and nanoseconds taken; both of the last timed step, with its first time or None."""
        cdef Account* of = &self.account
        return self.rows, of.nanoseconds, of.step_rows, of.step_nanoseconds, of.step - 1 if of.step > 0 else None

    @property
    def bytes(self) -> int:
        """The bytes that its operators hold, to be asked for between two steps."""
        return self.held_bytes()

    cdef Py_ssize_t yields(self) noexcept nogil:
        cdef size_t s
        cdef Py_ssize_t total = 0
        for s in range(self.shards.size()):
            total += (<Operator> self.shards[s]).yields()
        return total

    cdef Py_ssize_t foreseen(self, Py_ssize_t most) except -1:
        cdef Py_ssize_t s, n = self.shards.size(), total = 0, load = self.find_loads()
        cdef vector[Py_ssize_t] each
        cdef Foreseeing foreseeing
        if load > most:
            return load
        if self.owns:
            return load
        if is_worth_sharing(load, n, self.worth):
            self.divide(load)
            each.resize(n)
            foreseeing = Foreseeing(self.shards.data(), each.data())
            with nogil:
                share_work(foresee_shard, &foreseeing, n, <int> n)
            for s in range(n):
                total += each[s]
        else:
            self.divide(0)
            for s in range(n):
                if self.loads[s] > 0:
                    total += (<Operator> self.shards[s]).foreseen()
        return total

    cdef bint run(self) except -1 nogil:
        cdef Py_ssize_t left, total = self.find_loads()
        cdef uint64_t began
        if total == 0:
            self.empty()
            return False
        if not is_timed(self.outer, total):
            self.activate(total)
            return True
        began = nanoseconds_now()
        left = self.activate(total)
        add_activation(&self.account, self.outer, began, total, left)
        return True

    # Takes so many updates, and counts what is left for the stages that read it.
    cdef Py_ssize_t activate(self, Py_ssize_t total) except -1 nogil:
        cdef Py_ssize_t left, n = self.shards.size()
        watch_overflow(&self.overflowed)
        self.unrested += total
        self.unsettled += total
        (<Stage> self.root).given = (<Stage> self.root).given + total
        if is_worth_sharing(total, n, self.worth):
            self.divide(total)
            if self.keeps:
                (<Operator> self.shards[0]).hand_out(&self.shards)
            self.share()
        else:
            self.divide(0)
            self.take_turns()
        left = self.yields()
        self.left = left > 0
        self.rows += <uint64_t> left
        return left

    cdef size_t held_bytes(self) noexcept nogil:
        cdef size_t s, bytes = 0
        for s in range(self.shards.size()):
            bytes += (<Operator> self.shards[s]).held_bytes()
        return bytes

    # Asks how much waits for each shard; how much there is in all.
    cdef Py_ssize_t find_loads(self) noexcept nogil:
        cdef void** shards = self.shards.data()
        cdef Py_ssize_t* loads = self.loads.data()
        cdef Py_ssize_t total = 0
        cdef size_t s, n = self.shards.size()
        if self.slices or self.owns:    # the same for all
            total = loads[0] = (<Operator> shards[0]).load()
            for s in range(1, n):
                loads[s] = total if self.owns else 0
            return total
        for s in range(n):
            loads[s] = (<Operator> shards[s]).load()
            total += loads[s]
        return total

    # Gives each shard a slice of what is new in traces, so many updates: of several parts where it looks for them. Of
    # none the first shard takes all.
    cdef void divide(self, Py_ssize_t updates) noexcept nogil:
        cdef int s, n = <int> self.shards.size(), each = 1
        if not self.slices or (updates == 0 and self.divided == 1):
            return
        if updates > 0 and self.worth == WORTH_SEEKING:
            each = <int> max(1, min(updates // (n * WORTH_A_PART), <Py_ssize_t> PARTS))
        self.divided = n * each if updates > 0 else 1
        for s in range(n):
            fill_slice(&self.shares[s], s * each, (s + 1) * each)
            (<Operator> self.shards[s]).part = s * each if updates > 0 else 0
            (<Operator> self.shards[s]).parts = self.divided

    # Several shards at once, each by the thread that is free.
    cdef int share(self) except -1 nogil:
        return share_work(step_shard, self.shards.data(), self.shards.size(), <int> self.shards.size())

    # One shard after the other.
    cdef int take_turns(self) except -1 nogil:
        cdef size_t s
        if self.keeps:
            for s in range(self.shards.size()):
                (<Operator> self.shards[s]).out.length = 0
            return (<Operator> self.shards[0]).step_all(&self.shards)
        for s in range(self.shards.size()):
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

    cdef bint parks(self):
        return (<Operator> self.shards[0]).parks

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        cdef bint found = False
        cdef size_t s
        for s in range(self.shards.size()):
            if (<Operator> self.shards[s]).parked(at):
                found = True
        return found

    cdef int rest(self) except -1 nogil:
        cdef Py_ssize_t given = self.unrested
        cdef uint64_t began
        if given == 0:
            return 0
        if not is_timed(self.outer, given):
            return self.rest_all(given)
        began = nanoseconds_now()
        self.rest_all(given)
        add_time(&self.account, self.outer, began, given)
        return 0

    # Lets the shards rest, which were given so many updates.
    cdef int rest_all(self, Py_ssize_t given) except -1 nogil:
        cdef size_t s, n = self.shards.size()
        if is_worth_sharing(given, n, WORTH_A_THREAD):
            share_work(rest_shard, self.shards.data(), n, <int> n)
        else:
            for s in range(n):
                (<Operator> self.shards[s]).rest()
        self.unrested = 0
        self.left = False
        return 0

    cdef int settle(self) except -1 nogil:
        cdef Py_ssize_t given = self.unsettled
        cdef uint64_t began
        if given == 0:
            return 0
        if not is_timed(self.outer, given):
            return self.settle_all(given)
        began = nanoseconds_now()
        self.settle_all(given)
        add_time(&self.account, self.outer, began, given)
        return 0

    # Lets the shards settle, which were given so many updates.
    cdef int settle_all(self, Py_ssize_t given) except -1 nogil:
        cdef size_t s, n = self.shards.size()
        watch_overflow(&self.overflowed)
        if is_worth_sharing(given, n, WORTH_A_THREAD):
            share_work(settle_shard, self.shards.data(), n, <int> n)
        else:
            for s in range(n):
                (<Operator> self.shards[s]).settle()
        self.unsettled = 0
        return 0

    cdef void abandon(self) noexcept nogil:
        cdef size_t s
        for s in range(self.shards.size()):
            (<Operator> self.shards[s]).abandon()

    cdef bint merges(self) noexcept nogil:
        cdef size_t i
        for i in range(self.traces.size()):
            if (<Trace> self.traces[i]).chore != NULL:
                return True
        return False

    cdef int take_merged(self) except -1 nogil:
        cdef size_t i
        cdef bint taken = False
        watch_overflow(&self.overflowed)
        for i in range(self.traces.size()):
            if (<Trace> self.traces[i]).take_merged():
                taken = True
        return taken


# --- what threads do for a shard: `context` are the operators of all ---

cdef int step_shard(void* context, Py_ssize_t s) except -1 nogil:
    return (<Operator> (<void**> context)[s]).step()


cdef int rest_shard(void* context, Py_ssize_t s) except -1 nogil:
    return (<Operator> (<void**> context)[s]).rest()


cdef int settle_shard(void* context, Py_ssize_t s) except -1 nogil:
    return (<Operator> (<void**> context)[s]).settle()


cdef int pack_shard(void* context, Py_ssize_t s) except -1 nogil:
    return (<Exchange> (<void**> context)[s]).pack()


# The operators of all shards, and what each foresees.
cdef struct Foreseeing:
    void** shards
    Py_ssize_t* each


cdef int foresee_shard(void* context, Py_ssize_t s) except -1 nogil:
    cdef Foreseeing* foreseeing = <Foreseeing*> context
    foreseeing.each[s] = (<Operator> foreseeing.shards[s]).foreseen()
    return 0


cdef class Crossing(Stage):
    """A stage whose operators, all Exchanges, hand rows to each other."""

    cdef int share(self) except -1 nogil:
        cdef Py_ssize_t s, n = self.shards.size()
        cdef vector[Part] parts
        if (<Exchange> self.shards[0]).packing is not None:
            share_work(pack_shard, self.shards.data(), n, <int> n)
        for s in range(n):
            (<Exchange> self.shards[s]).out.length = 0
            (<Exchange> self.shards[s]).list_parts(&parts)
        (<Exchange> self.shards[0]).deal_all(&parts, &self.shards)
        return 0

    cdef int take_turns(self) except -1 nogil:
        cdef size_t s
        cdef Py_ssize_t total = 0
        for s in range(self.shards.size()):
            (<Exchange> self.shards[s]).out.length = 0
            (<Exchange> self.shards[s]).consolidated = False
            total += self.loads[s]
        if (<Exchange> self.shards[0]).gathers and not is_worth_sharing(
                total, self.shards.size(), WORTH_SEEKING):
            return (<Exchange> self.shards[0]).gather(&self.shards)
        for s in range(self.shards.size()):
            if self.loads[s] > 0:
                (<Exchange> self.shards[s]).hand_over(&self.shards)
        return 0
