"""Replies of members: a value, or an error of the engine that keeps its kind and its reasons."""

from dataclasses import dataclass
from typing import TypeAlias

from ivm import errors
from ivm.errors import DataflowFailed, IvmError, PoolFailed


@dataclass(frozen=True, slots=True)
class Done:
    """A command was carried out, and has this value."""

    value: object


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was not carried out: the name of an error in `ivm.errors`, and its argument."""

    kind: str
    argument: str | dict[str, str]

    def error(self) -> IvmError:
        """The error."""
        made = getattr(errors, self.kind)(self.argument)
        assert isinstance(made, IvmError)
        return made


Reply: TypeAlias = Done | Refused


def refused(error: IvmError) -> Refused:
    """The reply that tells of `error`.

    >>> refused(errors.CountOverflow({"sums": "too many"})).error().reasons
    {'sums': 'too many'}
    """
    kind = type(error).__name__
    return Refused(kind, error.reasons if isinstance(error, DataflowFailed) else str(error))


def broken(error: BaseException) -> Refused:
    """The reply of a member that cannot go on."""
    return Refused(PoolFailed.__name__, f"a member of the cluster has failed: {error!r}")
