"""Hydration: a new dataflow catches up with the pool, which goes on meanwhile.

The new stages read mirrors of the shared arrangements and belong to no schedule but their own, so
that they can run in the thread that installs them while other threads complete times: the small
steps of other dataflows do not wait for the hydration of a large one. First all that the
arrangements held is new; then, in ever shorter rounds, what was sealed meanwhile. Once little is
left, or rounds do not get shorter, the rest is done between two steps of the pool, and the stages
read the shared arrangements from then on. What is little from the beginning needs none of this.
"""

cimport cython
from libc.stdint cimport uint64_t

from ivm.operators.base.operator cimport Reader
from ivm.trace.spine cimport Trace
from ivm.runtime.schedule cimport Schedule
from ivm.runtime.stage cimport Stage

from ivm.runtime.mirror import Mirror

AT_ONCE = 10_000
LITTLE = 1_000
TIMES_AT_ONCE = 16


def is_little(list stages, list readers) -> bool:
    """Whether `stages`, of a foreseeable plan, put out little for all that their `readers` hold."""
    cdef Py_ssize_t most = LITTLE, total = 0
    cdef Reader reader
    cdef Stage stage
    for reader in readers:
        reader.catching_up = True
    for stage in stages:
        total += stage.foreseen(most)
        if total > most:
            break
    for reader in readers:
        reader.catching_up = False
    return total <= most


def catch_up(Schedule schedule, list stages, list readers, uint64_t frontier) -> None:
    """Run `stages`, just added to `schedule`, on all that their `readers` hold.

    What they put out is at the last time before `frontier`. Raises StageFailed.
    """
    cdef Reader reader
    for reader in readers:
        reader.catching_up = True
    schedule.catch_up(stages, frontier - 1 if frontier > 0 else 0, frontier)
    for reader in readers:
        reader.catching_up = False


@cython.freelist(16)    # they come and go with dataflows
cdef class Hydration:
    """The catching up of `stages`, whose `readers` read traces of their own and `shared` ones.

    Make it between two steps of the pool, and call `take` and `attach` there; `begin` and `go_on`
    may be called beside them. Afterwards the stages are complete for all times below `upto`.
    A `budget` bounds all that they take until then. Members of a cluster do all of it alike, by
    their `agreement`.
    """

    cdef readonly object upto
    cdef object done        # times below it are caught up with
    cdef object taken       # updates that were taken over last; None before the first time
    cdef bint begun         # `begin` has returned
    cdef Schedule schedule
    cdef list stages
    cdef list readers
    cdef list original      # the trace that each of them is to read afterwards
    cdef list mirrors       # of the shared traces
    cdef object agreement

    def __init__(self, list stages, list readers, list shared, frontier, agreement, budget=None):
        cdef Reader reader
        cdef Py_ssize_t i
        self.upto = self.done = frontier
        self.taken = None
        self.agreement = agreement
        self.schedule = Schedule(budget)
        self.schedule.add(stages)
        self.stages = stages
        self.readers = readers
        self.original = [reader.trace for reader in readers]
        self.mirrors = [Mirror(trace) for trace in shared]
        for reader in readers:
            for i in range(len(shared)):
                if shared[i] is reader.trace:
                    reader.trace = self.mirrors[i].own
                    break

    def begin(self):
        """Run on all that the arrangements held (raises StageFailed, BudgetExceeded)."""
        catch_up(self.schedule, self.stages, self.readers, self.upto)
        self.begun = True

    @property
    def progress(self):
        """The number of stages that have taken all that the arrangements held, and of all stages."""
        cdef Py_ssize_t stages = len(self.stages)
        return (stages if self.begun else min(self.schedule.passed, stages)), stages

    def take(self, frontier):
        """Take over the updates sealed below `frontier` since; whether it should be the last time.

        It is if the pool has not gone on, if that is little, and if it is not much less than the
        time before: then the pool goes on faster than the dataflow can follow, and must wait for it.
        """
        if frontier == self.upto:
            return True
        self.upto = frontier
        before, self.taken = self.taken, sum([mirror.take_over() for mirror in self.mirrors])
        is_last = self.taken <= AT_ONCE or (before is not None and 2 * self.taken > before)
        return not self.agreement.any(not is_last)

    def go_on(self):
        """Run the stages on the updates that were taken over (raises StageFailed, BudgetExceeded)."""
        while self.done < self.upto:
            upper = self.upto
            if self.schedule.recursive:
                upper = min([m.after(TIMES_AT_ONCE, upper) for m in self.mirrors], default=upper)
                upper = self.agreement.least(upper)
            for mirror in self.mirrors:
                mirror.pass_on(upper)
            self.schedule.catch_up(self.stages, self.done, upper)
            self.done = upper

    def attach(self):
        """Read the shared arrangements from now on."""
        cdef Reader reader
        cdef Trace trace
        for reader, trace in zip(self.readers, self.original):
            reader.trace = trace
        self.schedule.publish_all()
