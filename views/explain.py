"""Every stage of a compilation as text: what was parsed, bound, rewritten and lowered.

In a logical plan `#7` is the column numbered 7; in the physical plan, the dataflow, `$2` is the
column at position 2.
"""

from collections.abc import Collection, Iterator
from typing import assert_never

from ivm import aggregates as agg
from ivm import dataflow as df
from ivm.expressions import Column, Expression, Literal
from ivm.traversal import children
from views.catalog import Catalog
from views.compile import deeply, existing
from views.languages import FRONT_ENDS
from views.limits import DEFAULT, Limits
from views.lowering.lower import lower
from views.plan.bound import Stage
from views.plan.nodes import (
    Aggregate,
    AggregateCall,
    Apply,
    Attribute,
    Distinct,
    During,
    Except,
    Filter,
    Fixpoint,
    Join,
    Plan,
    Project,
    Recursive,
    Scan,
    SortKey,
    TopK,
    Union,
    Unnest,
    Values,
    Window,
    WindowCall,
)
from views.plan.scalars import TRUE
from views.plan.trees import inputs
from views.rewrites import RULES
from views.rewrites.context import Context
from views.types import type_name

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%",
    "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "and": "AND", "or": "OR", "is_distinct": "IS DISTINCT FROM",
    "is_not_distinct": "IS NOT DISTINCT FROM",
}  # fmt: skip


def explain(
    query: str,
    catalog: Catalog,
    arranged: Collection[str] = (),
    language: str = "sql",
    limits: Limits = DEFAULT,
) -> tuple[Stage, ...]:
    """All stages of compiling `query`; a rewrite is shown where it changed the plan.

    The parameters are those of `compile_view`, and so are the errors.
    """
    return deeply(lambda: _explain(query, catalog, arranged, language, limits))


def _explain(
    query: str, catalog: Catalog, arranged: Collection[str], language: str, limits: Limits
) -> tuple[Stage, ...]:
    bound = FRONT_ENDS[language](query, catalog, limits)
    plan = bound.plan
    stages = [*bound.stages(), Stage("bound", plan_text(plan))]
    context = Context(bound.numbers, existing(catalog, arranged))
    for name, rule in RULES:
        before, plan = plan, rule(plan, context)
        if plan != before:
            stages.append(Stage(name, plan_text(plan)))
    node = lower(plan, context.arrangements)
    stages.append(Stage("physical", dataflow_text(node)))
    return tuple(stages)


def plan_text(plan: Plan) -> str:
    """A plan, one node on each line, inputs indented below."""
    return "\n".join(_plan_lines(plan, 0))


def _plan_lines(plan: Plan, depth: int) -> Iterator[str]:
    yield "  " * depth + _plan_line(plan)
    for part in inputs(plan):
        yield from _plan_lines(part, depth + 1)


