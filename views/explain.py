"""Prints every stage of a compilation as text: parsed, bound, rewritten and lowered.

In a logical plan `#7` is the column numbered 7; in the dataflow `$2` is the column at position 2.
The physical plan of a dataflow is the pool's to tell: `Pool.plan_text`.
"""

from collections.abc import Collection, Iterator
from typing import assert_never

from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Expression
from ivm.dataflow.text import (
    call_text,
    expression_text,
    framed_text,
    order_text,
)
from views.catalog import Catalog
from views.compile import deeply, existing
from views.languages import FRONT_ENDS
from views.limits import DEFAULT, Limits
from views.lowering.lower import lower
from views.plan.bound import Stage
from views.plan.nodes import (
    AggregateCall,
    Apply,
    Attribute,
    Constant,
    Distinct,
    Except,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    SortKey,
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
    WindowCall,
)
from views.plan.scalars import TRUE
from views.plan.trees import inputs
from views.rewrites import RULES
from views.rewrites.context import Context
from views.types import shown_type


def explain(
    query: str,
    catalog: Catalog,
    arranged: Collection[str] = (),
    language: str = "sql",
    limits: Limits = DEFAULT,
) -> tuple[Stage, ...]:
    """Lists all stages of compiling `query`; a rewrite is shown where it changed the plan.

    The parameters are those of `compile_view`, and so are the errors.
    """
    return deeply(lambda: _explain(query, catalog, arranged, language, limits), query)


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
    stages.append(Stage("dataflow", dataflow_text(node)))
    return tuple(stages)


def plan_text(plan: Plan) -> str:
    """Prints a plan, one node on each line, inputs indented below."""
    return "\n".join(_plan_lines(plan, 0))


def _plan_lines(plan: Plan, depth: int) -> Iterator[str]:
    yield "  " * depth + _plan_line(plan)
    for part in inputs(plan):
        yield from _plan_lines(part, depth + 1)


def _plan_line(plan: Plan) -> str:
    name = type(plan).__name__
    match plan:
        case Get():
            return f"Get {plan.name} {_attributes(plan.attributes)}"
        case Constant():
            return f"Constant {len(plan.rows)} rows {_attributes(plan.attributes)}"
        case Filter():
            return f"Filter {_logical(plan.predicate)}"
        case TemporalFilter():
            begin, end = (
                "always" if bound is None else _logical(bound) for bound in (plan.begin, plan.end)
            )
            return f"TemporalFilter {begin} until {end}"
        case Map():
            outputs = (f"{_attribute(a)} := {_logical(e)}" for a, e in plan.outputs)
            return f"Map {', '.join(outputs)}"
        case Join() | Apply():
            mark = f" {_attribute(plan.mark)}" if plan.mark else ""
            on = f"{name} {plan.kind}{mark} on {_logical(plan.predicate)}"
            if isinstance(plan, Join) or plan.guard == TRUE:
                return on
            return f"{on} where {_logical(plan.guard)}"
        case Reduce():
            calls = (f"{_attribute(c.attribute)} := {_call(c)}" for c in plan.calls)
            return f"Reduce by {_attributes(plan.keys)} {', '.join(calls)}".rstrip()
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
            made = _attributes((*plan.elements, plan.position))
            return f"Unnest{outer} {', '.join(map(_logical, plan.arrays))} as {made}"
        case Recursive():
            return f"Recursive {plan.name} {_attributes(plan.attributes)}"
        case Iterate():
            names = ", ".join(name for name, _ in plan.bindings)
            bound = "" if plan.max_rounds is None else f" within {plan.max_rounds} rounds"
            bound += ", then stopped" if plan.stops else ""
            bound += "".join(f", {n} by {_logical(by)}" for n, by in plan.priorities)
            return f"Iterate {plan.result} of {names}{bound} {_attributes(plan.attributes)}"
        case Union() | Except():
            return f"{name} {_attributes(plan.attributes)}"
        case Distinct():
            return name
        case _:
            assert_never(plan)


def _call(call: AggregateCall) -> str:
    return call_text(
        f"{call.function}({'distinct ' if call.distinct else ''}",
        [f"#{c.index}" for c in (call.argument, call.other) if c is not None],
        call.parameter,
        [_sort_key(o) for o in call.order],
        None if call.where is None else f"#{call.where.index}",
    )


def _plan_call(call: WindowCall) -> str:
    second = call.default if call.other is None else call.other
    read = (call.argument, second, call.varies, call.where)
    return framed_text(call, *(None if c is None else f"#{c.index}" for c in read))


def _attribute(attribute: Attribute) -> str:
    return f"{attribute.name}#{attribute.number}"


def _attributes(attributes: tuple[Attribute, ...]) -> str:
    return f"({', '.join(_attribute(a) for a in attributes)})"


def _sort_key(key: SortKey) -> str:
    return order_text(f"#{key.column.index}", key.descending, key.nulls_first)


def dataflow_text(node: df.Node) -> str:
    """Prints a dataflow, one node on each line, inputs indented below."""
    return "\n".join(_dataflow_lines(node, 0, set()))


def _dataflow_lines(node: df.Node, depth: int, shown: set[int]) -> Iterator[str]:
    """Yields the lines of `node`; a node that was shown before is only named."""
    again = id(node) in shown and bool(node.children)
    line = f"{type(node).__name__} {node.text(shown_type)}".rstrip()
    yield "  " * depth + line + (" (as above)" if again else "")
    shown.add(id(node))
    if not again:
        for child in node.children:
            yield from _dataflow_lines(child, depth + 1, shown)


def _logical(expression: Expression) -> str:
    """An expression over numbered columns."""
    return expression_text(expression, lambda i: f"#{i}", shown_type)
