"""Access paths: chooses the arrangements that joins read, a table's own so that views share it.

A table is arranged whole by plain columns, or a private collection is first reduced to the columns
that the join needs. Where an arrangement of the whole table exists already, a filter on the table
is put off until after the join rather than made into a private copy, unless it keeps few rows, and
less of them than the other side of the join has, which is arranged anew anyway; one is always put
off that asks for no more than that there are values, since a copy that leaves out the NULLs is
about as large as all.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ivm.dataflow import nodes as df
from ivm.dataflow.arrangement_order import arranged_positions
from ivm.dataflow.expressions import Column, Expression
from views.lowering.lowered import Lowered, moved
from views.plan.nulls import asks_for_values


@dataclass(frozen=True, slots=True)
class Access:
    """An arrangement, and the position in it (key first) of each column number.

    `deferred` are conditions over its positions that its rows have not been tested for.
    """

    arrange: df.Arrange
    positions: Mapping[int, int]
    deferred: tuple[Expression, ...] = ()


def arranged_by(
    lowered: Lowered,
    keys: Sequence[Expression],
    needed: Iterable[int],
    existing: Collection[str],
) -> Access:
    """Arranges `lowered` by the expressions `keys`, over numbers, with the columns `needed`."""
    plain = _plain(lowered, keys)
    if plain is not None and isinstance(lowered.node, df.Get):
        return _access(lowered, plain, ())
    if plain is not None and isinstance(lowered.node, df.Filter):
        source = lowered.node.input
        predicate = lowered.node.predicate
        if isinstance(source, df.Get) and (
            arrangement_name(source, plain) in existing or asks_for_values(predicate)
        ):
            return _access(Lowered(source, lowered.positions), plain, (predicate,))
    return _private(lowered, keys, needed)


def exists(arrange: df.Arrange, existing: Collection[str]) -> bool:
    """Whether `arrange` is one of the arrangements `existing` of whole collections."""
    source = arrange.input
    return isinstance(source, df.Get) and arrangement_name(source, arrange.key) in existing


def arrangement_name(source: df.Get, key: Sequence[int]) -> str:
    """Names the arrangement of a whole collection by some of its columns, as the pool does."""
    return f"{source.name}[{', '.join(source.schema.field(i).name for i in key)}]"


def _plain(lowered: Lowered, keys: Sequence[Expression]) -> tuple[int, ...] | None:
    """The positions of the keys, if they are different columns."""
    positions = [lowered.positions[k.index] for k in keys if isinstance(k, Column)]
    if len(set(positions)) != len(keys):
        return None
    return tuple(positions)


def _access(lowered: Lowered, key: tuple[int, ...], deferred: Sequence[Expression]) -> Access:
    arrange = df.Arrange(lowered.node, key)
    to = arranged_positions(len(arrange.input.schema), key)
    positions = {n: to[p] for n, p in lowered.positions.items()}
    return Access(arrange, positions, tuple(moved(d, to) for d in deferred))


def _private(lowered: Lowered, keys: Sequence[Expression], needed: Iterable[int]) -> Access:
    """Projects to the columns needed, with computed keys as further columns."""
    plain = _plain(lowered, keys)
    if plain is not None:
        own = {k.index for k in keys if isinstance(k, Column)}
        narrow = lowered.narrowed({*needed, *own})
        key = _plain(narrow, keys)
        assert key is not None
        return _access(narrow, key, ())
    schema = lowered.node.schema
    wanted = {n: lowered.positions[n] for n in needed}
    kept = sorted(set(wanted.values()))
    outputs: list[tuple[str, Expression]] = [
        (schema.field(p).name, lowered.at_position(p)) for p in kept
    ]
    first = len(outputs)
    outputs += [(f"key{i}", lowered.at(k)) for i, k in enumerate(keys)]
    node = df.Map(lowered.node, tuple(outputs))
    positions = {n: kept.index(p) for n, p in wanted.items()}
    computed = Lowered(node, positions)
    return _access(computed, tuple(range(first, first + len(keys))), ())
