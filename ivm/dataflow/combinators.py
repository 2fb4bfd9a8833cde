"""Combinators build semijoins, antijoins, EXCEPT ALL, INTERSECT ALL and mixed reductions of nodes.

They need no operator of their own: `antijoin(A, K)` is A - semijoin(A, K), with counts subtracted.

>>> import pyarrow as pa
>>> from ivm.dataflow.nodes import Constant
>>> from ivm.pool import Pool
>>> ids, pool = pa.schema([pa.field("id", pa.int64(), nullable=False)]), Pool()
>>> left, right = Constant(((1,), (1,), (2,)), ids), Constant(((1,), (3,)), ids)
>>> pool.advance(1)
>>> def counts(node):
...     pool.install("shown", node, key=["id"])
...     found = pool.scan("shown")
...     pool.drop("shown")
...     return dict(zip(found.rows["id"].to_pylist(), found.counts.tolist()))
>>> counts(left)
{1: 2, 2: 1}
"""

from collections.abc import Sequence

from ivm.dataflow.aggregates import LINEAR, Aggregate
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Join,
    Map,
    Negate,
    Node,
    Reduce,
    Threshold,
    Union,
    columns,
)


def semijoin(left: Arrange, keys: Node) -> Join:
    """Keep the rows of `left` whose key is among `keys`, which has the key's columns alone.

    >>> counts(semijoin(Arrange(left, (0,)), right))
    {1: 2}
    """
    width = len(left.key)
    members = Arrange(Distinct(keys), tuple(range(width)))
    return Join(left, members, tuple((f.name, i) for i, f in enumerate(left.schema)))


def antijoin(left: Arrange, keys: Node) -> Union:
    """Keep the rows of `left` whose key is not among `keys`: all rows less the semijoin's.

    >>> counts(antijoin(Arrange(left, (0,)), right))
    {2: 1}
    """
    return Union((left, Negate(semijoin(left, keys))))


def except_all(left: Node, right: Node) -> Threshold:
    """Subtract counts: a row with counts l and r is there max(l - r, 0) times (EXCEPT ALL).

    >>> counts(except_all(left, right))
    {1: 1, 2: 1}
    """
    return Threshold(Union((left, Negate(right))))


def intersect_all(left: Node, right: Node) -> Union:
    """Intersect counts: a row with counts l and r is there min(l, r) times (INTERSECT ALL).

    It is `left` less its EXCEPT ALL, so neither input may have negative counts.

    >>> counts(intersect_all(left, right))
    {1: 1}
    """
    return Union((left, Negate(except_all(left, right))))


def reduce(node: Node, key: tuple[int, ...], aggregates: Sequence[Aggregate]) -> Node:
    """Reduce by `key` with aggregates of any kinds.

    The linear ones are one reduction, each other one is another, and all are joined on the key.

    >>> least = Aggregate("min", 0, "least", pa.int64(), nullable=False)
    >>> count = Aggregate("count", None, "n", pa.int64(), nullable=False)
    >>> reduce(left, (0,), [least, count]).schema.names
    ['id', 'least', 'n']
    """
    linear = tuple(a for a in aggregates if a.function in LINEAR)
    single = [(a,) for a in aggregates if a.function not in LINEAR]
    parts = [linear, *single] if linear or not single else single
    whole, *others = (Reduce(node, key, part) for part in parts)
    return _beside(whole, others, aggregates) if others else whole


def _beside(first: Reduce, others: Sequence[Reduce], aggregates: Sequence[Aggregate]) -> Map:
    """Join reductions on their key, with the columns of `aggregates` in that order."""
    width = len(first.key)
    key = tuple(range(width))
    whole: Node = first
    for other in others:
        names = [*whole.schema.names, *other.schema.names[width:]]
        whole = Join(
            Arrange(whole, key), Arrange(other, key), tuple((n, i) for i, n in enumerate(names))
        )
    given = columns(whole)
    made = [a for part in (first, *others) for a in part.aggregates]
    outputs = [(name, given[i]) for i, name in enumerate(whole.schema.names[:width])]
    outputs += [(a.name, given[width + made.index(a)]) for a in aggregates]
    return Map(whole, tuple(outputs))
