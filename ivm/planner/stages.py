"""Steps of planning: add stages to the present scope, pack rows, exchange them, seal traces."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

import pyarrow as pa

from ivm.errors import Unsupported
from ivm.operators.base.mesh import Mesh
from ivm.physical.arrangement import Arranged
from ivm.physical.build import (
    Argument,
    Every,
    Read,
    Several,
    Source,
    StagePlan,
    TracePlan,
    WholePlan,
)
from ivm.physical.loop_operations import LoopOperation
from ivm.physical.operation import Operation
from ivm.physical.operations import Arrange, ArrangeMonotonic, Exchange, KeyOrder, Project, Terms
from ivm.physical.plan import PiecePlan
from ivm.physical.scopes import Planned, Scope
from ivm.rows.format import Format
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing

MAX_SORTED_WORDS = 2040  # `ivm.trace.sorting` keeps 2064 on the stack, with a time and a diff


class Stages:
    """Adds stages to `scope` on behalf of `piece`.

    A `mesh` connects the process with others that have parts of each collection.

    `stages` lists all, upstream first, and `operations` what each of them does.
    """

    def __init__(
        self, piece: PiecePlan, shards: int, interner: Interner, mesh: Mesh | None = None
    ) -> None:
        self.shards = shards
        self.mesh = mesh
        self.interner = interner
        self.depths = [1]
        self.scope = Scope(region=0, depth=1)
        self.piece = piece
        self.stages: list[StagePlan] = []
        self.operations: list[Operation | LoopOperation] = []
        self.root: list[int] = []
        self.open = [piece]  # the pieces that are being planned; each needs those after it
        self._owners: list[PiecePlan] = []

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Add the stages that are planned meanwhile to `scope`."""
        outer, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = outer

    def add(self, stage: StagePlan, operation: Operation | LoopOperation) -> int:
        """Add a stage that does `operation` to the present scope: its number."""
        number = len(self.stages)
        self.stages.append(stage)
        self.operations.append(operation)
        self._owners.append(self.piece)
        if self.scope.body is None:
            self.piece.stages.append(number)
            self.root.append(number)
        else:
            self.scope.body.append(number)
        return number

    def stage(self, form: Format, operation: Operation) -> Planned:
        """A stage that does `operation`, whose rows have format `form`."""
        region, kind = self.scope.region, operation.planned_as
        given = tuple(_argument(each, kind) for each in operation.arguments)
        number = self.add(kind(operation.makes, region, form.words, given), operation)
        if operation.fallible:
            self.piece.fallible.append(number)
        if operation.sealed_strings is not None:
            self.piece.traces.append(number)
            self.piece.strings = self.piece.strings or bool(operation.sealed_strings)
        if operation.state is not None:
            kept = self.piece.groups if operation.state.holds == "groups" else self.piece.curves
            kept.append((number, operation.state.table))
            self.piece.states.append((operation.state.kind, number, operation.state.accounted))
        return Planned(number, form)

    def need(self, planned: Planned) -> None:
        """Note that the present piece reads `planned`.

        What is of a piece that still is being planned moves to the present one: that one needs this
        one, and if each needed the other neither would ever go.
        """
        pending = [planned.stage]
        while pending:
            number = pending.pop()
            owner = self._owners[number]
            if owner is self.piece:
                continue
            if owner not in self.open:
                self.piece.made[owner] = None
                continue
            owner.hand_over(number, self.piece)
            self._owners[number] = self.piece
            self.piece.found.update(dict.fromkeys(self.stages[number].slots))
            pending += self.stages[number].reads
            pending += (loop for loop in owner.loops if number in self.stages[loop].reads)

    def packed(self, source: Planned, picks: list[tuple[int, int]], target: Format) -> Planned:
        """`source` with its columns moved into `target`; itself if nothing moves."""
        packing = Packing((source.format,), picks, target, self.interner)
        return source if packing.identity else self.stage(target, Project(source, picks, packing))

    def exchanged(
        self,
        sources: Sequence[Planned],
        negated: Sequence[bool],
        schema: pa.Schema,
        key: Sequence[int],
        picks: list[int],
        target: Format,
        gathers: bool,
    ) -> Planned:
        """The columns `picks` of a sum in format `target`, each row in the shard of its key.

        If it `gathers`, few rows are in the first shard instead. `sources` are the terms, of one
        format; what is `negated` among them is subtracted.
        """
        form = sources[0].format
        partitioner = Partitioner(Layout(schema, form), key, self.interner)
        packing = Packing((form,), [(0, i) for i in picks], target, self.interner)
        terms = Terms(tuple(sources), tuple(negated))
        exchange = Exchange(terms, tuple(key), tuple(picks), partitioner, packing, gathers)
        return self.stage(target, exchange)

    def owners(self, schema: pa.Schema, form: Format) -> Partitioner:
        """Maps a key, of columns `schema` in format `form`, to the shard that owns it."""
        return Partitioner(Layout(schema, form), range(len(schema)), self.interner)

    def sealed(
        self,
        source: Planned,
        order: KeyOrder,
        key_words: int,
        strings: tuple[tuple[int, bool], ...],
    ) -> TracePlan:
        """The trace of `source`, whose rows are keys of `key_words` words and then values.

        `order` says which columns these are of, and `strings` which words hold strings, and whether
        they are complemented. Raises Unsupported for too many words.
        """
        words = source.format.words
        if words > MAX_SORTED_WORDS:
            raise Unsupported(
                f"a key and its values of {words:,} words together: at most "
                f"{MAX_SORTED_WORDS:,} can be sorted; select or aggregate fewer columns"
            )
        roundless = self.scope.depth > 1 and self.scope.grows
        kind = ArrangeMonotonic if roundless else Arrange
        arranged = self.stage(source.format, kind(source, order, key_words, strings))
        return TracePlan(stage=arranged.stage)


def _argument(given: object, kind: type[StagePlan]) -> object:
    """The value that stands in a stage of this `kind` for an operation's argument."""
    if isinstance(given, list):
        return Several([_read(each, kind) for each in given])
    return _read(given, kind) if isinstance(given, Planned | Arranged | TracePlan) else given


def _read(given: Planned | Arranged | TracePlan, kind: type[StagePlan]) -> Argument:
    """The value that stands there for an operator, or a trace, that is read."""
    match given:
        case Planned():
            return Every(given.stage) if kind is WholePlan else Source(given.stage)
        case Arranged():
            return Read(given.trace)
        case TracePlan():
            return Read(given)
        case _:
            assert_never(given)
