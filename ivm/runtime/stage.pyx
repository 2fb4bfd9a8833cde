"""Stages: one operator in every shard, or one for all shards, and loops of stages.

Shards are not threads: a small activation runs every shard on the calling thread, in whose cache
its updates lie. To wake another thread, and to move half of them into its core's cache, costs as much
as the work on them. What is small depends on the operator: one that looks for its updates in what it
knows takes ten times as long for each. Of what is new in a trace, which every shard reads, the first one
takes all then, and else each a slice, and when that is done parts of others'; or each takes the keys that
it owns.

A loop is swept in lexicographic order of its coordinates with all root times of the step together,
which is a linear extension of the product order; rounds in which nothing is parked are skipped.
In a round only those stages are asked for work that something can have reached: those that hold
updates back, those that read what has left something behind in it, and once more those that left
something in the round before, so that it is past. What comes from outside is there in the first round.
"""

cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector
from posix.time cimport clock_gettime, timespec

from ivm.memory.process cimport resident_bytes
from ivm.operators.arranging.arrange cimport Sealing
from ivm.operators.linear.exchange cimport Exchange
from ivm.operators.errors.evaluate cimport Fallible
from ivm.operators.loops.loop cimport Collect
from ivm.operators.base.operator cimport WORTH_SEEKING, Operator, Region, earlier
from ivm.rows.interner cimport Interner
from ivm.threads.work_stealing cimport fill_slice
from ivm.threads.team cimport share_work, watch_overflow
from ivm.trace.sorting.partition cimport Part
from ivm.trace.times cimport MAX_COORDINATES, round_of
from ivm.trace.spine cimport Trace

cdef enum:
    WORTH_A_THREAD = 512        # updates of a shard, for which a thread is worth waking
    PARTS = 8                   # of a slice that threads take, at most,
    WORTH_A_PART = 128          # and updates for which one is: a part is sought from the beginning
    ROUNDS_UNCHECKED = 16       # of a loop, after which it looks at the clock,
    UPDATES_UNWEIGHED = 1 << 16 # and updates after which it weighs its memory
    WORTH_STOPPING = 64 << 20   # bytes by which a loop has grown that is stopped where the process has too many

cdef uint64_t NEVER = 0xFFFFFFFFFFFFFFFF

cdef extern from "<time.h>" nogil:
    enum: CLOCK_MONOTONIC_COARSE


# The time by a clock that is read in a few nanoseconds.
cdef inline double seconds() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return now.tv_sec + now.tv_nsec * 1e-9




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
        """Why it failed: a cause, a number, a binding's name; None if it has not."""
        return ("overflow", None, None) if self.overflowed else None

    cdef bint yields(self) noexcept nogil:
        cdef size_t s
        for s in range(self.shards.size()):
            if (<Operator> self.shards[s]).yields():
                return True
        return False

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
        cdef Py_ssize_t n = self.shards.size(), total = self.find_loads()
        if total == 0:
            self.empty()
            return False
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
        self.left = self.yields()
        return True

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
        cdef size_t s, n = self.shards.size()
        if self.unrested == 0:
            return 0
        if is_worth_sharing(self.unrested, n, WORTH_A_THREAD):
            share_work(rest_shard, self.shards.data(), n, <int> n)
        else:
            for s in range(n):
                (<Operator> self.shards[s]).rest()
        self.unrested = 0
        self.left = False
        return 0

    cdef int settle(self) except -1 nogil:
        cdef size_t s, n = self.shards.size()
        if self.unsettled == 0:
            return 0
        watch_overflow(&self.overflowed)
        if is_worth_sharing(self.unsettled, n, WORTH_A_THREAD):
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


