"""A schedule: the root's stages, of which a step runs those that something new has reached.

A step starts at the inputs. A stage that leaves something behind calls the stages that read it,
and stages run in their order, upstream first. What nothing new reaches is not even looked at, so
that idle dataflows cost nothing, and no Python object is touched between the start of a step and its end.
"""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.arranging.input cimport Input
from ivm.operators.base.operator cimport look_at_budget
from ivm.memory.huge_pages cimport give_needless_back
from ivm.threads.team cimport end_step, watch_overflow
from ivm.trace.spine cimport Trace
from ivm.runtime.loop cimport Loop, follow
from ivm.runtime.stage cimport LATER, NOTHING, WORK, Stage

cdef enum:
    TIMED_AT_FIRST = 4      # steps of which each is timed whole,
    STEPS_TO_A_TIMED = 61   # and then one in so many; a prime, since steps may alternate


class StageFailed(MemoryError):
    """Memory was too short for `stage`, one of a schedule's."""

    def __init__(self, stage, reason):
        super().__init__(reason)
        self.stage = stage


cdef class Schedule:
    """Stages in order. `published` is the time as of which readers see their traces, or -1.

    With a `budget`, a step ends where that is used up, with BudgetExceeded.
    """

    def __init__(self, budget=None):
        self.published = -1
        self.stages = {}
        self.next_place = 0
        self.loops = 0
        self.settled = 0
        self.passed = 0
        self.running = NULL
        self.budget = budget
        self.timed = self.untimed = 0

    @property
    def recursive(self) -> bool:
        """Whether any stage is a loop."""
        return self.loops > 0

    def add(self, stages) -> None:
        """Append stages, upstream first: all, or none where memory is short."""
        try:
            self.append(stages)
        except MemoryError:
            self.remove(stages)
            raise

    cdef int append(self, stages) except -1:
        cdef Stage stage
        for stage in stages:
            self.loops += isinstance(stage, Loop)
            stage.place = self.next_place
            self.next_place += 1
            stage.awaited = 0
            stage.sources.clear()
            stage.followers.clear()
            stage.owner = <void*> self
            self.stages[stage] = None
            follow(stage, stage, <void*> self)
            if stage.sources.empty():
                self.inputs.push_back(<void*> stage)
            if stage.mesh is not None:
                self.meetings.push_back(<void*> stage)
            if stage.merges():
                self.merging.push_back(<void*> stage)
        return 0

    def remove(self, stages) -> None:
        """Forget stages, whether or not they were added; nothing that stays may read them."""
        cdef Stage stage
        cdef size_t i
        for stage in stages:
            for i in range(stage.traces.size()):
                (<Trace> stage.traces[i]).stage = NULL
            if stage.owner != <void*> self:
                continue
            self.loops -= isinstance(stage, Loop)
            stage.owner = NULL
            self.stages.pop(stage, None)
            for i in range(stage.sources.size()):
                _erase(&(<Stage> stage.sources[i]).followers, <void*> stage)
            _erase(&self.inputs, <void*> stage)
            _erase(&self.ran, <void*> stage)
            _erase(&self.meetings, <void*> stage)
            _erase(&self.merging, <void*> stage)

    cpdef int run(self, uint64_t lower, uint64_t upper) except -1:
        """Run to completion on all updates at times from `lower` to below `upper`.

        Raises StageFailed; then some stages have run and some have not.
        """
        cdef size_t i
        for i in range(self.inputs.size()):
            self.call(self.inputs[i])
        self.weight = self.weight_of_step()
        return self.complete(lower, upper)

    # Times the first steps, and then one in so many: a clock is too dear for each step of a few updates.
    cdef int weight_of_step(self) noexcept nogil:
        self.untimed += 1
        if self.timed < TIMED_AT_FIRST:
            self.timed += 1
            return 1
        if self.untimed < STEPS_TO_A_TIMED:
            return 0
        self.untimed = 0
        return STEPS_TO_A_TIMED

    cpdef int catch_up(self, list stages, uint64_t lower, uint64_t upper) except -1:
        """Run stages that were just added, after they found their sources: as `run`, but none is called."""
        cdef Stage stage
        try:
            for stage in stages:
                self.call(<void*> stage)
        except BaseException:
            self.stop()
            raise
        self.weight = 1
        return self.complete(lower, upper)

    # Runs what is ready and what that calls, at times from `lower` to below `upper`.
    cdef int complete(self, uint64_t lower, uint64_t upper) except -1:
        self.lower = lower
        self.upper = upper
        self.ran.clear()
        self.settled = self.passed = self.met = 0
        try:
            with nogil:
                self.drain()
        except MemoryError as shortage:
            self.stop()
            raise StageFailed(<Stage> self.running, str(shortage)) from shortage
        except BaseException:
            self.stop()
            raise
        finally:
            watch_overflow(NULL)
        return 0

    @property
    def troubled(self) -> bool:
        """Whether a stage that ran has met an error of a row, an overflow, or a loop its bound."""
        cdef size_t i
        for i in range(self.ran.size()):
            if (<Stage> self.ran[i]).troubled():
                return True
        return False

    cpdef int publish_all(self) except -1:
        """Let readers see the batches that all stages have sealed."""
        cdef Stage stage
        for stage in self.stages:
            _prepare_traces(stage)
        for stage in self.stages:
            _publish_traces(stage)
        return 0

    def publish(self, int64_t time) -> None:
        """Let readers see the batches of the stages that ran, and all traces as of `time`."""
        cdef size_t i
        for i in range(self.ran.size()):
            _prepare_traces(<Stage> self.ran[i])
        for i in range(self.ran.size()):
            _publish_traces(<Stage> self.ran[i])
        self.published = time

    def cut(self, Py_ssize_t times, uint64_t upper) -> int:
        """The frontier, at most `upper`, before which lie at most `times` times of each input."""
        cdef size_t i
        for i in range(self.inputs.size()):
            for operator in (<Stage> self.inputs[i]).operators:
                upper = min(upper, (<Input?> operator).after(times))
        return upper

    # Leaves nothing ready.
    cdef void stop(self) noexcept:
        cdef size_t i
        for i in range(self.ready.size()):
            (<Stage> self.ready[i]).queued = False
        self.ready.clear()

    # Puts a stage where its place is among those to run, unless it is there.
    cdef int call(self, void* stage) except -1 nogil:
        cdef size_t at = self.ready.size()
        if (<Stage> stage).queued:
            return 0
        while at > 0 and (<Stage> self.ready[at - 1]).place < (<Stage> stage).place:
            at -= 1
        self.ready.insert(self.ready.begin() + at, stage)
        (<Stage> stage).queued = True
        return 0

    # Runs what is ready and what that calls. A stage rests once all its followers have read what it
    # left behind, so that large memory is used again by the stages after them.
    cdef int drain(self) except -1 nogil:
        cdef size_t i
        cdef void* stage
        cdef void* budget = NULL if self.budget is None else <void*> self.budget
        while True:
            if self.met < self.meetings.size():
                self.meet()
            if self.ready.empty():
                break
            stage = self.running = self.ready.back()
            self.ready.pop_back()
            (<Stage> stage).queued = False
            (<Stage> stage).outer.lower = self.lower
            (<Stage> stage).outer.upper = self.upper
            (<Stage> stage).outer.weight = self.weight
            (<Stage> stage).outer.budget = budget
            if budget != NULL:
                look_at_budget((<Stage> stage).outer)
            if (<Stage> stage).run():
                self.ran.push_back(stage)
                if (<Stage> stage).left and not (<Stage> stage).followers.empty():
                    (<Stage> stage).awaited = (<Stage> stage).followers.size()
                    for i in range((<Stage> stage).followers.size()):
                        self.call((<Stage> stage).followers[i])
                else:
                    (<Stage> stage).rest()
            for i in range((<Stage> stage).sources.size()):
                self.read((<Stage> stage).sources[i])
            self.passed += 1
        self.take_merged()
        while self.settled < self.ran.size():
            self.running = self.ran[self.settled]
            self.settled += 1
            if (<Stage> self.running).settles:
                (<Stage> self.running).settle()
        end_step()
        give_needless_back()
        return 0

    # Meets the other members before the next stage that is ready, and calls what one of them has work for.
    cdef int meet(self) except -1 nogil:
        cdef uint64_t value, least, place
        cdef void* meeting
        while self.met < self.meetings.size():
            meeting = self.meetings[self.met]
            place = (<Stage> meeting).place
            value = NOTHING if self.ready.empty() else LATER + (<Stage> self.ready.back()).place
            if value < LATER + place:
                return 0
            self.running = meeting
            least = (<Stage> meeting).meet(place << 20, WORK if (<Stage> meeting).queued else value)
            self.met += 1
            if least == WORK:
                return self.call(meeting)
            while self.met < self.meetings.size() and (
                    LATER + (<Stage> self.meetings[self.met]).place < least):
                self.met += 1
        return 0

    # Lets traces take over what helpers have merged beside this step, and beside those before. Readers are to see it.
    cdef int take_merged(self) except -1 nogil:
        cdef size_t i
        for i in range(self.ran.size()):
            if (<Stage> self.ran[i]).merges():
                _insert(&self.merging, self.ran[i])
        i = 0
        while i < self.merging.size():
            self.running = self.merging[i]
            if (<Stage> self.running).take_merged():
                _insert(&self.ran, self.running)
            if (<Stage> self.running).merges():
                i += 1
            else:
                self.merging.erase(self.merging.begin() + i)
        return 0

    # One follower more has read what `stage` left behind.
    cdef int read(self, void* stage) except -1 nogil:
        if (<Stage> stage).awaited > 0:
            (<Stage> stage).awaited = (<Stage> stage).awaited - 1
            if (<Stage> stage).awaited == 0:
                self.running = stage
                (<Stage> stage).rest()
        return 0


cdef int _prepare_traces(Stage stage) except -1:
    cdef size_t i
    for i in range(stage.traces.size()):
        (<Trace> stage.traces[i]).prepare()
    return 0


cdef void _publish_traces(Stage stage) noexcept:
    cdef size_t i
    for i in range(stage.traces.size()):
        (<Trace> stage.traces[i]).publish()


# Puts a stage behind the others, unless it is among them.
cdef int _insert(vector[void*]* stages, void* stage) except -1 nogil:
    cdef size_t i
    for i in range(stages.size()):
        if stages[0][i] == stage:
            return 0
    stages.push_back(stage)
    return 0


cdef void _erase(vector[void*]* stages, void* stage) noexcept:
    cdef size_t i
    for i in range(stages.size()):
        if stages[0][i] == stage:
            stages.erase(stages.begin() + i)
            return
