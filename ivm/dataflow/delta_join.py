"""Chooses the paths of a delta join: an order of look-ups for the changes of each relation.

A class lists columns, numbered over all relations, that are equal in every row of the result. A
relation is looked up by all its columns whose class is bound already, so that each path asks for
every equality: of two columns of a class, the one that is met later is part of its look-up's key.

>>> import pyarrow as pa
>>> from ivm.dataflow.nodes import Get
>>> row = pa.schema([("a", pa.int64()), ("b", pa.int64())])
>>> joined = delta_join([Get("x", row), Get("y", row), Get("z", row)], [{1, 2}, {3, 4}], [("a", 0)])
>>> [[look_up.relation for look_up in path.lookups] for path in joined.paths]
[[1, 2], [2, 0], [1, 0]]
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from ivm.dataflow.nodes import DeltaJoin, Lookup, Node, Path


def delta_join(
    relations: Sequence[Node],
    equal: Sequence[Iterable[int]],
    outputs: Iterable[tuple[str, int]],
) -> DeltaJoin:
    """Join `relations` on the classes `equal`, by the paths that keep look-ups bound.

    Columns are numbered over all relations, one after another; `outputs` are names and columns.
    A path looks up next the relation with most columns bound, so that it stays connected where it
    can; among equals, one that another path looks up by the same key. Raises ValueError for a
    class with two columns of one relation: filter that relation beforehand.
    """
    widths = [len(relation.schema) for relation in relations]
    starts = list(accumulate(widths, initial=0))
    classes = _classes_of(equal, starts)
    orders: list[tuple[Lookup, ...]] = []
    for start in range(len(relations)):
        orders.append(_order(start, classes, starts, {_looked_up(x) for o in orders for x in o}))
    used = list(dict.fromkeys(_looked_up(lookup) for order in orders for lookup in order))
    paths = [Path(_source_key(i, order, used, starts), order) for i, order in enumerate(orders)]
    return DeltaJoin(tuple(relations), tuple(paths), tuple(outputs))


def _classes_of(equal: Sequence[Iterable[int]], starts: Sequence[int]) -> list[dict[int, int]]:
    """Map, for each relation, its columns that belong to a class to that class."""
    found: list[dict[int, int]] = [{} for _ in starts[1:]]
    for number, columns in enumerate(equal):
        for column in columns:
            relation = sum(column >= end for end in starts[1:])
            if number in found[relation].values():
                raise ValueError(f"two columns of relation {relation} shall be equal: filter it")
            found[relation][column - starts[relation]] = number
    return found


def _order(
    start: int,
    classes: Sequence[dict[int, int]],
    starts: Sequence[int],
    known: set[tuple[int, tuple[int, ...]]],
) -> tuple[Lookup, ...]:
    """Order the look-ups of the path from relation `start`; other paths make those of `known`."""
    bound = {number: starts[start] + column for column, number in classes[start].items()}
    left = [i for i in range(len(classes)) if i != start]
    order = []
    while left:
        candidates = [_lookup(relation, classes[relation], bound) for relation in left]
        best = max(candidates, key=lambda c: (len(c.key), _looked_up(c) in known, -c.relation))
        order.append(best)
        left.remove(best.relation)
        for column, number in classes[best.relation].items():
            bound.setdefault(number, starts[best.relation] + column)
    return tuple(order)


def _lookup(relation: int, classes: dict[int, int], bound: dict[int, int]) -> Lookup:
    key = tuple(column for column in sorted(classes) if classes[column] in bound)
    return Lookup(relation, key, tuple(bound[classes[column]] for column in key))


def _looked_up(lookup: Lookup) -> tuple[int, tuple[int, ...]]:
    return lookup.relation, lookup.key


def _source_key(
    relation: int,
    order: Sequence[Lookup],
    used: Sequence[tuple[int, tuple[int, ...]]],
    starts: Sequence[int],
) -> tuple[int, ...]:
    """Choose the key by which a relation's changes are read: the first look-up's, if others use it.

    The changes then come in the order in which they are looked up.
    """
    keys = [key for i, key in used if i == relation]
    wanted = tuple(column - starts[relation] for column in order[0].bound)
    return wanted if wanted in keys else keys[0]
