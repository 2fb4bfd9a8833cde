"""What an installation would reuse and create."""

from collections.abc import Callable, Mapping

from ivm.dataflow import Arrange, Get, Node
from ivm.render.pieces import Collection, Index, Piece
from ivm.render.scopes import children
from ivm.results import Installed


def forecast(
    wanted: Arrange,
    arrangements: Mapping[Arrange, tuple[Piece, Index]],
    find: Callable[[str], Collection],
) -> Installed:
    """The arrangements that maintaining `wanted` would find and make, by name.

    `find` returns a collection by its name, or raises.
    """
    reused: dict[str, None] = {}
    created: dict[str, None] = {}
    pending: list[Node] = [wanted]
    while pending:
        each = pending.pop()
        known = arrangements.get(each) if isinstance(each, Arrange) else None
        if known is not None:
            reused[known[0].name] = None
            continue
        if isinstance(each, Get):
            reused[find(each.name).indexes[0][0].name] = None
        elif isinstance(each, Arrange):
            get = each.input if isinstance(each.input, Get) else None
            source = find(get.name).name if get else "(new)"
            names = ", ".join(each.input.schema.field(i).name for i in each.key)
            created[f"{source}[{names}]"] = None
        if not (isinstance(each, Arrange) and isinstance(each.input, Get)):
            pending += children(each)
    return Installed(tuple(reused), tuple(created))
