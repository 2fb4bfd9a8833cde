"""Accounts of a pool's memory: its arrangements, and the state that operators keep beside them."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from ivm.installed.collection import Collection
from ivm.installed.pieces import Piece
from ivm.results import ArrangementInfo


class Stateful(Protocol):
    """A holder of an operator's state, which counts its records and bytes."""

    def account(self) -> tuple[int, int]:
        """Records held and bytes of memory."""


def accounts(pieces: Iterable[Piece], collections: Iterable[Collection]) -> list[ArrangementInfo]:
    """An account of every arrangement, and of each kind of state of every piece."""
    users: dict[Piece, list[str]] = {}
    for collection in collections:
        for piece in collection.piece.all_needed():
            if not collection.is_input:
                users.setdefault(piece, []).append(collection.name)
    return [
        ArrangementInfo(name, records, memory, tuple(users.get(piece, ())))
        for piece in pieces
        for name, (records, memory) in _held(piece)
    ]


def _held(piece: Piece) -> Iterator[tuple[str, tuple[int, int]]]:
    if piece.traces:
        yield piece.name, _sum(trace.account() for trace in piece.traces)
    for kind in dict.fromkeys(kind for kind, _ in piece.states):
        mine = _sum(state.account() for other, state in piece.states if other == kind)
        yield f"{piece.name} ({kind})", mine


def _sum(each: Iterable[tuple[int, int]]) -> tuple[int, int]:
    records, memory = zip(*each, strict=True)
    return sum(records), sum(memory)
