"""Planning of window functions: finds the places of arguments, and a kernel for each call."""

import math
from dataclasses import dataclass
from typing import assert_never, get_args

import pyarrow as pa

from ivm.dataflow.aggregates import (
    Aggregate,
    Calendar,
    End,
    Exclusion,
    FrameUnit,
    Order,
    WindowCall,
    window_kind,
)
from ivm.dataflow.nodes import Window
from ivm.dataflow.text import window_call_text
from ivm.errors import Unsupported
from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.aggregates.array_agg import ArrayAgg
from ivm.operators.aggregates.collect import Gathering
from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.aggregates.ordering import Ordering
from ivm.operators.aggregates.string_agg import StringAgg
from ivm.operators.windows.frame_aggregates import FrameExtreme, FrameGathering, FrameSum
from ivm.operators.windows.frames import Frame
from ivm.operators.windows.functions import Buckets, Numbering, WindowFunction
from ivm.operators.windows.in_loop import WindowLogic
from ivm.operators.windows.measures import Measure
from ivm.operators.windows.values import FrameValue, Neighbour
from ivm.operators.windows.window import Window as WindowOperator
from ivm.physical.build import New, TracePlan
from ivm.physical.operation import Names, Operation, State
from ivm.physical.operations import KeyOrder
from ivm.physical.reduce_operations import LogicPlan, ReduceInLoop, Settle, SettlingPlan
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planners, Planning
from ivm.planner.reduce import OVERFLOW, TOO_LONG
from ivm.rows.format import (
    Format,
    Place,
    followed_by,
    is_interned,
    ordered_format,
    row_format,
    string_words,
)
from ivm.rows.hashing import Partitioner
from ivm.rows.interner import Interner, pinned_word_of
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.values.types import INTERVAL

NO_NUMBER = b"the number of ntile() or nth_value() is below 1"


class Values:
    """The layout of a partition's rows: in order, with the columns of `node` and the place of each.

    The columns of the order come first and then the others, but for the key's. An argument that is
    among the key, or lies complemented because it is ordered by, has a plain copy behind them.
    """

    def __init__(self, node: Window) -> None:
        self.schema = node.input.schema
        named: dict[int, Order] = {}
        for o in node.order:
            named.setdefault(o.column, o)
        self.order = tuple(named.values())
        others = [i for i in range(len(self.schema)) if i not in node.key and i not in named]
        arguments = [c for call in node.calls for c in call.reads()]
        copied = [c for c in dict.fromkeys(arguments) if not _plain(c, node.key, named)]
        self.columns = [*named, *others, *copied]
        self.format = ordered_format(
            [self.schema.field(c) for c in self.columns],
            [o.descending for o in self.order] + [False] * len([*others, *copied]),
            [o.nulls_first for o in self.order] + [False] * len([*others, *copied]),
            prefixed=True,
        )
        self.strings = [is_interned(self.schema.field(c).type) for c in self.columns]

    @property
    def order_words(self) -> int:
        """The leading words in which peers agree."""
        if not self.order:
            return 0
        last = self.format.places[len(self.order) - 1]
        return last.word + last.words

    def argument(self, column: int) -> int:
        """The one of `columns` that has this column's values plain."""
        return len(self.columns) - 1 - self.columns[::-1].index(column)

    def place(self, column: int | None) -> Place | None:
        """The place of a column's values plain; None for no column."""
        return None if column is None else self.format.places[self.argument(column)]


@dataclass(frozen=True)
class WindowPlan(LogicPlan):
    """The calls of `node` over partitions whose rows lie as `values` says."""

    node: Window
    values: Values
    results: Format
    interner: Interner

    def ordering(self) -> Ordering:
        """The order of a partition's rows."""
        return Ordering(self.values.format, self.values.strings, self.interner)

    def functions(self) -> tuple[WindowFunction, ...]:
        """The kernels of the calls (raises Unsupported)."""
        return tuple(
            _function(call, self, place)
            for call, place in zip(self.node.calls, self.results.places, strict=True)
        )

    def make(self) -> Logic:
        parts = (self.ordering(), self.values.order_words, self.functions(), self.results.words)
        return WindowLogic(*parts)

    def __str__(self) -> str:
        return ", ".join(f"{c.name} := {window_call_text(c)}" for c in self.node.calls)


@dataclass(frozen=True)
class WindowOperation(
    Operation,
    makes=WindowOperator,
    puts_out_what_it_reads=False,
    state=State("totals", "groups", "totals", "totals"),
):
    """Windows at the root, over the rows of changed partitions in order."""

    trace: TracePlan
    by: KeyOrder
    owners: Partitioner
    calls: WindowPlan

    @property
    def arguments(self) -> tuple[object, ...]:
        ordering, functions = New(self.calls.ordering), New(self.calls.functions)
        peers, width = self.calls.values.order_words, self.calls.results.words
        return (self.trace, self.owners, ordering, peers, functions, width)

    def text(self, names: Names) -> str:
        return f"{names(self.trace)} {self.by}: {self.calls}"


