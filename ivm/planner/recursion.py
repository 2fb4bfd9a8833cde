"""Planning of recursion: a loop's stages in a scope of its own, one coordinate of time deeper."""

import pyarrow as pa

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.dataflow.loop_nodes import free_names, passed_names, recursive_schemas
from ivm.dataflow.nodes import EnterAt, Iterate, Map, Node, Recursive, columns
from ivm.errors import Unsupported
from ivm.physical import loop_operations as op
from ivm.physical.build import LoopPlan
from ivm.physical.scopes import Planned, Scope
from ivm.planner.planning import Planners, Planning
from ivm.rows.format import row_format, string_words
from ivm.rows.packing import Packing


def plan_recursive(planning: Planning, node: Recursive) -> Planned:
    """The variable of a loop that binds the name."""
    return planning.scope.variables[node.name]


def plan_enter_at(planning: Planning, node: EnterAt) -> Planned:
    """Rows from outside with their priority, which the loop takes off them (raises Unsupported)."""
    inner = planning.scope
    from_inside = free_names(node.input) & inner.bodies.keys()
    if inner.parent is None or node.into not in inner.variables or from_inside:
        raise Unsupported(f"rows can enter the loop of {node.into!r} from outside of it only")
    named: list[tuple[str, Expression]] = [
        (f.name, column) for f, column in zip(node.schema, columns(node.input), strict=True)
    ]
    zero = Literal(0, pa.int64())
    priority = Call("coalesce", (node.priority, zero), pa.int64(), False)
    with planning.within(inner.parent):
        outside = planning.planned(Map(node.input, (*named, ("priority", priority))))
    form, word = row_format(node.schema), outside.format.places[-1].word
    packing = Packing((outside.format,), [(0, i) for i in range(len(named))], form)
    return planning.stage(form, op.EnterAt(outside, packing, word))


def plan_iterate(planning: Planning, node: Iterate) -> Planned:
    """A loop of variables, their bodies and the feedback of these; its result leaves it."""
    outer, grows, depth = planning.scope, planning.only_grows(node), planning.scope.depth + 1
    schemas, stages = _schemas(node), list[int]()
    inner = Scope(len(planning.depths), depth, stages, outer, grows, dict(node.bindings))
    planning.depths.append(depth)
    bound = planning.bounds.rounds
    rounds = bound if node.max_rounds is None else min(bound, node.max_rounds)
    limited = node.max_rounds is not None and node.max_rounds <= bound
    last = node.max_rounds if node.stops and limited else None
    owners: list[str] = []  # of each of the stages, the binding that it is of
    with planning.within(inner):
        for name, schema in schemas.items():
            inner.variables[name] = planning.stage(row_format(schema), op.Variable(name))
            owners += [name] * (len(stages) - len(owners))
        bodies = {}
        for name, body in node.bindings:
            bodies[name] = planning.planned(body)
            owners += [name] * (len(stages) - len(owners))
        for name, body in node.bindings:
            _feed_back(planning, body, bodies[name], inner.variables[name], last)
            owners += [name] * (len(stages) - len(owners))
        result = bodies[node.result]
        collected = planning.stage(result.format, op.Collect(result))
    owners += [node.result] * (len(stages) - len(owners))
    regions, bounds = (outer.region, inner.region), planning.bounds
    strings = any(string_words(schema.types, row_format(schema)) for schema in schemas.values())
    interner = planning.interner if strings else None
    loop = LoopPlan(*regions, stages, owners, rounds, limited, bounds, interner)
    names = tuple(inner.variables)
    planning.piece.loops.append(planning.add(loop, op.LoopOperation(names, depth, rounds, grows)))
    return planning.stage(result.format, op.Leave(collected))


def _schemas(node: Iterate) -> dict[str, pa.Schema]:
    """The schema of each name, as its bodies refer to it: their columns may be nullable."""
    schemas = {name: body.schema for name, body in node.bindings}
    for _, body in node.bindings:
        schemas |= {n: s for n, s in recursive_schemas(body).items() if n in schemas}
    return schemas


# Where nothing in a cycle sums up, terms that cancel would go round for ever in two shards.
def _feed_back(
    planning: Planning, node: Node, body: Planned, variable: Planned, rounds: int | None
) -> None:
    form, schema = variable.format, node.schema
    everything = list(range(len(schema)))
    if planning.shards > 1 and passed_names(node) & planning.scope.bodies.keys():
        source = planning.exchanged([body], [False], schema, everything, everything, form, True)
    else:
        source = planning.packed(body, [(0, i) for i in everything], form)
    planning.stage(form, op.Feedback(source, variable, rounds))


PLANNERS: Planners = {
    Recursive: plan_recursive,
    Iterate: plan_iterate,
    EnterAt: plan_enter_at,
}
