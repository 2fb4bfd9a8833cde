"""Validation checks that nodes fit together, before they are planned.

A node names columns of its inputs by number, and inputs that belong together have the same types.
What functions take and give is checked where they are compiled, and what aggregates and window
calls give where they are planned.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import accumulate
from typing import assert_never

import pyarrow as pa

from ivm.dataflow.aggregates import AGGREGATES, WINDOW_FUNCTIONS, WindowFunction, window_kind
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Constant,
    DeltaJoin,
    Distinct,
    EnterAt,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Path,
    Recursive,
    Reduce,
    TemporalFilter,
    Threshold,
    TopK,
    Union,
    Window,
)
from ivm.dataflow.traversal import free_names, recursive_schemas, walk
from ivm.errors import SchemaMismatch, Unsupported


def check(node: Node) -> None:
    """Check `node` and all that it reads: each must fit the nodes that it reads.

    Raises SchemaMismatch for a column that does not exist or has another type; Unsupported for an
    object that is no node, for an impossible number of rows or rounds, for a recursive name that
    no loop binds, and for a join whose paths do not belong together.

    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> check(Arrange(orders, (1,)))
    Traceback (most recent call last):
    ivm.errors.SchemaMismatch: an arrangement of column 1, where there are 1
    """
    check_parts(node)
    for each in walk(node):
        if not isinstance(each, Node):
            raise Unsupported(f"no operator for {type(each).__name__}")
        _check_node(each)
    if names := free_names(node):
        raise Unsupported(f"no loop binds {', '.join(map(repr, sorted(names)))}")


def _check_node(node: Node) -> None:
    """Check `node` itself, as `check` does."""
    match node:
        case Filter():
            _filter(node)
        case Map():
            _map(node)
        case EnterAt():
            _enter_at(node)
        case Union():
            _union(node)
        case Constant():
            _constant(node)
        case Arrange():
            _arrange(node)
        case Join():
            _join(node)
        case DeltaJoin():
            _delta_join(node)
        case Reduce():
            _reduce(node)
        case Threshold():
            _threshold(node)
        case TopK():
            _top_k(node)
        case Window():
            _window(node)
        case Iterate():
            _iterate(node)
        case Get() | FlatMap() | Consolidate() | Negate() | Distinct() | Recursive():
            pass  # any input fits; a name is looked up where it is planned
        case TemporalFilter():
            pass  # its moments are compared with its clock where it is planned
        case _:
            assert_never(node)


def check_parts(node: Hashable) -> None:
    """Raise Unsupported for a node with a part that has no hash, such as a list."""
    try:
        hash(node)
    except TypeError as error:
        raise Unsupported(f"a node with a part that cannot be compared: {error}") from error


def _columns(what: str, schema: pa.Schema, columns: Iterable[int | None]) -> None:
    """Check that each of `columns` that is not None is one of `schema`."""
    for column in columns:
        if column is not None and not 0 <= column < len(schema):
            raise SchemaMismatch(f"{what} of column {column}, where there are {len(schema)}")


def _key(what: str, schema: pa.Schema, key: Sequence[int]) -> None:
    _columns(what, schema, key)
    if len(set(key)) < len(key):
        raise SchemaMismatch(f"{what} of columns {key}: one is there twice")


def _same(what: str, one: Iterable[pa.DataType], other: Iterable[pa.DataType]) -> None:
    ours, theirs = list(one), list(other)
    if ours != theirs:
        names = (", ".join(map(str, types)) for types in (ours, theirs))
        raise SchemaMismatch(f"{what} of ({') and ('.join(names)})")


def _expressions(schema: pa.Schema, expressions: Iterable[Expression]) -> None:
    """Check that the columns of expressions are columns of `schema`, of these types."""
    met: set[Expression] = set()
    waiting = list(expressions)
    while waiting:
        each = waiting.pop()
        if each in met:
            continue
        met.add(each)
        match each:
            case Call():
                waiting += each.arguments
            case Column():
                _columns("an expression", schema, [each.index])
                _same(f"column {each.index}", [schema.field(each.index).type], [each.type])
            case Literal():
                pass
            case _:
                raise Unsupported(f"no expression: {each!r}")


def _filter(node: Filter) -> None:
    _expressions(node.schema, [node.predicate])
    _same("a condition", [node.predicate.type], [pa.bool_()])


def _map(node: Map) -> None:
    _expressions(node.input.schema, (expression for _, expression in node.outputs))


def _enter_at(node: EnterAt) -> None:
    _expressions(node.schema, [node.priority])


def _union(node: Union) -> None:
    if not node.inputs:
        raise Unsupported("a sum of nothing")
    for term in node.inputs[1:]:
        _same("a sum", node.inputs[0].schema.types, term.schema.types)


def _constant(node: Constant) -> None:
    for row in node.rows:
        if len(row) != len(node.schema):
            raise SchemaMismatch(f"a row of {len(row)} values, but {len(node.schema)} columns")


def _arrange(node: Arrange) -> None:
    _key("an arrangement", node.input.schema, node.key)


def _join(node: Join) -> None:
    left, right = node.left, node.right
    width = len(left.key)
    _same("a join", left.schema.types[:width], right.schema.types[: len(right.key)])
    candidates = pa.schema([*left.schema, *list(right.schema)[width:]])
    _columns("a join", candidates, (column for _, column in node.outputs))


def _delta_join(node: DeltaJoin) -> None:
    relations, paths = node.relations, node.paths
    if not relations or len(paths) != len(relations):
        raise Unsupported(f"a join of {len(relations)} relations by {len(paths)} paths")
    together = pa.schema([f for relation in relations for f in relation.schema])
    _columns("a join", together, (column for _, column in node.outputs))
    conditions = [_equal(node, start, path, together) for start, path in enumerate(paths)]
    for start, condition in enumerate(conditions):
        if condition != conditions[0]:
            columns = min(sorted(c) for c in condition ^ conditions[0])
            raise Unsupported(f"the paths from 0 and {start} do not both hold {columns} equal")


def _equal(node: DeltaJoin, start: int, path: Path, together: pa.Schema) -> set[frozenset[int]]:
    """Collect the classes of columns that `path` from `start` holds equal, over all relations."""
    what = f"the path from relation {start}"
    _key(what, node.relations[start].schema, path.key)
    met = [start, *(lookup.relation for lookup in path.lookups)]
    if sorted(met) != list(range(len(node.relations))):
        raise Unsupported(f"{what} of {len(node.relations)} meets the relations {met}")
    ends = list(accumulate((len(relation.schema) for relation in node.relations), initial=0))
    known = set(range(ends[start], ends[start + 1]))
    classes: dict[int, frozenset[int]] = {}
    for lookup in path.lookups:
        schema, first = node.relations[lookup.relation].schema, ends[lookup.relation]
        _key(what, schema, lookup.key)
        _columns(what, together, lookup.bound)
        for column in set(lookup.bound) - known:
            raise SchemaMismatch(f"{what} looks for column {column}, which it has not met yet")
        _same(
            what,
            (schema.field(column).type for column in lookup.key),
            (together.field(column).type for column in lookup.bound),
        )
        for key, bound in zip(lookup.key, lookup.bound, strict=True):
            pair = (first + key, bound)
            merged = frozenset().union(*(classes.get(c, frozenset([c])) for c in pair))
            classes |= dict.fromkeys(merged, merged)
        known |= set(range(first, ends[lookup.relation + 1]))
    return set(classes.values())


def _reduce(node: Reduce) -> None:
    given = node.input.schema
    _key("a reduction", given, node.key)
    for a in node.aggregates:
        what = f"a {a.function}"
        if a.function not in AGGREGATES:
            raise Unsupported(
                f"an aggregate {a.function}: there are {', '.join(sorted(AGGREGATES))}"
            )
        if a.column is None and a.function != "count":
            raise SchemaMismatch(f"{what} of no column")
        _columns(what, given, (a.column, a.other, a.where, *(o.column for o in a.order)))
        if a.where is not None and not pa.types.is_boolean(given.field(a.where).type):
            raise SchemaMismatch(f"{what} where {given.field(a.where)}")


def _threshold(node: Threshold) -> None:
    if node.limit is not None and node.limit < 1:
        raise Unsupported(f"a threshold of {node.limit} copies")


def _top_k(node: TopK) -> None:
    if node.offset < 0 or (node.limit is not None and node.limit < 0):
        raise Unsupported(f"a top-k of {node.limit} rows after {node.offset}")
    _key("a top-k", node.schema, node.key)
    _columns("a top-k", node.schema, (o.column for o in node.order))


def _window(node: Window) -> None:
    given = node.input.schema
    _key("a window", given, node.key)
    _columns("a window", given, (o.column for o in node.order))
    for call in node.calls:
        if call.function not in WINDOW_FUNCTIONS:
            known = ", ".join(sorted(WINDOW_FUNCTIONS))
            raise Unsupported(f"a window function {call.function}: there are {known}")
        if call.column is None and not _counts_rows(call.function):
            refused = SchemaMismatch if window_kind(call.function) == "linear" else Unsupported
            raise refused(f"a {call.function} of no column")
        _columns(f"a {call.function}", given, call.reads())


def _counts_rows(function: WindowFunction) -> bool:
    """Tell whether `function` needs no column."""
    return function == "count" or window_kind(function) == "number"


def _iterate(node: Iterate) -> None:
    if node.max_rounds is not None and node.max_rounds < 0:
        raise Unsupported(f"a recursion of {node.max_rounds} rounds")
    bodies = dict(node.bindings)
    if len(bodies) < len(node.bindings) or node.result not in bodies:
        names = ", ".join(repr(name) for name, _ in node.bindings)
        raise Unsupported(f"a recursion of {names} for {node.result!r}: each name is bound once")
    for body in bodies.values():
        for name, schema in recursive_schemas(body).items():
            if name in bodies:
                _same(f"the recursion {name!r}", schema.types, bodies[name].schema.types)
