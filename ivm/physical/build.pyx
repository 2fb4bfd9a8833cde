"""Building: a physical plan's stages made into operators, one for each shard.

A plan says for each stage which kind of operator it has and what such an operator is made with.
What is the same in all shards and whenever the plan is built stands there as it is; what is not, an
`Argument` stands for. So the plan decides once, and building is a straight line.
"""

cimport cython
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

from libcpp.vector cimport vector

from ivm.operators.arranging.arrange cimport Sealing
from ivm.operators.base.operator cimport Operator, Reader, Region
from ivm.trace.spine cimport Trace
from ivm.runtime.loop cimport Loop
from ivm.runtime.meeting cimport Meeting
from ivm.runtime.stage cimport Crossing, Stage


cdef class StagePlan


cdef class Argument:
    """An argument of an operator, in a plan: its value differs between shards and buildings."""

    cdef object of(self, Building building, int shard):
        raise NotImplementedError

    # Tells `plan`, which has it as an argument, what is read.
    cdef int note(self, StagePlan plan) except -1:
        return 0


cdef class Source(Argument):
    """The operator of stage `stage` in the same shard."""

    cdef readonly int stage

    def __init__(self, int stage):
        self.stage = stage

    cdef object of(self, Building building, int shard):
        return (<tuple> building.operators[self.stage])[shard]

    cdef int note(self, StagePlan plan) except -1:
        plan.sources.push_back(self.stage)
        return 0


cdef class Every(Argument):
    """The operators of stage `stage` in all shards, as a tuple."""

    cdef readonly int stage

    def __init__(self, int stage):
        self.stage = stage

    cdef object of(self, Building building, int shard):
        return building.operators[self.stage]

    cdef int note(self, StagePlan plan) except -1:
        plan.sources_of_all.push_back(self.stage)
        return 0


cdef class TracePlan:
    """An arrangement's trace: one that was found, or the one that stage `stage` seals."""

    def __init__(self, *, int stage=-1, int slot=-1):
        self.stage = stage
        self.slot = slot

    cdef Trace of(self, Building building):
        if self.slot >= 0:
            return building.found[self.slot]
        return (<Sealing> (<tuple> building.operators[self.stage])[0]).trace


cdef class Read(Argument):
    """A new view of an arrangement's trace."""

    cdef TracePlan trace

    def __init__(self, TracePlan trace):
        self.trace = trace

    @property
    def found(self):
        """Whether the trace is there before the plan is built."""
        return self.trace.slot >= 0

    cdef object of(self, Building building, int shard):
        return building.reader(self.trace.of(building))

    cdef int note(self, StagePlan plan) except -1:
        if self.trace.slot >= 0:
            plan.slots_read.push_back(self.trace.slot)
        else:
            plan.sealing.push_back(self.trace.stage)
        return 0


cdef class Several(Argument):
    """The values that `arguments` stand for, as a tuple."""

    cdef tuple arguments

    def __init__(self, arguments):
        self.arguments = tuple(arguments)

    cdef object of(self, Building building, int shard):
        return tuple([(<Argument> argument).of(building, shard) for argument in self.arguments])

    cdef int note(self, StagePlan plan) except -1:
        for argument in self.arguments:
            (<Argument> argument).note(plan)
        return 0


cdef class New(Argument):
    """A new result of `make`: for state that no two operators may share."""

    cdef object make

    def __init__(self, make):
        self.make = make

    cdef object of(self, Building building, int shard):
        return self.make()


