"""Loops: the stages of a body, run round by round until nothing changes or a bound is met.

A loop is swept in lexicographic order of its coordinates with all root times of the step together,
which is a linear extension of the product order; rounds in which nothing is parked are skipped.
In a round only those stages are asked for work that something can have reached: those that hold
updates back, those that read what has left something behind in it, and once more those that left
something in the round before, so that it is past. What comes from outside is there in the first round.
"""

from libc.stdint cimport uint64_t
from posix.time cimport clock_gettime, timespec

from ivm.memory.process cimport resident_bytes
from ivm.operators.base.operator cimport Region, earlier, look_at_budget
from ivm.operators.loops.loop cimport Collect, Variable
from ivm.rows.interner cimport Interner
from ivm.runtime.account cimport ROUND_CLASSES, add_round, end_step_of
from ivm.runtime.stage cimport LATER, NOTHING, WORK, Stage
from ivm.trace.spine cimport Trace
from ivm.trace.times cimport MAX_COORDINATES, round_of

cdef enum:
    ROUNDS_UNCHECKED = 16       # after which it looks at the clock,
    UPDATES_UNWEIGHED = 1 << 16 # and updates after which it weighs its memory
    END = (1 << 20) - 1         # the number of the meeting at the end of a round, after those of stages
    WORTH_STOPPING = 64 << 20   # bytes by which a loop has grown that is stopped where the process has too many

cdef uint64_t NEVER = 0xFFFFFFFFFFFFFFFF

cdef extern from "<time.h>" nogil:
    enum: CLOCK_MONOTONIC_COARSE