def _plan_line(plan: Plan) -> str:
    name = type(plan).__name__
    match plan:
        case Scan():
            return f"Scan {plan.name} {_attributes(plan.attributes)}"
        case Values():
            return f"Values {len(plan.rows)} rows {_attributes(plan.attributes)}"
        case Filter():
            return f"Filter {expression_text(plan.predicate, '#')}"
        case During():
            begin, end = (
                "always" if bound is None else expression_text(bound, "#")
                for bound in (plan.begin, plan.end)
            )
            return f"During {begin} until {end}"
        case Project():
            outputs = (f"{_attribute(a)} := {expression_text(e, '#')}" for a, e in plan.outputs)
            return f"Project {', '.join(outputs)}"
        case Join() | Apply():
            mark = f" {_attribute(plan.mark)}" if plan.mark else ""
            on = f"{name} {plan.kind}{mark} on {expression_text(plan.predicate, '#')}"
            if isinstance(plan, Join) or plan.guard == TRUE:
                return on
            return f"{on} where {expression_text(plan.guard, '#')}"
        case Aggregate():
            calls = (f"{_attribute(c.attribute)} := {_call(c)}" for c in plan.calls)
            return f"Aggregate by {_attributes(plan.keys)} {', '.join(calls)}".rstrip()
        case TopK():
            keys = ", ".join(f"#{k.index}" for k in plan.keys)
            order = ", ".join(map(_sort_key, plan.order))
            ties = " with ties" if plan.ties else ""
            bounds = f"limit {plan.limit} offset {plan.offset}{ties}"
            return f"TopK by ({keys}) order ({order}) {bounds}"
        case Window():
            keys = ", ".join(f"#{k.index}" for k in plan.keys)
            order = ", ".join(map(_sort_key, plan.order))
            calls = (f"{_attribute(c.attribute)} := {_plan_call(c)}" for c in plan.calls)
            return f"Window by ({keys}) order ({order}) {', '.join(calls)}"
        case Unnest():
            outer = " outer" if plan.outer else ""
            made = _attributes((plan.element, plan.position))
            return f"Unnest{outer} {expression_text(plan.array, '#')} as {made}"
        case Recursive():
            return f"Recursive {plan.name} {_attributes(plan.attributes)}"
        case Fixpoint():
            names = ", ".join(name for name, _ in plan.bindings)
            bound = "" if plan.max_rounds is None else f" within {plan.max_rounds} rounds"
            bound += ", then stopped" if plan.stops else ""
            return f"Fixpoint {plan.result} of {names}{bound} {_attributes(plan.attributes)}"
        case Union() | Except():
            return f"{name} {_attributes(plan.attributes)}"
        case Distinct():
            return name
        case _:
            assert_never(plan)


def _call(call: AggregateCall) -> str:
    return _aggregate(
        f"{call.function}({'distinct ' if call.distinct else ''}",
        [f"#{c.index}" for c in (call.argument, call.other) if c is not None],
        call.parameter,
        [_sort_key(o) for o in call.order],
        None if call.where is None else f"#{call.where.index}",
    )


def _reduction(a: agg.Aggregate) -> str:
    return _aggregate(
        f"{a.function}(",
        [f"${c}" for c in (a.column, a.other) if c is not None],
        a.parameter,
        [_direction(f"${o.column}", o.descending, o.nulls_first) for o in a.order],
        None if a.where is None else f"${a.where}",
    )


def _aggregate(
    function: str,
    columns: list[str],
    parameter: float | str | None,
    order: list[str],
    where: str | None,
) -> str:
    given = [*columns, *([] if parameter is None else [repr(parameter)])]
    inside = ", ".join(given) or "*"
    by = f" order {', '.join(order)}" if order else ""
    return f"{function}{inside}{by}){'' if where is None else f' where {where}'}"


def _plan_call(call: WindowCall) -> str:
    second = call.default if call.other is None else call.other
    read = [None if c is None else f"#{c.index}" for c in (call.argument, second)]
    return _call_text(call.function, read[0], call.count, read[1], call.frame)


def _call_text(
    function: str, argument: str | None, count: int, second: str | None, frame: agg.Frame
) -> str:
    """A call over a window, with its frame where that is not the usual one."""
    given = [part for part in (argument, second) if part is not None]
    if function in ("lag", "lead", "nth_value", "ntile"):
        given.insert(1 if argument is not None else 0, str(count))
    if function == "count" and not given:
        given = ["*"]
    text = f"{function}({', '.join(given)})"
    if frame == agg.UP_TO_PEERS:
        return text
    return f"{text} {frame.unit} {_end(frame.start, 'first')} to {_end(frame.end, 'last')}"


def _end(end: float | None, unbounded: str) -> str:
    return unbounded if end is None else f"{end:+}" if end else "here"


def _attribute(attribute: Attribute) -> str:
    return f"{attribute.name}#{attribute.number}"


def _attributes(attributes: tuple[Attribute, ...]) -> str:
    return f"({', '.join(_attribute(a) for a in attributes)})"


def _sort_key(key: SortKey) -> str:
    return _direction(f"#{key.column.index}", key.descending, key.nulls_first)


def _direction(column: str, descending: bool, nulls_first: bool) -> str:
    nulls = " nulls first" if nulls_first else ""
    return f"{column}{' desc' if descending else ''}{nulls}"


