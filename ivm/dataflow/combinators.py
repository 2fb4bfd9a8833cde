"""Nodes made of others: combinations that have an operator of their own in no dataflow."""

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
    """The rows of `left` whose key is among `keys`, a collection of exactly the key's columns."""
    width = len(left.key)
    members = Arrange(Distinct(keys), tuple(range(width)))
    return Join(left, members, tuple((f.name, i) for i, f in enumerate(left.schema)))


def antijoin(left: Arrange, keys: Node) -> Union:
    """The rows of `left` whose key is not among `keys`: all rows less the semijoin's."""
    return Union((left, Negate(semijoin(left, keys))))


def except_all(left: Node, right: Node) -> Threshold:
    """Each row as often as it is in `left` beyond its count in `right` (SQL's EXCEPT ALL)."""
    return Threshold(Union((left, Negate(right))))


def intersect_all(left: Node, right: Node) -> Union:
    """Each row as often as it is in both (SQL's INTERSECT ALL): `left` less its EXCEPT ALL.

    Neither input may have negative counts.
    """
    return Union((left, Negate(except_all(left, right))))


def reduce(node: Node, key: tuple[int, ...], aggregates: Sequence[Aggregate]) -> Node:
    """What a `Reduce` with all `aggregates`, of whatever kinds, would have.

    The linear ones are one reduction and each other one is another, joined on the key.
    """
    linear = tuple(a for a in aggregates if a.function in LINEAR)
    single = [(a,) for a in aggregates if a.function not in LINEAR]
    parts = [linear, *single] if linear or not single else single
    whole, *others = (Reduce(node, key, part) for part in parts)
    return _beside(whole, others, aggregates) if others else whole


def _beside(first: Reduce, others: Sequence[Reduce], aggregates: Sequence[Aggregate]) -> Map:
    """The reductions' aggregates side by side, in the order of `aggregates`."""
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