def plan_window(planning: Planning, node: Window) -> Planned:
    """Partitions in order, and the calls over them."""
    values = Values(node)
    for call in node.calls:
        _check_frame(call, values)
        if not call.nullable and _may_be_null(call, values.schema):
            raise Unsupported(
                f"the {call.function} {call.name!r} may be NULL, but is said not to be"
            )
    key_format = row_format([values.schema.field(i) for i in node.key])
    rows = followed_by(key_format, values.format)
    taken = [*node.key, *values.columns]
    types = [values.schema.field(i).type for i in taken]
    fields = [pa.field(c.name, c.type, c.nullable) for c in node.calls]
    plain = [False] * len(fields)
    results = ordered_format(fields, plain, plain)
    form = Format(rows.words + 1 + results.words, ())
    calls = WindowPlan(node, values, results, planning.interner)
    by = KeyOrder(node.key, values.order)
    owners = planning.owners(pa.schema([values.schema.field(i) for i in node.key]), key_format)
    words, strings = key_format.words, string_words(types, rows)
    if planning.scope.depth > 1:
        source = planning.keyed(node.input, node.key, taken, rows)
        in_loop = ReduceInLoop(source, by, words, calls, strings, owners)
        windowed = planning.stage(form, in_loop)
    else:
        source = planning.moved(node.input, taken, rows)
        trace = planning.sealed(source, by, words, strings)
        windowed = planning.stage(form, WindowOperation(trace, by, owners, calls))
    return _unpacked(planning, node, windowed, taken, rows, results)


def _unpacked(
    planning: Planning,
    node: Window,
    windowed: Planned,
    taken: list[int],
    rows: Format,
    results: Format,
) -> Planned:
    """The rows of `node` from the columns `taken` of its input, then the `results`."""
    form = row_format(node.schema)
    picks = [(0, taken.index(i)) for i in range(len(node.input.schema))]
    picks += [(1, i) for i in range(len(node.calls))]
    packing = Packing((rows, results), picks, form, planning.interner)
    named = Layout(node.input.schema)
    naming = Packing((rows,), picks[: len(node.input.schema)], row_format(named.schema))
    settling = SettlingPlan(packing, naming, named, planning.interner)
    return planning.stage(form, Settle(windowed, rows.words, settling))


_FARTHEST = 1 << 62
"""No partition has as many rows, and with a row's number added this is an int64."""


def _function(call: WindowCall, plan: WindowPlan, result: Place) -> WindowFunction:
    """The kernel of one call (raises Unsupported)."""
    values, interner = plan.values, plan.interner
    count = min(max(call.count, -_FARTHEST), _FARTHEST)
    varies = values.place(call.varies)
    match window_kind(call.function):
        case "number":
            _check_number(call)
            if call.function == "ntile":
                return Buckets(count, varies, pinned_word_of(interner, NO_NUMBER), result)
            return Numbering(call.function, result)
        case "linear":
            accumulation = _accumulation(call, values, interner)
            return FrameSum(accumulation, _frame(call, plan), result)
        case "neighbour":
            argument, _ = _argument(call, values)
            one = count if varies is None else 1
            ahead = one if call.function == "lead" else -one
            default = values.place(call.default)
            return Neighbour(ahead, varies, call.skips_nulls, argument, default, result)
        case "pick":
            argument, _ = _argument(call, values)
            numbers = (count if call.function == "nth_value" else 1, varies, call.skips_nulls)
            invalid = pinned_word_of(interner, NO_NUMBER)
            frame = _frame(call, plan)
            return FrameValue(call.function, *numbers, frame, argument, invalid, result)
        case "extreme":
            argument, is_string = _argument(call, values)
            frame = _frame(call, plan)
            return FrameExtreme(call.function, frame, argument, is_string, interner, result)
        case "collection":
            return FrameGathering(_gathering(call, plan), _frame(call, plan), result)
        case kind:
            assert_never(kind)


def _argument(call: WindowCall, values: Values) -> tuple[Place, bool]:
    """The place of the value that a call may take as it is, and whether it is interned.

    Raises Unsupported unless the call's result has its type.
    """
    for column in (call.column, call.default):
        if column is not None and values.schema.field(column).type != call.type:
            given = values.schema.field(column).type
            raise Unsupported(f"a {call.function} of {given} as {call.type}")
    assert call.column is not None  # as `checks` sees to
    at = values.argument(call.column)
    return values.format.places[at], values.strings[at]


