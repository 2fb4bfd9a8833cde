"""Accounts of a pool's memory: its arrangements, and the state that operators keep beside them."""

from collections.abc import Iterable, Iterator

from ivm.installed.collection import Collection
from ivm.installed.pieces import Piece
from ivm.results import ArrangementInfo
from ivm.runtime.loop import Loop
from ivm.runtime.stage import Stage


def accounts(pieces: Iterable[Piece], collections: Iterable[Collection]) -> list[ArrangementInfo]:
    """An account of every arrangement, and of each kind of state of every piece."""
    users: dict[Piece, list[str]] = {}
    for collection in collections:
        for piece in collection.piece.all_needed():
            if not collection.is_input:
                users.setdefault(piece, []).append(collection.name)
    return [
        ArrangementInfo(name, records, memory, tuple(users.get(piece, ())), seconds, unmerged)
        for piece in pieces
        for name, (records, memory), seconds, unmerged in _held(piece)
    ]


def seconds_of(stage: Stage) -> float:
    """The estimated time that a stage has taken since it was built; a loop's is its body's."""
    if isinstance(stage, Loop):
        return sum(map(seconds_of, stage.stages))
    return stage.work[1] * 1e-9


def _held(piece: Piece) -> Iterator[tuple[str, tuple[int, int], float | None, int]]:
    if piece.traces:
        seconds = sum(map(seconds_of, piece.stages))
        unmerged = sum(trace.unmerged() for trace in piece.traces)
        yield piece.name, _sum(trace.account() for trace in piece.traces), seconds, unmerged
    for kind in dict.fromkeys(kind for kind, _ in piece.states):
        mine = _sum(state.account() for other, state in piece.states if other == kind)
        yield f"{piece.name} ({kind})", mine, None, 0


def _sum(each: Iterable[tuple[int, int]]) -> tuple[int, int]:
    records, memory = zip(*each, strict=True)
    return sum(records), sum(memory)
