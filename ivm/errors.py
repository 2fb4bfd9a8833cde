"""Errors raised to callers: each carries a stable code that the REST API repeats.

A broken invariant asserts instead, and an error in a row (a division by zero) is data.
"""

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
    """Another dataflow still reads what should be dropped."""

    code = "in-use"


class SchemaMismatch(IvmError):
    """Columns differ in number, order or type from what was declared."""

    code = "schema-mismatch"


class TimeInPast(IvmError):
    """A time lies behind the frontier, so its outcome is already published."""

    code = "time-in-past"


class TimeCompacted(IvmError):
    """A time that is not told apart from later ones any more: nothing has held it."""

    code = "time-compacted"


class TimeIncomplete(IvmError):
    """A time at which not everything has come in yet, so that it cannot be read."""

    code = "time-incomplete"


class InvalidTime(IvmError):
    """What was given as a time is not an integer, or not one that a pool can hold."""

    code = "invalid-time"


class InsertOnly(IvmError):
    """An input that was declared to only grow cannot lose rows."""

    code = "insert-only"


class OutOfMemory(IvmError, MemoryError):
    """Memory was too short for what is named; what else was asked of the pool stands."""

    code = "out-of-memory"


class PoolFailed(IvmError):
    """A step did not complete: what was completed before can be read, no more."""

    code = "pool-failed"


class NotIndexed(IvmError):
    """No arrangement has exactly these columns as its key."""

    code = "not-indexed"


class Unsupported(IvmError):
    """The engine has no operator, function or type for this."""

    code = "unsupported"


class NoFixedPoint(IvmError):
    """A recursive dataflow did not converge within its bounds on rounds and updates."""

    code = "no-fixed-point"


def reason(shortage: MemoryError) -> str:
    """What a MemoryError says; C++'s own says nothing."""
    text = str(shortage)
    return text if text not in ("", "std::bad_alloc") else "no memory"


def out_of_memory(what: str, shortage: MemoryError) -> OutOfMemory:
    """The error for callers of a shortage in `what`."""
    return OutOfMemory(f"{what}: {reason(shortage)}")