def _check_frame(call: WindowCall, values: Values) -> None:
    """Raise Unsupported for a frame whose ends are no numbers of rows or groups, or distances."""
    frame = call.frame
    unit, ends = frame.unit, (frame.start, frame.end)
    first = values.schema.field(values.columns[0]).type if values.order else None
    by = first if unit == "range" else None
    without_order = unit == "range" and first is None and any(ends)
    known = unit in get_args(FrameUnit) and frame.exclude in get_args(Exclusion)
    if not known or not all(_fits(end, by) for end in ends) or without_order:
        raise Unsupported(f"{unit} between {ends[0]!r} and {ends[1]!r} by an order of {first}")


def _fits(end: End, by: pa.DataType | None) -> bool:
    """Whether `end` is a number of rows or groups (None), or a distance of this type."""
    if isinstance(end, Calendar):
        return by is not None and (pa.types.is_date(by) or pa.types.is_timestamp(by))
    if end is None:
        return True
    if by is not None and pa.types.is_floating(by):
        return not math.isnan(end)
    if end == 0 or by is None:
        return isinstance(end, int)
    exact = pa.types.is_integer(by) or pa.types.is_decimal(by) or by == INTERVAL
    return isinstance(end, int) and (exact or pa.types.is_temporal(by))


def _may_be_null(call: WindowCall, given: pa.Schema) -> bool:
    """Whether a call may be NULL for a row of `given`."""
    kind = window_kind(call.function)
    if call.varies is not None and given.field(call.varies).nullable:
        return True
    if kind == "number" or call.function == "count":
        return False
    taken = (call.column, call.other, call.default)
    if any(given.field(c).nullable for c in taken if c is not None) and call.function != "list":
        return True
    if kind == "neighbour":
        stays = call.count == 0 and call.varies is None
        return not stays and call.default is None
    first = call.function != "nth_value" or (call.count == 1 and call.varies is None)
    return not (call.frame.holds_row and first) or call.where is not None


def _check_number(call: WindowCall) -> None:
    """Raise Unsupported for a number of a row in another type, or for no bucket."""
    fraction = call.function in ("percent_rank", "cume_dist")
    fits = pa.types.is_float64 if fraction else pa.types.is_signed_integer
    if not fits(call.type) or (call.function == "ntile" and call.varies is None and call.count < 1):
        raise Unsupported(f"a {call.function} of {call.count} as {call.type}")


def _accumulation(call: WindowCall, values: Values, interner: Interner) -> Accumulation:
    """The one aggregate of a call, with a result of its own."""
    column, other = (None if c is None else values.argument(c) for c in (call.column, call.other))
    aggregate = Aggregate(
        call.function,  # type: ignore[arg-type]
        column,
        call.name,
        call.type,
        call.nullable,
        other,
    )
    given = [values.schema.field(c) for c in values.columns]
    overflow = pinned_word_of(interner, OVERFLOW)
    return Accumulation([aggregate], given, values.format, _alone(call), overflow)


def _alone(call: WindowCall) -> Format:
    """The format of a call's result by itself."""
    return ordered_format([pa.field(call.name, call.type, call.nullable)], [False], [False])


def _gathering(call: WindowCall, plan: WindowPlan) -> Gathering:
    """The list or text of a call's values (raises Unsupported)."""
    values, interner = plan.values, plan.interner
    assert call.column is not None  # as `checks` sees to
    kind = values.schema.field(call.column).type
    gives = kind if call.function == "join" else pa.list_(kind)
    if call.type != gives:
        raise Unsupported(f"a {call.function} of {kind} as {call.type}")
    where = -1 if call.where is None else values.argument(call.where)
    column, too_long = values.argument(call.column), pinned_word_of(interner, TOO_LONG)
    parts = (column, where, _alone(call), too_long, interner)
    if call.function == "join":
        separator = str(call.parameter or "").encode()
        return StringAgg(plan.ordering(), values.format, *parts, separator=separator)
    return ArrayAgg(plan.ordering(), values.format, *parts, type=call.type, distinct=False)


def _plain(column: int, key: tuple[int, ...], order: dict[int, Order]) -> bool:
    """Whether a column lies among the values as it is."""
    o = order.get(column)
    return column not in key and (o is None or not (o.descending or o.nulls_first))


def _frame(call: WindowCall, plan: WindowPlan) -> Frame:
    f, values = call.frame, plan.values
    measure = None
    if f.unit == "range" and (f.start or f.end):
        kind = values.schema.field(values.columns[0]).type
        measure = Measure(f.start, f.end, values.format.places[0], kind, plan.interner)
    return Frame(f.unit, f.start, f.end, f.exclude, measure)


PLANNERS: Planners = {Window: plan_window}