cdef class Loop(Stage):
    """A stage of scope `outer` made of `stages`: those of the loop's body, in order."""

    def __init__(self, Region outer, Region region, tuple stages, tuple names, max_rounds, bint limited,
                 bounds, Interner interner):
        cdef Stage stage
        self.operators = ()
        self.outer = outer
        self.region = region
        self.stages = stages
        self.names = names
        self.max_rounds = max_rounds
        self.limited = limited
        self.max_updates = bounds.updates
        self.max_bytes = bounds.bytes
        self.max_process_bytes = bounds.process_bytes
        self.max_seconds = bounds.seconds
        self.interner = interner
        self.failed = NONE
        self.overflowed = 0
        self.fallible = True
        self.owner = NULL
        for stage in stages:
            stage.owner = <void*> self
            self.body.push_back(<void*> stage)
            self.settles |= stage.settles
            if stage.parks():
                self.parking.push_back(<void*> stage)
            if stage.operators and isinstance(stage.operators[0], Collect):
                self.exits.push_back(<void*> stage)
        for stage in stages:
            if follow(stage, stage, <void*> self):
                self.entrances.push_back(<void*> stage)
        self.belong(self)

    cdef void belong(self, Stage root):
        self.root = <void*> root
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
        return self.failed != NONE or self.overflowed

    @property
    def failure(self):
        cdef size_t s
        if self.failed == OVERFLOW:
            return "overflow", self.failed_at, self.names[self.failed_in]
        if self.failed != NONE:
            return *self.bound(), None
        for s in range(self.body.size()):
            failure = (<Stage> self.body[s]).failure
            if failure is not None:
                cause, number, name = failure
                return cause, number, name or self.names[s]
        return ("overflow", None, None) if self.overflowed else None

    # The bound that it has met: its name, and the bound.
    cdef tuple bound(self):
        return {
            ROUNDS: ("rounds", self.max_rounds),
            LIMIT: ("limit", self.max_rounds),
            UPDATES: ("updates", self.max_updates),
            SECONDS: ("seconds", self.max_seconds),
            BYTES: ("bytes", self.max_bytes),
            PROCESS: ("process", self.max_process_bytes),
        }[self.failed]

    cdef bint yields(self) noexcept nogil:
        cdef size_t s
        for s in range(self.exits.size()):
            if (<Stage> self.exits[s]).yields():
                return True
        return False

    cdef bint run(self) except -1 nogil:
        cdef size_t s
        cdef bint ran
        if self.failed != NONE:
            return False
        self.enter()
        if self.root == <void*> self:
            self.given = self.checked = 0
            self.unchecked = 0
            self.began = -1
            self.strings = 0 if self.interner is None else self.interner.held_bytes()
        for s in range(self.entrances.size()):
            (<Stage> self.entrances[s]).queued = True
        ran = self.round()
        while self.failed == NONE and self.next_round():
            ran = True
            self.stop_at_bounds()
            if self.failed == NONE:
                self.round()
        if self.failed != NONE:
            self.abandon()
        if ran:
            self.rest_body()
        self.left = self.yields()
        return ran

    # Asks the stages that are queued, and those that they call; whether any had work.
    cdef bint round(self) except -1 nogil:
        cdef size_t s, i
        cdef bint ran = False
        cdef void* stage
        for s in range(self.parking.size()):
            (<Stage> self.parking[s]).queued = True
        for s in range(self.body.size()):
            stage = self.body[s]
            if not (<Stage> stage).queued:
                continue
            (<Stage> stage).queued = False
            if not (<Stage> stage).run():
                continue
            ran = True
            if (<Stage> stage).overflowed:
                self.failed_in = s
                self.fail(OVERFLOW)
                return True
            if (<Stage> stage).left:
                (<Stage> stage).queued = True
                for i in range((<Stage> stage).followers.size()):
                    (<Stage> (<Stage> stage).followers[i]).queued = True
        return ran

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

    # Fails if it needs more rounds, or all in its root took more updates, time or memory, than it may before it comes
    # to a fixed point. A step of few rounds and updates does not look at the clock.
    cdef void stop_at_bounds(self) noexcept nogil:
        cdef void* root = self.root
        if round_of(self.region.at[self.outer.depth]) >= self.max_rounds:
            self.fail(LIMIT if self.limited else ROUNDS)
        elif (<Loop> root).given > self.max_updates:
            self.fail(UPDATES)
        else:
            # Strings may double in each round.
            (<Loop> root).unchecked = (<Loop> root).unchecked + 1
            if (self.interner is not None or (<Loop> root).unchecked >= ROUNDS_UNCHECKED
                    or (<Loop> root).given - (<Loop> root).checked >= UPDATES_UNWEIGHED):
                self.check()

    cdef void check(self) noexcept nogil:
        cdef void* root = self.root
        cdef Failure cause
        cdef double now = seconds()
        (<Loop> root).unchecked = 0
        if (<Loop> root).began < 0:
            (<Loop> root).began = now
            (<Loop> root).before = (<Loop> root).held_bytes()
        if now - (<Loop> root).began > self.max_seconds:
            self.fail(SECONDS)
            return
        cause = (<Loop> root).weigh(self.interner)
        if cause != NONE:
            self.fail(cause)

    # Whether the outermost loop holds too much, with what `interner` has grown by; others may have grown it, too.
    cdef Failure weigh(self, Interner interner) noexcept nogil:
        cdef uint64_t strings = 0 if interner is None else interner.held_bytes()
        cdef uint64_t grown = strings - self.strings if strings > self.strings else 0
        cdef uint64_t held
        if grown > self.max_bytes:
            return BYTES
        if self.given - self.checked < UPDATES_UNWEIGHED and grown < WORTH_STOPPING:
            return NONE
        self.checked = self.given
        held = self.held_bytes() + grown
        if held > self.max_bytes:
            return BYTES
        if held > self.before + WORTH_STOPPING and resident_bytes() > self.max_process_bytes:
            return PROCESS
        return NONE

    cdef size_t held_bytes(self) noexcept nogil:
        cdef size_t s, bytes = 0
        for s in range(self.body.size()):
            bytes += (<Stage> self.body[s]).held_bytes()
        return bytes

    cdef void fail(self, Failure cause) noexcept nogil:
        self.failed = cause
        self.failed_at = round_of(self.region.at[self.outer.depth])

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

    cdef int rest_body(self) except -1 nogil:
        cdef size_t s
        for s in range(self.body.size()):
            (<Stage> self.body[s]).queued = False
            if (<Stage> self.body[s]).unrested > 0:
                (<Stage> self.body[s]).rest()
        return 0

    # The body rests whenever the loop has run.
    cdef int rest(self) except -1 nogil:
        return 0

    cdef int settle(self) except -1 nogil:
        cdef size_t s
        for s in range(self.body.size()):
            if (<Stage> self.body[s]).settles:
                (<Stage> self.body[s]).settle()
        return 0

    cdef void abandon(self) noexcept nogil:
        cdef size_t s
        for s in range(self.body.size()):
            (<Stage> self.body[s]).abandon()


cdef bint follow(Stage stage, Stage part, void* owner) except -1:
    cdef bint others = False
    cdef size_t i
    for i in range(part.reads.size()):
        others |= _follow(stage, (<Stage> part.reads[i]).root, owner)
    for i in range(part.reads_found.size()):
        others |= _follow(stage, (<Trace> part.reads_found[i]).stage, owner)
    if isinstance(part, Loop):
        for inner in (<Loop> part).stages:
            others |= follow(stage, inner, owner)
    return others


# Lets `stage` follow `source`, if that is another one of `owner`'s; whether it is not of `owner`.
cdef bint _follow(Stage stage, void* source, void* owner) except -1:
    if source == <void*> stage:
        return False
    if source == NULL or (<Stage> source).owner != owner:
        return True
    if not _has(&stage.sources, source):
        stage.sources.push_back(source)
        (<Stage> source).followers.push_back(<void*> stage)
    return False


cdef bint _has(const vector[void*]* stages, void* stage) noexcept:
    cdef size_t i
    for i in range(stages.size()):
        if stages[0][i] == stage:
            return True
    return False
