"""What planning is made of: stages in the present scope, packings, exchanges, traces."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from ivm.errors import Unsupported
from ivm.operators.arrange import Arrange
from ivm.operators.exchange import Exchange
from ivm.operators.operator import Operator
from ivm.operators.project import Project
from ivm.operators.roundless import ArrangeRoundless
from ivm.render.building import (
    CrossingPlan,
    Every,
    Read,
    Several,
    Source,
    StagePlan,
    TracePlan,
    WholePlan,
)
from ivm.render.physical import PiecePlan
from ivm.render.scopes import Planned, Scope
from ivm.rows.format import Format
from ivm.rows.hashing import Partitioner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner

MAX_SORTED_WORDS = 240  # `ivm.trace.sort` keeps 256 on the stack, with a time and a diff


class Stages:
    """Adds stages to `scope` on behalf of `piece`; `stages` lists all, upstream first."""

    def __init__(self, piece: PiecePlan, shards: int, interner: Interner) -> None:
        self.shards = shards
        self.interner = interner
        self.depths = [1]
        self.scope = Scope(region=0, depth=1)
        self.piece = piece
        self.stages: list[StagePlan] = []
        self.root: list[int] = []
        self.open = [piece]  # the pieces that are being planned; each needs those after it
        self._owners: list[PiecePlan] = []

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Let what is planned meanwhile be added to `scope`."""
        outer, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = outer

    def add(self, stage: StagePlan) -> int:
        """Add a stage to the present scope: its number."""
        number = len(self.stages)
        self.stages.append(stage)
        self._owners.append(self.piece)
        if self.scope.body is None:
            self.piece.stages.append(number)
            self.root.append(number)
        else:
            self.scope.body.append(number)
        return number

    def stage(self, form: Format, kind: type[Operator], *arguments: object) -> Planned:
        """A stage of operators `kind`, whose rows have format `form`, made with `arguments`.

        Of these, `Planned` stands for its operator in the same shard, and `TracePlan` for a reader
        of the trace, which catches up when the dataflow is hydrated.
        """
        given = tuple(_argument(argument) for argument in arguments)
        number = self.add(StagePlan(kind, self.scope.region, form.words, given))
        return Planned(number, form)

    def fallible(self, form: Format, kind: type[Operator], *arguments: object) -> Planned:
        """A stage of which rows may be errors; else as `stage`."""
        planned = self.stage(form, kind, *arguments)
        self.piece.fallible.append(planned.stage)
        return planned

    def whole(self, form: Format, kind: type[Operator], *arguments: object) -> Planned:
        """A stage of one operator for all shards; else as `stage`.

        `Planned` stands for the operators of all shards, as a tuple.
        """
        given = tuple(
            Every(argument.stage) if isinstance(argument, Planned) else _argument(argument)
            for argument in arguments
        )
        number = self.add(WholePlan(kind, self.scope.region, form.words, given))
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
        return source if packing.identity else self.stage(target, Project, source, packing)

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
        given = (
            Several([Source(source.stage) for source in sources]),
            tuple(negated),
            Partitioner(Layout(schema, form), key, self.interner),
            Packing((form,), [(0, i) for i in picks], target, self.interner),
            gathers,
        )
        number = self.add(CrossingPlan(Exchange, self.scope.region, target.words, given))
        return Planned(number, target)

    def owners(self, schema: pa.Schema, form: Format) -> Partitioner:
        """What tells which shard owns a key, of columns `schema` in format `form`."""
        return Partitioner(Layout(schema, form), range(len(schema)), self.interner)

    def sealed(
        self, source: Planned, key_words: int, strings: tuple[tuple[int, bool], ...]
    ) -> TracePlan:
        """The trace of `source`, whose rows are keys of `key_words` words and then values.

        `strings` are the words that hold strings, and whether they are complemented. Raises
        Unsupported for too many words.
        """
        words = source.format.words
        if words > MAX_SORTED_WORDS:
            raise Unsupported(
                f"a key and its values of {words} words together: at most {MAX_SORTED_WORDS} can"
                " be sorted; select or aggregate fewer columns"
            )
        roundless = self.scope.depth > 1 and self.scope.grows
        kind = ArrangeRoundless if roundless else Arrange
        stage = self.whole(source.format, kind, source, key_words, strings).stage
        self.piece.traces.append(stage)
        self.piece.strings = self.piece.strings or bool(strings)
        return TracePlan(stage=stage)


def _argument(given: object) -> object:
    if isinstance(given, Planned):
        return Source(given.stage)
    return Read(given) if isinstance(given, TracePlan) else given
