"""Assembly: a physical plan built for a pool, as pieces and arrangements that others can find."""

import numpy as np

from ivm.render.building cimport Building, Traces
from ivm.render.physical cimport PhysicalPlan, PiecePlan
from ivm.render.pieces cimport Index, Piece, new_index, new_piece

from ivm.results import Installed
from ivm.workers.intake import Intake


cdef class Assembly:
    """What `plan` makes, as `name`, of what was `found`; its constants are there from `now` on.

    `pieces` are the new ones, the collection's own last, and `stages` the root's, upstream first;
    `arrangements` are the new ones, and `result`, with its piece, has the collection's rows; it is
    None if none has.
    """

    def __init__(self, PhysicalPlan plan, str name, found, int shards, interner, now):
        cdef Index index
        cdef list slots = [index.traces for _, index in found]
        cdef Building built = Building(plan.depths, plan.stages, slots, shards)
        self.plan = plan
        self.found = found
        self.stages = [built.stages[stage] for stage in plan.root]
        self.readers = built.readers
        self.shared = [trace for traces in slots for trace in <tuple> traces]
        self.inputs = built.operators[0]
        self.captures = () if plan.capture is None else built.operators[plan.capture]
        for stage, layout, rows in plan.constants:
            inputs = built.operators[stage][:1]
            Intake(inputs, layout, interner).feed(rows, now, np.ones(rows.num_rows, np.int64))
        pieces = self.divide(built, name)
        self.pieces = list(pieces.values())
        self.piece = self.pieces[len(self.pieces) - 1]
        self.arrangements = {
            node: (pieces[owner], new_index(node, arranged.shape, (<Traces> arranged.traces).of(built)))
            for node, (owner, arranged) in plan.arrangements.items()
        }
        if plan.result is not None:
            owner, arranged = plan.result
            self.result = found[owner] if type(owner) is int else self.arrangements[arranged.node]

    # The new pieces by their plans.
    cdef dict divide(self, Building built, str name):
        cdef dict made = {}
        cdef Piece piece
        cdef PiecePlan planned
        for planned in self.plan.pieces:
            made[planned] = new_piece(name + planned.name if planned.owned else planned.name,
                                      planned, [built.stages[stage] for stage in planned.stages],
                                      {stage: built.operators[stage]
                                       for stage in planned.holding})
        for planned, piece in made.items():
            for slot in planned.found:
                piece.needs.add(self.found[slot][0])
            for needed in planned.made:
                piece.needs.add(made[needed])
        return made

    @property
    def failed(self):
        """Whether a loop in it did not converge."""
        for piece in self.pieces:
            if (<Piece> piece).plan.loops and piece.failed:
                return True
        return False

    @property
    def installed(self):
        """What was found and what was made, by name."""
        cdef Piece piece
        found = {piece.name: None for piece, _ in self.found}
        made = [piece.name for piece in self.pieces[:len(self.pieces) - 1]]
        return tuple.__new__(Installed, (tuple(found), tuple(made)))  # spares its Python function
