"""Failures of dataflows: which ones cannot be kept up to date, and why, in words.

A dataflow fails with the piece in which the failure is, and so do all that need that piece.
"""

from collections.abc import Mapping, Sequence

from ivm.errors import CountOverflow, DataflowFailed, NoFixedPoint
from ivm.installed.collection import Collection
from ivm.installed.pieces import Piece

Cause = tuple[str, float | None, str | None, int | None]
"""A cause, a bound, and a recursive binding's name and round, as `Stage.failure` says."""

_ENDLESS = "Add a condition that ends the recursion; over cycles, use UNION instead of UNION ALL"
_BOUNDS = {
    "limit": "{:,} rounds, the limit that the query sets",
    "rounds": "{:,} rounds, the most that max_rounds allows",
    "updates": "{:,} updates, the most that max_updates allows",
    "seconds": "{:,} seconds, the most that max_recursion_seconds allows",
    "bytes": "{:,} bytes of memory, the most that max_recursion_bytes allows",
    "process": "the {:,} bytes that max_process_bytes allows all views and the rest of the service",
}
_COUNT = (
    "a row would have more than 9,223,372,036,854,775,807 copies, which is the most that 64 bits "
    "count, or 67,108,864 under a window. Make fewer: DISTINCT, UNION instead of UNION ALL, or "
    "counts taken before a join"
)
_OVERFLOW: Cause = ("overflow", None, None, None)


def failure_of(name: str, cause: Cause | None) -> DataflowFailed:
    """The error of dataflow `name` alone; None: another process of the cluster knows the cause."""
    if cause is None:
        return DataflowFailed({name: "it failed in another process of the cluster"})
    return _kind(cause)({name: reason_of(cause)})


def failures(collections: Mapping[str, Collection]) -> DataflowFailed | None:
    """The error of all dataflows that need a piece that failed; None if there is none.

    `collections` are in the order in which they were made. An input that failed stays.
    """
    found: dict[str, Cause] = {}
    reasons: dict[str, str] = {}
    causes: dict[Piece, Cause | None] = {}
    for name, collection in collections.items():
        cause = _cause(collection, causes)
        if cause is None or collection.intake is not None:
            continue
        found[name] = cause
        failed = sorted(collection.reads & reasons.keys())
        reasons[name] = _reads(failed[0]) if failed else reason_of(cause)
    if not found:
        return None
    return together([_kind(cause)({name: reasons[name]}) for name, cause in found.items()])


def failures_from(name: str, collections: Mapping[str, Collection]) -> DataflowFailed:
    """The error of `name`, of which an overflow was seen late, and of all that read it."""
    reasons = {name: reason_of(_OVERFLOW)}
    for other, collection in collections.items():
        if failed := sorted(collection.reads & reasons.keys()):
            reasons[other] = _reads(failed[0])
    return CountOverflow(reasons)


def together(errors: Sequence[DataflowFailed]) -> DataflowFailed:
    """One error of all these."""
    kinds = {type(error) for error in errors}
    reasons = {name: reason for error in errors for name, reason in error.reasons.items()}
    return (kinds.pop() if len(kinds) == 1 else DataflowFailed)(reasons)


def overflowed(name: str) -> CountOverflow:
    """The error of reading `name`, whose counts cannot be told."""
    return CountOverflow({name: reason_of(_OVERFLOW)})


def _cause(collection: Collection, causes: dict[Piece, Cause | None]) -> Cause | None:
    for piece in collection.piece.all_needed():
        if piece not in causes:
            causes[piece] = piece.failure
        if (cause := causes[piece]) is not None:
            return cause
    return None


def _reads(failed: str) -> str:
    return f"it reads {failed!r}, which failed"


def _kind(cause: Cause) -> type[DataflowFailed]:
    return CountOverflow if cause[0] == "overflow" else NoFixedPoint


def reason_of(cause: Cause) -> str:
    """A cause in words, with the remedy."""
    kind, bound, name, at = cause
    # A front-end tells bindings of one name apart by what follows the sign.
    binding = None if name is None else name.partition("#")[0]
    if kind != "overflow":
        within = _BOUNDS[kind].format(bound)
        return f"no fixed point within {within}: {binding!r} changes in round {at:,}. {_ENDLESS}"
    return _COUNT if at is None else f"in round {at:,} of its recursion, in {binding!r}, {_COUNT}"
