"""Reductions by aggregates that look at a group's values in order, over the inputs of `engine`."""

import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.combinators import reduce
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import Map, Node, Reduce, columns
from tests.property.engine import people

INT, TEXT, DOUBLE = pa.int64(), pa.string(), pa.float64()
TEAM, SCORE, PAY, WEIGHT = 1, 2, 3, 4

# People, and whether they have a positive score.
scored = Map(
    people,
    (
        *((f.name, c) for f, c in zip(people.schema, columns(people), strict=True)),
        ("positive", Call("gt", (columns(people)[SCORE], Literal(0, INT)), pa.bool_(), True)),
    ),
)
POSITIVE = 5


def _listed(column: int, type_: pa.DataType, *order: Order, where: int | None = None) -> Aggregate:
    return Aggregate("list", column, "l", pa.list_(type_), True, order=order, where=where)


def _percentile(kind: str, column: int, fraction: float, descending: bool = False) -> Aggregate:
    type_ = people.schema.field(column).type
    order = (Order(column, descending),)
    return Aggregate(f"percentile_{kind}", column, "p", type_, True, None, order, None, fraction)  # type: ignore[arg-type]


def _joined(separator: str, *order: Order, where: int | None = None) -> Aggregate:
    return Aggregate("join", TEAM, "j", TEXT, True, None, order, where, separator)


def _comoment(column: int, other: int | None = None) -> Aggregate:
    return Aggregate("comoment", column, f"c{column}{other}", DOUBLE, True, other)


def bits(column: int) -> tuple[Aggregate, ...]:
    """Every aggregate of the bits of an integer column of people."""
    type_ = people.schema.field(column).type
    return (
        Aggregate("bit_and", column, "all", type_, True),
        Aggregate("bit_or", column, "some", type_, True),
        Aggregate("bit_xor", column, "odd", type_, True),
    )


# Two floats, the second one from the scores.
pairs = Map(
    people,
    (
        ("team", columns(people)[TEAM]),
        ("weight", columns(people)[WEIGHT]),
        ("score", Call("cast", (columns(people)[SCORE],), DOUBLE, True)),
    ),
)

AGGREGATES: dict[str, Node] = {
    "bits": Reduce(people, (TEAM,), bits(SCORE)),
    "bits of all rows": Reduce(people, (), bits(0)),
    "comoments": Reduce(people, (TEAM,), (_comoment(SCORE), _comoment(PAY), _comoment(WEIGHT))),
    "comoments of pairs": Reduce(pairs, (0,), (_comoment(1, 2), _comoment(2, 1), _comoment(2, 2))),
    "first": Reduce(
        people,
        (TEAM,),
        (Aggregate("first", PAY, "f", people.schema.field(PAY).type, True, None, (Order(SCORE),)),),
    ),
    "first in an order by strings": Reduce(
        people,
        (),
        (
            Aggregate(
                "first", WEIGHT, "f", DOUBLE, True, None, (Order(TEAM, True, True), Order(SCORE))
            ),
        ),
    ),
    "percentiles": reduce(
        people,
        (TEAM,),
        (_percentile("cont", WEIGHT, 0.3, True), _percentile("disc", SCORE, 0.5)),
    ),
    "percentile of strings": Reduce(people, (), (_percentile("disc", TEAM, 0.7, True),)),
    "list in an order": Reduce(
        people, (TEAM,), (_listed(WEIGHT, DOUBLE, Order(PAY, True), Order(WEIGHT, True, True)),)
    ),
    "list of some in an order by strings": Reduce(
        scored, (0,), (_listed(TEAM, TEXT, Order(TEAM, True), where=POSITIVE),)
    ),
    "set in descending order": Reduce(
        people,
        (SCORE,),
        (Aggregate("set", TEAM, "s", pa.list_(TEXT), True, None, (Order(TEAM, True, True),)),),
    ),
    "joined texts": Reduce(scored, (SCORE,), (_joined(", ", Order(WEIGHT), where=POSITIVE),)),
    "joined texts without anything between": Reduce(people, (0,), (_joined(""),)),
}
