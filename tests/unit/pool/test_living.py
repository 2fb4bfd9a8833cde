"""Which pieces of a pool live, as collections come and go."""

from ivm.installed.pieces import Piece
from ivm.installed.references import Living
from ivm.physical.plan import PiecePlan


def _piece(name: str, *needs: Piece) -> Piece:
    return Piece(name, PiecePlan(name), [], {}, needs)


def test_what_a_piece_needs_lives_with_it() -> None:
    table = _piece("table")
    view = _piece("view", _piece("arranged", table))
    living = Living()
    living.add(table)
    living.add(view)
    assert [piece.name for piece in living] == ["table", "view", "arranged"]


def test_what_nothing_needs_any_more_goes() -> None:
    table = _piece("table")
    view = _piece("view", _piece("arranged", table))
    living = Living()
    living.add(table)
    living.add(view)
    assert [piece.name for piece in living.drop(view)] == ["view", "arranged"]
    assert list(living) == [table]


def test_what_two_share_lives_until_both_are_gone() -> None:
    shared = _piece("shared")
    one, other = _piece("one", shared), _piece("other", shared)
    living = Living()
    living.add(one)
    living.add(other)
    assert living.drop(one) == [one]
    assert shared in living
    assert living.drop(other) == [other, shared]
    assert shared not in living


def test_a_collection_may_be_dropped_before_what_reads_its_piece() -> None:
    base = _piece("base")
    reader = _piece("reader", base)
    living = Living()
    living.add(base)
    living.add(reader)
    assert living.drop(base) == []
    assert living.drop(reader) == [reader, base]
