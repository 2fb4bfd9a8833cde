"""Pieces: each holds the stages that produce one arrangement or one capture of a pool.

A piece lives while an input or a dataflow needs it, directly or through other pieces. Pieces and
indexes are compiled, since a dataflow that comes and goes costs little else than making them.
"""

cimport cython

import pyarrow as pa

from ivm.physical.plan cimport PiecePlan
from ivm.runtime.stage cimport Stage

from ivm.dataflow.traversal import renamed
from ivm.results import Found
from ivm.rows.layout import Layout
from ivm.runtime.lookups import look_up


@cython.freelist(16)    # they come and go with dataflows
cdef class Piece:
    """The stages and operators of a piece of a plan, and the pieces that it `needs`."""

    def __init__(self, str name, PiecePlan plan, list stages, dict operators, needs=()):
        self.name = name
        self.plan = plan
        self.arranged = plan.arranged
        self.stages = stages
        self.operators = operators
        self.needs = list(needs)
        self.users = 0

    def all_needed(self):
        """This piece and all that it needs, each once."""
        seen = set()
        pending = [self]
        while pending:
            piece = pending.pop()
            if piece not in seen:
                seen.add(piece)
                yield piece
                pending += (<Piece> piece).needs

    @property
    def failure(self):
        """Why one of its stages failed, as `ivm.runtime.stage.Stage.failure` says; None if none has."""
        for stage in self.stages:
            failure = (<Stage> stage).failure
            if failure is not None:
                return failure
        return None

    @property
    def fallible(self):
        """The operators whose rows may be errors."""
        return [operator for stage in self.plan.fallible for operator in self.operators[stage]]

    @property
    def traces(self):
        """All that its operators seal."""
        return [operator.trace for stage in self.plan.traces for operator in self.operators[stage]]

    @property
    def groups(self):
        """The tables of keys that its operators hold."""
        return self._held(self.plan.groups)

    @property
    def curves(self):
        """The histories that its operators hold."""
        return self._held(self.plan.curves)

    @property
    def states(self):
        """The state that its operators hold beside traces, each with its kind."""
        return [(kind, state) for kind, stage, attribute in self.plan.states
                for state in self._held([(stage, attribute)])]

    cdef int take_names(self, dict names) except -1:
        for former, name in names.items():
            rest = self.name.removeprefix(former)
            if rest is not self.name and rest[:1] in ("", "[", "."):
                self.name = name + rest
                break
        if self.arranged is not None:
            self.arranged = renamed(self.arranged, names)
        return 0

    def _held(self, parts):
        return [operator if attribute is None else getattr(operator, attribute)
                for stage, attribute in parts for operator in self.operators[stage]]


@cython.freelist(16)    # they come and go with dataflows
cdef class Index:
    """An arrangement: its node, the layout of its rows, and its trace."""

    def __init__(self, node, shape, Trace trace):
        self.node = node
        self.shape = shape
        self.trace = trace

    cdef int take_names(self, dict names) except -1:
        self.node = renamed(self.node, names)
        return 0

    @property
    def key(self):
        """The layout of the key's columns, which is made for the first look-up."""
        if self._key is None:
            self._key = Layout(pa.schema(list(self.node.schema)[:len(self.node.key)]))
        return self._key

    @property
    def key_names(self):
        """The names of the key's columns."""
        if self._key_names is None:
            self._key_names = tuple(self.node.schema.names[:len(self.node.key)])
        return self._key_names

    def look_up(self, keys, layout, interner):
        """The published rows, laid out by `layout`, with each of `keys` (raises SchemaMismatch)."""
        chosen = keys.select(self.key_names)
        return Found(*look_up(self.trace, self.shape.restored, layout, interner, chosen, self.key))


# These two spare the protocol of a call.
cdef Piece new_piece(str name, PiecePlan plan, list stages, dict operators):
    cdef Piece piece = Piece.__new__(Piece)
    piece.name = name
    piece.plan = plan
    piece.arranged = plan.arranged
    piece.stages = stages
    piece.operators = operators
    piece.needs = []
    return piece


cdef Index new_index(node, shape, Trace trace):
    cdef Index index = Index.__new__(Index)
    index.node = node
    index.shape = shape
    index.trace = trace
    return index
