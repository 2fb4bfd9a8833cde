"""Planning of rows that wait for their moment."""

from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow.nodes import TemporalFilter
from ivm.errors import SchemaMismatch, Unsupported
from ivm.operators.temporal_filter import TemporalFilter as TemporalFilterOperator
from ivm.physical.build import Every
from ivm.physical.operation import Names, Operation
from ivm.physical.operations import Strings
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planners, Planning
from ivm.rows.format import followed_by, row_format, string_words


@dataclass(frozen=True)
class TemporalFilterOperation(
    Operation, makes=TemporalFilterOperator, puts_out_what_it_reads=False
):
    """The rows whose moment, their first column, has come."""

    source: Planned
    clock: Planned
    strings: Strings

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, Every(self.clock.stage), self.strings)

    @property
    def sealed_strings(self) -> Strings:
        return self.strings

    def text(self, names: Names) -> str:
        return f"{self.source} by the clock {self.clock}"


def plan_temporal_filter(planning: Planning, node: TemporalFilter) -> Planned:
    """Events in the order of their moments, and the clock that releases them.

    Raises SchemaMismatch, and Unsupported in a loop.
    """
    if planning.scope.parent is not None:
        raise Unsupported("rows that wait for their moment in a loop")
    schema, clock = node.events.schema, node.clock.schema
    if schema.field(0).nullable or clock != pa.schema(
        [schema.field(0).with_name(name) for name in clock.names[:1]]
    ):
        raise SchemaMismatch(f"moments {schema.field(0)} for a clock of {clock}")
    form = row_format(node.schema)
    others = tuple(range(1, len(schema)))
    moments = followed_by(row_format(list(schema)[:1]), form)
    source = planning.keyed(node.events, others, [0, *others], moments, gathers=False)
    strings = string_words(schema.types, moments)
    operation = TemporalFilterOperation(source, planning.planned(node.clock), strings)
    return planning.stage(form, operation)


PLANNERS: Planners = {TemporalFilter: plan_temporal_filter}
