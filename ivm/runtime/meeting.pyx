"""Meetings: the stages at which the members of a cluster exchange rows.

All members run the same stages in the same order, and come to the same meetings. At each of them a member
sends every other one message, and waits for one of each: so that to have all messages is the barrier. It
says that it has rows for the meeting, with them; or at which later stage it has work next. If nobody has any
rows, all pass over the meetings before the first such stage. A loop is a meeting too, into which all go if one
has work for it, and so is the end of each of its rounds, where the earliest round that waits on any member is
the next one for all (`ivm.runtime.schedule` and `ivm.runtime.loop` stand at meetings).
"""

from libc.stdint cimport uint64_t

from ivm.operators.linear.scatter cimport Scatter
from ivm.runtime.loop cimport Loop
from ivm.runtime.stage cimport WORK, Stage


cdef class Meeting(Stage):
    """A stage of one Scatter, which hands its rows to those of other processes."""

    def __init__(self, tuple operators):
        super().__init__(operators)
        (scatter,) = operators
        self.mesh = (<Scatter?> scatter).mesh

    cdef uint64_t meet(self, uint64_t place, uint64_t value) except 0 nogil:
        with gil:
            return exchanged(<Scatter> (<tuple> self.operators)[0], place, value)


# Meets the other members, and lets `scatter` have the rows that they sent to this one.
cdef uint64_t exchanged(Scatter scatter, uint64_t place, uint64_t value) except 0:
    cdef list sent = scatter.blocks() if value == WORK else None
    least, blocks = scatter.mesh.meet(place, value, sent)
    for block in blocks if least == WORK else ():
        if block:
            scatter.take(block)
    return least


def meet_over(mesh, stages) -> None:
    """Let `stages`, and those of loops among them, meet their like over `mesh` from now on."""
    cdef Stage stage
    for stage in stages:
        if isinstance(stage, Loop):
            meet_over(mesh, (<Loop> stage).stages)
        elif isinstance(stage, Meeting):
            (<Scatter> (<tuple> stage.operators)[0]).mesh = mesh
        if stage.mesh is not None:
            stage.mesh = mesh
