"""One node for each operator, and for what is built of several, over the inputs of `engine`."""

import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.combinators import antijoin, except_all, intersect_all, reduce, semijoin
from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Constant,
    Distinct,
    EnterAt,
    Exchange,
    Filter,
    FlatMap,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    Threshold,
    TopK,
    Union,
    columns,
    project,
)
from tests.property.aggregates import AGGREGATES
from tests.property.delta_joins import DELTA_JOINS
from tests.property.engine import EDGES, edges, people
from tests.property.windows import WINDOWS

INT = pa.int64()
BOOL = pa.bool_()
YES = Literal(True, BOOL)
WIDE = pa.decimal128(38, 0)
MONEY = pa.decimal128(38, 2)
ID, TEAM, SCORE, PAY, WEIGHT = columns(people)
NODE = pa.schema([pa.field("node", INT, nullable=False)])
LABELS = pa.schema([pa.field("node", INT, nullable=False), pa.field("label", INT, nullable=False)])
COUNTS = pa.schema([pa.field("node", INT, nullable=False), pa.field("n", INT, nullable=False)])

count = Aggregate("count", None, "n", INT, False)
high = Filter(people, Call("gt", (SCORE, Literal(0, INT)), BOOL, True))
inverse = Map(
    people, (("id", ID), ("inverse", Call("divide", (Literal(6, INT), SCORE), INT, True)))
)
roots = project(Filter(edges, Call("eq", (columns(edges)[0], Literal(0, INT)), BOOL, False)), (1,))

WORD_FIELDS: list[pa.Field] = [pa.field("word", pa.string(), nullable=False), pa.field("id", INT)]
WORDS = pa.schema(WORD_FIELDS)


def words_of_teams(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, list[int]]:
    """A row for each word of a person's team."""
    given = batch.to_pylist()
    words = [(i, word) for i, row in enumerate(given) for word in (row["team"] or "").split()]
    rows = [{"word": word, "id": given[i]["id"]} for i, word in words]
    return pa.RecordBatch.from_pylist(rows, schema=WORDS), [i for i, _ in words]


def words_of_scored_teams(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, list[int]]:
    """The same, but people without a score are at fault."""
    if None in batch["score"].to_pylist():
        raise ValueError("no score")
    return words_of_teams(batch)


def _aggregate(function: str, column: int, type_: pa.DataType) -> Aggregate:
    return Aggregate(function, column, f"{function}_{column}", type_, True)  # type: ignore[arg-type]


def _step(name: str) -> Join:
    """One more edge from each node of the recursive collection `name`."""
    return Join(Arrange(Recursive(name, NODE), (0,)), Arrange(edges, (0,)), (("node", 1),))


def reach() -> Iterate:
    """Everything reachable from the successors of node 0."""
    return Iterate((("x", Distinct(Union((roots, _step("x"))))),), "x")


def walks() -> Iterate:
    """The end of each walk of up to three steps; there may be endless ones."""
    return Iterate((("x", Union((roots, _step("x")))),), "x", 3, stops=True)


def flipping() -> Iterate:
    """Never at rest: twice two rounds with the roots, two without them, and so on."""
    on = Union((roots, Negate(Recursive("off", NODE))))
    return Iterate((("on", on), ("off", Recursive("on", NODE))), "on", 5, stops=True)


def shortest() -> Iterate:
    """Each reachable node's smallest number of steps, cut at eight."""
    x = Recursive("x", COUNTS)
    start = Map(roots, (("node", columns(roots)[0]), ("n", Literal(1, INT))))
    longer = Join(Arrange(x, (0,)), Arrange(edges, (0,)), (("node", 2), ("n", 1)))
    node, n = columns(longer)
    longer_by_one = Map(
        longer, (("node", node), ("n", Call("add", (n, Literal(1, INT)), INT, False)))
    )
    short = Filter(longer_by_one, Call("lt", (Column(1, INT, False), Literal(8, INT)), BOOL, False))
    least = Reduce(Union((start, short)), (0,), (Aggregate("min", 1, "n", INT, False),))
    return Iterate((("x", least),), "x")


def components(name: str = "x", priority: str = "abs") -> Iterate:
    """The least node that reaches each node, small labels first."""
    node = columns(edges)[0]
    own = EnterAt(
        Distinct(Map(edges, (("node", node), ("label", node)))),
        Call(priority, (Column(1, INT, False),), INT, False),
        name,
    )
    x = Recursive(name, LABELS)
    along = Join(Arrange(x, (0,)), Arrange(edges, (0,)), (("node", 2), ("label", 1)))
    least = Reduce(Union((own, along)), (0,), (Aggregate("min", 1, "label", INT, False),))
    return Iterate(((name, least),), name)