cdef class StagePlan:
    """Operators of type `kind`, made with a region, the `words` of a row, and then `arguments`."""

    cdef readonly type kind
    cdef readonly int region
    cdef readonly int words
    cdef readonly tuple arguments
    cdef tuple given            # what stands for the region, the words and the arguments,
    cdef vector[bint] varying   # whether each of these stands for another each time
    cdef vector[int] sources            # stages of which an operator reads that of its shard
    cdef vector[int] sources_of_all     # and those of which it reads the operators of all shards
    cdef vector[int] sealing            # stages whose traces it reads
    cdef vector[int] slots_read         # slots of what was found whose traces it reads

    def __init__(self, type kind, int region, int words, tuple arguments):
        self.kind = kind
        self.region = region
        self.words = words
        self.arguments = arguments
        self.given = (None, words, *arguments)
        for argument in self.given:
            self.varying.push_back(isinstance(argument, Argument))
            if isinstance(argument, Argument):
                (<Argument> argument).note(self)

    @property
    def reads(self):
        """The stages that it reads, or whose traces, by number."""
        return list(self.sources) + list(self.sources_of_all) + list(self.sealing)

    @property
    def slots(self):
        """The slots of the found arrangements whose traces it reads."""
        return list(self.slots_read)

    # How many operators are made: one for each shard.
    cdef int count(self, Building building):
        return building.shards

    cdef object build(self, Building building):
        cdef int shard, count = self.count(building)
        cdef tuple operators = PyTuple_New(count)
        for shard in range(count):
            operator = self.kind(*self.arguments_of(building, shard))
            (<Operator> operator).shard = shard
            (<Operator> operator).shards = count
            Py_INCREF(operator)
            PyTuple_SET_ITEM(operators, shard, operator)
        building.operators.append(operators)
        stage = self.stage(operators)
        self.connect(building, stage)
        return stage

    # Tells what is read of its readers, and `stage` what it reads.
    cdef int connect(self, Building building, Stage stage) except -1:
        cdef int number
        for number in self.sources:
            stage.reads.push_back(<void*> building.stages[number])
            for operator in <tuple> building.operators[number]:
                (<Operator> operator).readers += 1
        for number in self.sources_of_all:
            stage.reads.push_back(<void*> building.stages[number])
            for operator in <tuple> building.operators[number]:
                (<Operator> operator).readers += self.count(building)
        for number in self.sealing:
            stage.reads.push_back(<void*> building.stages[number])
        for number in self.slots_read:
            stage.reads_found.push_back(<void*> (<Trace> building.found[number]))
        return 0

    # What an operator of `shard` is made with; filled in place, which spares a list.
    cdef tuple arguments_of(self, Building building, int shard):
        cdef Py_ssize_t place, count = len(self.given)
        cdef tuple arguments = PyTuple_New(count)
        for place in range(count):
            argument = self.given[place]
            if place == 0:
                argument = building.regions[self.region]
            elif self.varying[place]:
                argument = (<Argument> argument).of(building, shard)
            Py_INCREF(argument)
            PyTuple_SET_ITEM(arguments, place, argument)
        return arguments

    cdef Stage stage(self, tuple operators):
        return Stage(operators)


cdef class WholePlan(StagePlan):
    """A single operator for all shards."""

    cdef int count(self, Building building):
        return 1


cdef class CrossingPlan(StagePlan):
    """Operators that hand rows to each other: Exchanges."""

    cdef Stage stage(self, tuple operators):
        return Crossing(operators)


cdef class MeetingPlan(StagePlan):
    """An operator that hands rows to its like in other processes: a Scatter."""

    cdef Stage stage(self, tuple operators):
        return Meeting(operators)


cdef class LoopPlan(StagePlan):
    """A loop in region `outer` whose `body` lists the numbers of its stages, in region `region`.

    `names` says for each of these which binding it is of, and `limited` whether `max_rounds` is the loop's own limit.
    The other `bounds` are the pool's.    """

    cdef readonly int outer
    cdef readonly tuple body
    cdef tuple names
    cdef object max_rounds
    cdef bint limited
    cdef object bounds
    cdef object interner

    def __init__(self, int outer, int region, body, names, max_rounds, bint limited, bounds, interner):
        self.outer = outer
        self.region = region
        self.body = tuple(body)
        self.names = tuple(names)
        self.max_rounds = max_rounds
        self.limited = limited
        self.bounds = bounds
        self.interner = interner

    @property
    def reads(self):
        """The stages of its body, by number."""
        return list(self.body)

    cdef object build(self, Building building):
        loop = Loop(building.regions[self.outer], building.regions[self.region],
                    tuple([building.stages[number] for number in self.body]), self.names,
                    self.max_rounds, self.limited, self.bounds, self.interner)
        building.operators.append((loop,))
        return loop


@cython.freelist(16)    # they come and go with dataflows
cdef class Building:
    """The stages built from those `planned`, in their order, in regions of such `depths`.

    `found` has the traces of the arrangements that were found, by slot. Raises what the operators
    raise; then nothing is left.
    """

    def __init__(self, list depths, list planned, list found, int shards):
        self.operators = []
        self.stages = []
        self.readers = []
        self.found = found
        self.shards = shards
        self.regions = [Region(depth) for depth in depths]
        for plan in planned:
            self.stages.append((<StagePlan?> plan).build(self))

    cdef Reader reader(self, Trace trace):
        cdef Reader made = Reader.__new__(Reader)
        made.trace = trace
        self.readers.append(made)
        return made
