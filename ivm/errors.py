"""Errors raised to callers: each carries a stable code that the REST API repeats.

A broken invariant asserts instead, and an error in a row (a division by zero) is data.
"""

from collections.abc import Mapping
from typing import ClassVar


class IvmError(Exception):
    """A caller's mistake, or a limit that was reached; nothing was changed.

    `code` is stable across releases and may be matched by programs.
    """

    code: ClassVar[str] = "ivm-error"


class UnknownCollection(IvmError):
    """No input or dataflow has this name."""

    code = "unknown-collection"


class DuplicateName(IvmError):
    """An input or dataflow of this name exists already."""

    code = "duplicate-name"


class InUse(IvmError):
    """The collection cannot be dropped: another dataflow still reads it."""

    code = "in-use"


class SchemaMismatch(IvmError):
    """The columns differ in number, order or type from those declared."""

    code = "schema-mismatch"


class TimeInPast(IvmError):
    """A time lies behind the frontier, so its outcome is already published."""

    code = "time-in-past"


class TimeCompacted(IvmError):
    """The time is below `since`: history up to there was compacted. A hold keeps past times."""

    code = "time-compacted"


class TimeIncomplete(IvmError):
    """The time is not completed yet: updates may still come at it, so it cannot be read."""

    code = "time-incomplete"


class InvalidTime(IvmError):
    """The time is not an integer, or not one that a pool can hold."""

    code = "invalid-time"


class InsertOnly(IvmError):
    """An input that was declared to only grow cannot lose rows."""

    code = "insert-only"


class OutOfMemory(IvmError, MemoryError):
    """Memory was too short for the named part; other work of the pool stands."""

    code = "out-of-memory"


class BudgetExceeded(IvmError):
    """A dataflow's hydration took more time or memory than it was given, or was stopped."""

    code = "budget-exceeded"


class PoolFailed(IvmError):
    """A step did not complete: earlier times can be read, and no other call is served."""

    code = "pool-failed"


class NotIndexed(IvmError):
    """No arrangement has exactly these columns as its key."""

    code = "not-indexed"


class Unsupported(IvmError):
    """The engine has no operator, function or type for this."""

    code = "unsupported"


class DataflowFailed(IvmError):
    """Dataflows that cannot be kept up to date: each with its reason, by name."""

    code = "dataflow-failed"

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {reason}" for name, reason in reasons.items()))
        self.reasons = dict(reasons)


class NoFixedPoint(DataflowFailed):
    """A recursive dataflow did not converge within its bounds on rounds and updates."""

    code = "no-fixed-point"


class CountOverflow(DataflowFailed):
    """The number of copies of a row left 64 bits in a dataflow, or in an input that is read."""

    code = "count-overflow"


def reason(shortage: MemoryError) -> str:
    """The text of a MemoryError, or "no memory" where it is C++'s own, which has none."""
    text = str(shortage)
    return text if text not in ("", "std::bad_alloc") else "no memory"


def out_of_memory(what: str, shortage: MemoryError) -> OutOfMemory:
    """The error that tells callers of a shortage of memory in the part `what`."""
    return OutOfMemory(f"{what}: {reason(shortage)}")