def parity() -> Iterate:
    """Mutual recursion: nodes at an odd and at an even distance; the odd ones."""
    odd = Distinct(Union((roots, _step("even"))))
    even = Distinct(_step("odd"))
    return Iterate((("odd", odd), ("even", even)), "odd")


def components_within() -> Iterate:
    """A loop in a loop: edges between nodes of different labels are dropped for good."""
    dropped, present = Recursive("dropped", EDGES), Distinct(edges)
    x = Union((present, Negate(dropped)))
    labels = Recursive("labels", LABELS)
    own = Map(
        Distinct(project(x, (0,))),
        (("node", Column(0, INT, False)), ("label", Column(0, INT, False))),
    )
    along = Join(Arrange(labels, (0,)), Arrange(x, (0,)), (("node", 2), ("label", 1)))
    least = Reduce(Union((own, along)), (0,), (Aggregate("min", 1, "label", INT, False),))
    labelled = Iterate((("labels", least),), "labels")
    from_source = Join(
        Arrange(present, (0,)), Arrange(labelled, (0,)), (("src", 0), ("dst", 1), ("a", 2))
    )
    both = Join(
        Arrange(from_source, (1,)),
        Arrange(labelled, (0,)),
        (("src", 1), ("dst", 0), ("a", 2), ("b", 3)),
    )
    a, b = columns(both)[2:]
    differ = project(Filter(both, Call("ne", (a, b), BOOL, False)), (0, 1))
    return Iterate(
        (("dropped", Distinct(Union((dropped, differ)))), ("kept", x)), "kept", max_rounds=60
    )