def dataflow_text(node: df.Node) -> str:
    """A dataflow, one node on each line, inputs indented below."""
    return "\n".join(_dataflow_lines(node, 0, set()))


def _dataflow_lines(node: df.Node, depth: int, shown: set[int]) -> Iterator[str]:
    """Lines for `node`; what was shown before is only named."""
    again = id(node) in shown and bool(children(node))
    yield "  " * depth + _dataflow_line(node) + (" (as above)" if again else "")
    shown.add(id(node))
    if not again:
        for child in children(node):
            yield from _dataflow_lines(child, depth + 1, shown)


def _dataflow_line(node: df.Node) -> str:
    name = type(node).__name__
    match node:
        case df.Get() | df.Recursive():
            return f"{name} {node.name}"
        case df.Constant():
            return f"Constant {len(node.rows)} rows"
        case df.Filter():
            return f"Filter {expression_text(node.predicate, '$')}"
        case df.Map():
            outputs = (f"{n} := {expression_text(e, '$')}" for n, e in node.outputs)
            return f"Map {', '.join(outputs)}"
        case df.Arrange():
            return f"Arrange by ({', '.join(f'${i}' for i in node.key)})"
        case df.DeltaJoin():
            paths = (
                (i, *(step.relation for step in path.lookups)) for i, path in enumerate(node.paths)
            )
            routes = ", ".join(" > ".join(map(str, path)) for path in paths)
            return f"DeltaJoin {routes} to ({', '.join(f'{n} := ${i}' for n, i in node.outputs)})"
        case df.Join():
            return f"{name} to ({', '.join(f'{n} := ${i}' for n, i in node.outputs)})"
        case df.Reduce():
            calls = (f"{a.name} := {_reduction(a)}" for a in node.aggregates)
            return f"Reduce by ({', '.join(f'${i}' for i in node.key)}) {', '.join(calls)}"
        case df.Due():
            return f"Due by {node.clock.schema.names[0]}"
        case df.TopK():
            order = (_direction(f"${o.column}", o.descending, o.nulls_first) for o in node.order)
            key = ", ".join(f"${i}" for i in node.key)
            by = f"TopK by ({key}) order ({', '.join(order)})"
            return f"{by} limit {node.limit} offset {node.offset}"
        case df.Window():
            order = (_direction(f"${o.column}", o.descending, o.nulls_first) for o in node.order)
            key = ", ".join(f"${i}" for i in node.key)
            made = ", ".join(f"{c.name} := {_dataflow_call(c)}" for c in node.calls)
            return f"Window by ({key}) order ({', '.join(order)}) {made}"
        case df.Iterate():
            return f"Iterate {node.result}"
        case df.EnterAt():
            return f"EnterAt {expression_text(node.priority, '$')} into {node.into}"
        case df.Threshold():
            return f"Threshold{'' if node.limit is None else f' limit {node.limit}'}"
        case df.FlatMap():
            return f"FlatMap to ({', '.join(node.schema.names)})"
        case df.Consolidate() | df.Concat() | df.Negate() | df.Distinct():
            return name
        case _:
            assert_never(node)


def _dataflow_call(call: agg.WindowCall) -> str:
    second = call.default if call.other is None else call.other
    read = [None if c is None else f"${c}" for c in (call.column, second)]
    return _call_text(call.function, read[0], call.count, read[1], call.frame)


def expression_text(expression: Expression, mark: str) -> str:
    """An expression in the manner of SQL, with `mark` before column numbers."""
    if isinstance(expression, Column):
        return f"{mark}{expression.index}"
    if isinstance(expression, Literal):
        return "NULL" if expression.value is None else repr(expression.value)
    arguments = [expression_text(a, mark) for a in expression.arguments]
    if expression.function in _INFIX:
        return f"({f' {_INFIX[expression.function]} '.join(arguments)})"
    if expression.function == "cast":
        return f"cast({arguments[0]} as {type_name(expression.type)})"
    return f"{expression.function}({', '.join(arguments)})"