# The time by a clock that is read in a few nanoseconds.
cdef inline double seconds() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    return now.tv_sec + now.tv_nsec * 1e-9


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
            if stage.mesh is not None:
                self.mesh = stage.mesh
                self.meetings.push_back(self.body.size() - 1)
            if stage.operators and isinstance(stage.operators[0], Collect):
                self.exits.push_back(<void*> stage)
            if stage.operators and isinstance(stage.operators[0], Variable):
                self.variables.push_back(<void*> stage)
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
        self.region.weight = self.outer.weight
        self.region.budget = self.outer.budget
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
        if self.failed != NONE:
            return *self.bound(), self.names[self.failed_in], self.failed_at
        for s in range(self.body.size()):
            failure = (<Stage> self.body[s]).failure
            if failure is not None:
                cause, bound, name, at = failure
                return cause, bound, name or self.names[s], at
        return ("overflow", None, None, None) if self.overflowed else None

    # The bound that it has met: its name, and the bound.
    cdef tuple bound(self):
        return {
            OVERFLOW: ("overflow", None),
            ROUNDS: ("rounds", self.max_rounds),
            LIMIT: ("limit", self.max_rounds),
            UPDATES: ("updates", self.max_updates),
            SECONDS: ("seconds", self.max_seconds),
            BYTES: ("bytes", self.max_bytes),
            PROCESS: ("process", self.max_process_bytes),
        }[self.failed]

    @property
    def rounds_run(self):
        """Rounds since it was built, the most of one step, the last one ever; then those of the last step.

        These are how many, the last one, and (first, last, how many, changes of the loop's names) of each class
        of rounds that ran.
        """
        cdef RoundAccount of = self.rounds
        cdef int i
        classes = [(1 << i - 1 if i > 0 else 0, (1 << i) - 1 if i < ROUND_CLASSES - 1 else None,
                    of.step_rounds_of[i], of.step_updates_of[i])
                   for i in range(ROUND_CLASSES) if of.step_rounds_of[i] > 0]
        last = of.step_last
        end_step_of(&of)
        return of.rounds, of.most, of.last, sum([ran for _, _, ran, _ in classes]), last, classes

    cdef Py_ssize_t yields(self) noexcept nogil:
        cdef size_t s
        cdef Py_ssize_t total = 0
        for s in range(self.exits.size()):
            total += (<Stage> self.exits[s]).yields()
        return total

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
            else:
                self.tell_failure(0)
        if self.failed != NONE:
            self.abandon()
        if ran:
            self.rest_body()
        self.left = self.yields() > 0
        return ran

    # Asks the stages that are queued, and those that they call; whether any had work.
    cdef bint round(self) except -1 nogil:
        cdef size_t s, i, meeting = 0
        cdef bint ran = False
        cdef void* stage
        look_at_budget(self.region)
        for s in range(self.parking.size()):
            (<Stage> self.parking[s]).queued = True
        for s in range(self.body.size()):
            stage = self.body[s]
            if meeting < self.meetings.size() and self.meetings[meeting] == s:
                if not self.meet_at(&meeting):
                    return True
            if not (<Stage> stage).queued:
                continue
            (<Stage> stage).queued = False
            if not (<Stage> stage).run():
                continue
            ran = True
            if (<Stage> stage).overflowed:
                self.fail(OVERFLOW, s)
                self.tell_failure(meeting)
                return True
            if (<Stage> stage).left:
                (<Stage> stage).queued = True
                for i in range((<Stage> stage).followers.size()):
                    (<Stage> (<Stage> stage).followers[i]).queued = True
        if ran:
            add_round(&self.rounds, self.region, round_of(self.region.at[self.outer.depth]), self.variable_rows())
        return ran

    # Meets the other members at the stage of the body that is number `meeting` of those where they do, and moves to
    # the next one. False if the loop has failed on one of them.
    cdef bint meet_at(self, size_t* meeting) except -1 nogil:
        cdef size_t s = self.meetings[meeting[0]]
        cdef bint work = (<Stage> self.body[s]).queued
        cdef uint64_t least = (<Stage> self.body[s]).meet(self.place_of(s), WORK if work else self.next_work(s))
        if least < WORK:
            self.fail(<Failure> least, s)
            return False
        (<Stage> self.body[s]).queued = least == WORK
        meeting[0] += 1
        while least != WORK and meeting[0] < self.meetings.size() and LATER + self.meetings[meeting[0]] < least:
            meeting[0] += 1
        return True

    # The place of the next stage after `s` that is to be asked in this round; of the round's end if there is none.
    cdef uint64_t next_work(self, size_t s) noexcept nogil:
        while s < self.body.size() and not (<Stage> self.body[s]).queued:
            s += 1
        return LATER + s

    # Tells the other members, at the next meeting of the round, why it has failed.
    cdef int tell_failure(self, size_t meeting) except -1 nogil:
        cdef size_t s
        if self.meetings.empty():
            return 0
        if meeting < self.meetings.size():
            s = self.meetings[meeting]
            (<Stage> self.body[s]).meet(self.place_of(s), <uint64_t> self.failed)
        else:
            self.meet(self.place_of(END), <uint64_t> self.failed)
        return 0

    cdef uint64_t place_of(self, size_t s) noexcept nogil:
        return (<Stage> self.root).place << 20 | s + 1

    # The updates that its names have had.
    cdef uint64_t variable_rows(self) noexcept nogil:
        cdef uint64_t rows = 0
        cdef size_t s
        for s in range(self.variables.size()):
            rows += (<Stage> self.variables[s]).rows
        return rows

    # Moves to the earliest round that holds updates, if it belongs to the outer scope's present round.
    cdef bint next_round(self) except -1 nogil:
        cdef uint64_t at[MAX_COORDINATES]
        cdef uint64_t least
        cdef bint found = False
        cdef int i
        cdef size_t s
        for i in range(1, self.region.depth):
            at[i] = NEVER
        for s in range(self.parking.size()):
            if (<Stage> self.parking[s]).parked(at):
                found = True
        for i in range(1, self.outer.depth):
            if at[i] != self.outer.at[i]:
                found = False
        if not self.meetings.empty():
            least = self.meet(self.place_of(END), LATER + at[self.outer.depth] if found else NOTHING)
            if least < WORK:
                self.fail(<Failure> least, self.changing())
            found = WORK < least < NOTHING
            at[self.outer.depth] = least - LATER
        if found:
            self.region.at[self.outer.depth] = at[self.outer.depth]
        return found

    # Fails if it needs more rounds, or all in its root took more updates, time or memory, than it may before it comes
    # to a fixed point. A step of few rounds and updates does not look at the clock.
    cdef void stop_at_bounds(self) noexcept nogil:
        cdef void* root = self.root
        if round_of(self.region.at[self.outer.depth]) >= self.max_rounds:
            self.fail(LIMIT if self.limited else ROUNDS, self.changing())
        elif (<Loop> root).given > self.max_updates:
            self.fail(UPDATES, self.changing())
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
            self.fail(SECONDS, self.changing())
            return
        cause = (<Loop> root).weigh(self.interner)
        if cause != NONE:
            self.fail(cause, self.changing())

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

    # The stage of the body whose updates are the next to be taken in.
    cdef size_t changing(self) noexcept nogil:
        cdef uint64_t at[MAX_COORDINATES]
        cdef uint64_t least = NEVER
        cdef size_t s, found = 0
        cdef int i
        for s in range(self.body.size()):
            for i in range(1, self.region.depth):
                at[i] = NEVER
            if (<Stage> self.body[s]).parked(at) and at[self.outer.depth] < least:
                least = at[self.outer.depth]
                found = s
        return found

    cdef void fail(self, Failure cause, size_t stage) noexcept nogil:
        self.failed = cause
        self.failed_in = stage
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