def one_name_in_two_loops() -> Iterate:
    """Paths from what 0 reaches; the name of the outer loop is another one in the inner loop."""
    paths = Recursive("x", EDGES)
    further = Join(Arrange(paths, (1,)), Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
    known = semijoin(Arrange(Union((edges, further)), (0,)), reach())
    return Iterate((("x", Distinct(known)),), "x")


def counting() -> Iterate:
    """A bag that grows along edges for a bounded number of rounds, then is counted in the loop."""
    x = Recursive("x", COUNTS)
    start = Map(edges, (("node", columns(edges)[1]), ("n", Literal(0, INT))))
    moved = Join(Arrange(x, (0,)), Arrange(edges, (0,)), (("node", 2), ("n", 1)))
    node, n = columns(moved)
    later = Map(moved, (("node", node), ("n", Call("add", (n, Literal(1, INT)), INT, False))))
    early = Filter(later, Call("lt", (Column(1, INT, False), Literal(4, INT)), BOOL, False))
    paths = Reduce(Union((start, early)), (0, 1), (count,))
    return Iterate((("x", project(paths, (0, 1))),), "x")


def three_coordinates() -> Iterate:
    """Counts rows that come at times (1,0,0), (0,1,0) and (0,0,1): they meet at (1,1,1) only."""
    keys = project(edges, (0,))
    once = Distinct(keys)
    met = Union((keys, Recursive("outer", NODE), Recursive("inner", NODE)))
    inner = Iterate((("inner", once), ("counts", Reduce(met, (0,), (count,)))), "counts")
    return Iterate((("outer", once), ("counts", inner)), "counts")


def bounded(comparison: str, function: str, kind: pa.DataType, turned: bool = False) -> Node:
    """People with a score on one side of the least or the greatest end of all edges."""
    scored = Filter(people, Call("is_not_null", (SCORE,), BOOL, False))
    value = Call("cast", (SCORE,), kind, False)
    rows = Map(scored, (("one", YES), ("id", ID), ("value", value), ("team", TEAM)))
    ends = project(edges, (1,))
    end = Reduce(ends, (), (Aggregate(function, 0, "end", INT, False),))  # type: ignore[arg-type]
    bound = Map(end, (("one", YES), ("bound", Call("cast", (columns(end)[0],), kind, False))))
    pairs = Join(
        Arrange(rows, (0,)),
        Arrange(bound, (0,)),
        (("id", 1), ("value", 2), ("team", 3), ("bound", 4)),
    )
    _, own, _, limit = columns(pairs)
    sides = (limit, own) if turned else (own, limit)
    return project(Filter(pairs, Call(comparison, sides, BOOL, False)), (0, 2, 1))


NODES: dict[str, Node] = {
    "get": people,
    "filter": high,
    "map": Map(
        people,
        (
            ("twice", Call("add", (SCORE, SCORE), INT, True)),
            ("team", Call("coalesce", (TEAM, Literal("none", pa.string())), pa.string(), False)),
        ),
    ),
    "map with errors": inverse,
    "project": project(people, (1, 0)),
    "concat": Union((project(people, (0, 2)), edges)),
    "negate": Union((project(people, (0,)), Negate(project(edges, (0,))))),
    "flat map": FlatMap(people, words_of_teams, WORDS),
    "flat map with errors": FlatMap(people, words_of_scored_teams, WORDS),
    "exchange": Exchange(people, (1, 3)),
    "consolidate": Consolidate(project(people, (1, 2))),
    "constant": Union((Constant(((1,), (7,), (7,)), NODE), project(edges, (0,)))),
    "arrange": Arrange(people, (2, 1)),
    "join": Join(Arrange(people, (0,)), Arrange(edges, (0,)), (("id", 0), ("team", 1), ("dst", 5))),
    "self join": Join(Arrange(edges, (1,)), Arrange(edges, (0,)), (("a", 1), ("b", 0), ("c", 2))),
    "join on a string": Join(
        Arrange(people, (1,)), Arrange(people, (1,)), (("team", 0), ("a", 1), ("b", 5))
    ),
    "join of nullable and not": Join(
        Arrange(people, (2,)), Arrange(edges, (0,)), (("score", 0), ("id", 1), ("dst", 5))
    ),
    "rows above a bound": bounded("gt", "min", MONEY),
    "rows not below a bound": bounded("ge", "min", INT),
    "rows below a bound": bounded("gt", "max", MONEY, turned=True),
    "rows not above a bound": bounded("le", "max", INT),
    "semijoin": semijoin(Arrange(people, (0,)), project(edges, (0,))),
    "antijoin": antijoin(Arrange(people, (0,)), project(edges, (1,))),
    "distinct": Distinct(project(people, (1, 2))),
    "distinct of nothing": Distinct(project(people, ())),
    "threshold": Threshold(project(people, (1, 2)), 2),
    "except all": except_all(project(edges, (0,)), project(edges, (1,))),
    "intersect all": intersect_all(project(edges, (0,)), project(edges, (1,))),
    "count": Reduce(people, (1,), (count, _aggregate("count", 2, INT))),
    "sums": Reduce(
        people,
        (1,),
        (
            _aggregate("sum", 2, WIDE),
            _aggregate("sum", 3, MONEY),
            _aggregate("avg", 2, pa.decimal128(38, 6)),
            _aggregate("avg", 3, pa.decimal128(38, 6)),
        ),
    ),
    "sum that overflows": Reduce(people, (1,), (_aggregate("sum", 2, pa.int16()),)),
    "sum of floats": Reduce(
        people, (), (_aggregate("sum", 4, pa.float64()), _aggregate("avg", 4, pa.float64()))
    ),
    "min and max": reduce(people, (1,), (_aggregate("min", 2, INT), _aggregate("max", 2, INT))),
    "min of strings": Reduce(people, (), (_aggregate("min", 1, pa.string()),)),
    "max of strings": Reduce(people, (2,), (_aggregate("max", 1, pa.string()),)),
    "mixed aggregates": reduce(
        people, (), (_aggregate("max", 3, PAY.type), count, _aggregate("min", 4, WEIGHT.type))
    ),
    "list": Reduce(people, (1,), (_aggregate("list", 2, pa.list_(INT)),)),
    "set": Reduce(people, (2,), (_aggregate("set", 1, pa.list_(pa.string())),)),
    "lists beside others": reduce(
        people,
        (),
        (
            _aggregate("list", 3, pa.list_(PAY.type)),
            count,
            _aggregate("set", 4, pa.list_(WEIGHT.type)),
            _aggregate("max", 2, INT),
        ),
    ),
    "greatest of lists": TopK(
        Reduce(people, (0,), (_aggregate("list", 1, pa.list_(pa.string())),)), (), (Order(1),), 2
    ),
    "top-k": TopK(people, (1,), (Order(2, descending=True), Order(0)), 2),
    "top-k by string": TopK(people, (), (Order(1, descending=True, nulls_first=True),), 3, 1),
    "offset": TopK(people, (2,), (Order(3),), None, 1),
    "reach": reach(),
    "shortest": shortest(),
    "walks": walks(),
    "flipping": flipping(),
    "parity": parity(),
    "least label by priority": components(),
    "nested loops": components_within(),
    "one name in two loops": one_name_in_two_loops(),
    "counting in a loop": counting(),
    "three coordinates": three_coordinates(),
    "reduce after a loop": Reduce(reach(), (), (count,)),
    "join of a loop": Join(Arrange(reach(), (0,)), Arrange(people, (0,)), (("id", 0), ("team", 1))),
    **DELTA_JOINS,
    **WINDOWS,
    **AGGREGATES,
}
