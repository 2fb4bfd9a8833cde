"""Forecasts of installations: the arrangements that one would reuse and create."""

from collections.abc import Callable, Mapping

from ivm.dataflow.nodes import Arrange, Exchange, Get, Node
from ivm.installed.collection import Collection
from ivm.installed.estimates import Estimates
from ivm.installed.pieces import Index, Piece
from ivm.results import Forecast, Foretold


def forecast(
    wanted: Node,
    arrangements: Mapping[Arrange, tuple[Piece, Index]],
    find: Callable[[str], Collection],
    counted: Callable[[str], int],
    processes: int = 1,
) -> Forecast:
    """The arrangements that maintaining `wanted` would find and make.

    `find` returns a collection by its name, or raises, and `counted` its rows, which are divided
    among `processes`.
    """
    estimates = Estimates(counted)
    reused: dict[str, None] = {}
    created: dict[Arrange, str] = {}
    pairs = 0
    pending: list[Node] = [wanted]
    met: set[Node] = set()  # nodes share inputs: a dataflow has many more paths than nodes
    while pending:
        each = pending.pop()
        if each in met:
            continue
        met.add(each)
        known = arrangements.get(each) if isinstance(each, Arrange) else None
        if known is not None:
            reused[known[0].name] = None
            continue
        pairs = max(pairs, estimates.pairs(each))
        if isinstance(each, Get):
            reused[find(each.name).first_index()[0].name] = None
        elif isinstance(each, Arrange):
            get = each.input if isinstance(each.input, Get) else None
            source = find(get.name).name if get else "(new)"
            names = ", ".join(each.input.schema.field(i).name for i in each.key)
            created[each] = f"{source}[{names}]"
        if not (isinstance(each, Arrange) and isinstance(each.input, Get)):
            pending += each.children
    foretold = []
    for arrange, name in created.items():
        copies = processes if _is_copy(arrange) else 1
        rows, held = estimates.rows(arrange), estimates.bytes(arrange)
        foretold.append(Foretold(name, copies * rows, copies * held))
    return Forecast(tuple(reused), tuple(foretold), pairs)


def _is_copy(arrange: Arrange) -> bool:
    """Whether each process has all rows of what is arranged."""
    return isinstance(arrange.input, Exchange) and arrange.input.key is None


def records(collection: Collection) -> int:
    """The updates that a collection's first arrangement holds: its rows, once compacted."""
    piece, _ = collection.first_index()
    return sum(trace.account()[0] for trace in piece.traces)
