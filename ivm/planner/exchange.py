"""Planning of exchanges between processes: nothing on one, a meeting where there are more."""

from dataclasses import dataclass

from ivm.dataflow.exchange_node import Exchange
from ivm.dataflow.text import columns_text
from ivm.operators.base.mesh import Mesh
from ivm.operators.linear.own import Own as OwnOperator
from ivm.operators.linear.scatter import Scatter as ScatterOperator
from ivm.physical.build import MeetingPlan
from ivm.physical.operation import Names, Operation
from ivm.physical.operations import Strings
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planners, Planning
from ivm.rows.format import Place, row_format, string_words
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

Summed = tuple[int, int, int, int]
"""A column that is added up: its word, how many it has, and the word and the bit of its NULL."""


@dataclass(frozen=True)
class Scatter(
    Operation, makes=ScatterOperator, puts_out_what_it_reads=False, planned_as=MeetingPlan
):
    """Rows sent to the owners of `key`, or to all processes (None).

    `summed` are the columns that are only added up, where rows may travel as fewer.
    """

    source: Planned
    key: tuple[int, ...] | None
    owners: Partitioner | None
    interner: Interner
    strings: Strings
    summed: tuple[Summed, ...] | None
    mesh: Mesh

    @property
    def arguments(self) -> tuple[object, ...]:
        words = tuple(word for word, _ in self.strings)
        return (self.source, self.owners, self.interner, words, self.summed, self.mesh)

    def text(self, names: Names) -> str:
        to = "all" if self.key is None else f"owners of {columns_text(self.key)}"
        return f"{self.source} to {to}{'' if self.summed is None else ', added up'}"


@dataclass(frozen=True)
class Own(Operation, makes=OwnOperator, puts_out_what_it_reads=False):
    """The rows whose `key` this process owns, of those that all have."""

    source: Planned
    key: tuple[int, ...]
    owners: Partitioner
    mesh: Mesh

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.owners, self.mesh.member, self.mesh.members)

    def text(self, names: Names) -> str:
        return f"{self.source} by {columns_text(self.key)}"


def plan_exchange(planning: Planning, node: Exchange) -> Planned:
    """A meeting of all processes; the input itself where there is one."""
    form, picks = row_format(node.schema), [(0, i) for i in range(len(node.schema))]
    source, mesh = planning.packed(planning.planned(node.input), picks, form), planning.mesh
    if mesh is None:
        return source
    layout, key = Layout(node.schema, form), node.key
    owners = None if key is None else Partitioner(layout, key, planning.interner)
    if node.everywhere and key is not None and owners is not None:
        return planning.stage(form, Own(source, key, owners, mesh))
    strings = string_words(node.schema.types, form)
    summed = None if node.summed is None else tuple(_summed(form.places[c]) for c in node.summed)
    sent = Scatter(source, key, owners, planning.interner, strings, summed, mesh)
    return planning.stage(form, sent)


def _summed(place: Place) -> Summed:
    return place.word, place.words, place.null_word, place.null_bit


PLANNERS: Planners = {Exchange: plan_exchange}
