"""What rendering is made of: stages in the present scope, packings, exchanges, traces."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import pyarrow as pa

from ivm.errors import Unsupported
from ivm.operators.arrange import Arrange
from ivm.operators.exchange import Deal, Exchange
from ivm.operators.operator import Operator, Reader, Region
from ivm.operators.project import Project
from ivm.operators.roundless import ArrangeRoundless
from ivm.render.pieces import Piece
from ivm.render.scopes import Rendered, Scope
from ivm.rows.format import Format
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner
from ivm.trace.trace import Trace
from ivm.workers.stage import Stage

AnyOperator = TypeVar("AnyOperator", bound=Operator)
MAX_SORTED_WORDS = 240  # `ivm.trace.sort` keeps 256 on the stack, with a time and a diff


class Mechanics:
    """Adds stages to `scope` on behalf of `piece`; `stages` lists the root's, upstream first."""

    def __init__(self, piece: Piece, root: Region, shards: int, interner: Interner) -> None:
        self.shards = shards
        self.interner = interner
        self.scope = Scope(root)
        self.piece = piece
        self.stages: list[Stage] = []
        self._owners: dict[int, Piece] = {}

    def add_stage(self, make: Callable[[int], AnyOperator]) -> tuple[AnyOperator, ...]:
        """One new operator for each shard, as the present scope's next stage."""
        operators = tuple(make(shard) for shard in range(self.shards))
        self.append(Stage(operators))
        self._owners[id(operators)] = self.piece
        return operators

    def append(self, stage: Stage) -> None:
        """Add a stage to the present scope."""
        if self.scope.loop is None:
            self.piece.stages.append(stage)
            self.stages.append(stage)
        else:
            self.scope.loop.add(stage)

    def need(self, rendered: Rendered) -> None:
        """Note that the present piece reads `rendered`."""
        owner = self._owners[id(rendered.operators)]
        if owner is not self.piece:
            self.piece.needs.add(owner)

    def stage(self, form: Format, make: Callable[[int], Operator]) -> Rendered:
        """A stage whose rows have format `form`."""
        return Rendered(self.add_stage(make), form)

    def reader(self, trace: Trace) -> Reader:
        """A new view of `trace`, which catches up when the dataflow is hydrated."""
        reader = Reader(trace)
        self.piece.readers.append(reader)
        return reader

    def packed(self, source: Rendered, picks: list[tuple[int, int]], target: Format) -> Rendered:
        """`source` with its columns moved into `target`; itself if nothing moves."""
        packing = Packing((source.format,), picks, target, self.interner)
        if packing.identity:
            return source
        region = self.scope.region
        return self.stage(
            target, lambda s: Project(region, target.words, source.operators[s], packing)
        )

    def exchanged(
        self,
        source: Rendered,
        schema: pa.Schema,
        key: Sequence[int],
        picks: list[int],
        target: Format,
    ) -> Rendered:
        """`source`'s columns `picks` in format `target`, each row in the shard of its key."""
        moves = [(0, i) for i in picks]
        if self.shards == 1:
            return self.packed(source, moves, target)
        packing = Packing((source.format,), moves, target, self.interner)
        region, layout = self.scope.region, Layout(schema, source.format)
        deals = self.add_stage(
            lambda s: Deal(
                region,
                target.words,
                source.operators[s],
                layout,
                key,
                self.interner,
                packing,
                self.shards,
            )
        )
        return self.stage(target, lambda s: Exchange(region, target.words, deals, s))

    def sealed(
        self, source: Rendered, key_words: int, strings: tuple[tuple[int, bool], ...]
    ) -> tuple[Trace, ...]:
        """Traces of `source`, whose rows are keys of `key_words` words and then values.

        `strings` are the words that hold strings, and whether they are complemented. Raises
        Unsupported for too many words.
        """
        check_sortable(source.format)
        region, words = self.scope.region, source.format.words
        arrange = ArrangeRoundless if self.scope.loop and self.scope.grows else Arrange
        operators = self.add_stage(
            lambda s: arrange(region, words, source.operators[s], key_words, strings)
        )
        traces = tuple(operator.trace for operator in operators)
        self.piece.traces += traces
        return traces


def check_sortable(form: Format) -> None:
    """Raises Unsupported for rows of a key and its values with too many words."""
    if form.words > MAX_SORTED_WORDS:
        raise Unsupported(
            f"a key and its values of {form.words} words together: at most {MAX_SORTED_WORDS} can"
            " be sorted; select or aggregate fewer columns"
        )
