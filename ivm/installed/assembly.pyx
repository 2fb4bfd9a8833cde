"""Assembly: a physical plan built for a pool, as pieces and arrangements that others can find."""

cimport cython

import numpy as np

from ivm.physical.build cimport Building, TracePlan
from ivm.physical.plan cimport PhysicalPlan, PiecePlan
from ivm.installed.pieces cimport Index, Piece, new_index, new_piece

from ivm.results import Installed
from ivm.runtime.feed import Intake


@cython.freelist(16)    # they come and go with dataflows
cdef class Assembly:
    """`plan` built as `name` over the pieces `found`; its constants are there from `now` on.

    `pieces` are the new ones, the collection's own last, and `stages` the root's, upstream first;
    `arrangements` are the new ones, and `result`, with its piece, has the collection's rows; it is
    None if none has.
    """

    def __init__(self, PhysicalPlan plan, str name, found, int shards, interner, now):
        cdef Index index
        cdef list slots = [index.trace for _, index in found]
        cdef Building built = Building(plan.depths, plan.stages, slots, shards)
        self.plan = plan
        self.found = found
        self.stages = [built.stages[stage] for stage in plan.root]
        self.numbered = built.stages
        self.readers = built.readers
        self.inputs = built.operators[0]
        self.captures = () if plan.capture is None else built.operators[plan.capture]
        for stage, layout, rows in plan.constants:
            inputs = built.operators[stage]
            Intake(inputs, layout, interner).feed(rows, now, np.ones(rows.num_rows, np.int64))
        self.divide(built, name)
        self.piece = self.pieces[len(self.pieces) - 1]
        self.arrangements = {}
        for node, (owner, arranged) in plan.arrangements.items():
            index = new_index(node, arranged.shape, (<TracePlan> arranged.trace).of(built))
            self.arrangements[node] = self.piece_of(owner), index
        if plan.result is not None:
            owner, arranged = plan.result
            self.result = found[owner] if type(owner) is int else self.arrangements[arranged.node]

    # Makes the new pieces, and then says what each needs.
    cdef int divide(self, Building built, str name) except -1:
        cdef PiecePlan planned
        cdef Piece piece
        cdef dict holding
        self.pieces = []
        for planned in self.plan.pieces:
            holding = {}
            for stage in planned.holding:
                holding[stage] = built.operators[stage]
            self.pieces.append(new_piece(name + planned.name if planned.owned else planned.name,
                                         planned, [built.stages[stage] for stage in planned.stages],
                                         holding))
        for piece in self.pieces:
            for slot in piece.plan.found:
                needed = (<tuple> self.found[slot])[0]
                if needed not in piece.needs:
                    piece.needs.append(needed)
            for made in piece.plan.made:
                piece.needs.append(self.piece_of(made))
        return 0

    cdef Piece piece_of(self, PiecePlan planned):
        return self.pieces[self.plan.pieces.index(planned)]

    @property
    def shared(self):
        """The traces of the found arrangements, each once: there may be two ways to find one."""
        cdef dict traces = {}
        cdef Index index
        for _, index in self.found:
            traces[index.trace] = None
        return list(traces)

    @property
    def failure(self):
        """Why one of its stages failed, as `ivm.runtime.stage.Stage.failure` says; None if none has."""
        for piece in self.pieces:
            failure = (<Piece> piece).failure
            if failure is not None:
                return failure
        return None

    @property
    def installed(self):
        """The names of the arrangements that were found, and of those that were made."""
        cdef Piece piece
        cdef list reused = [], made = []
        for piece, _ in self.found:
            if piece.name not in reused:
                reused.append(piece.name)
        for piece in self.pieces:
            if piece is not self.piece:
                made.append(piece.name)
        return tuple.__new__(Installed, (tuple(reused), tuple(made)))  # spares its Python function
