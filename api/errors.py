"""Errors of the service's callers, beyond those that the rooms below raise."""

from collections.abc import Iterable
from typing import Any

from ivm.errors import IvmError
from views.errors import UnknownName, suggestion


def located(faults: Iterable[Any]) -> str:
    """The faults that pydantic finds, each with its place, in a line."""
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error that nothing of a kind has this name, with the known ones nearest to it."""
    return UnknownName(f"there is no {kind} {name!r}{suggestion(name, known)}")


class NotReady(IvmError):
    """The service is still starting: it replays its journal, or Spark is not up yet."""

    code = "not-ready"


class DifferentDefinition(IvmError):
    """The name is taken by another definition."""

    code = "different-definition"


class BadParameter(IvmError):
    """A query parameter cannot be read, or names nothing."""

    code = "bad-parameter"


class OffsetNotReached(IvmError):
    """The input offset asked for was not reflected within the bound on waiting."""

    code = "offset-not-reached"


class ViewFailed(IvmError):
    """The view was stopped: its recursion did not converge, or a count left 64 bits."""

    code = "view-failed"


class LimitTooHigh(IvmError):
    """A query allows its recursion more rounds than the operator does."""

    code = "limit-too-high"


class TooManyCopies(IvmError):
    """A page would write out more copies of its rows than a client can take."""

    code = "too-many-copies"


class BodyTooLarge(IvmError):
    """The request's body exceeds the limit named in the message."""

    code = "body-too-large"


class TooManyFollowers(IvmError):
    """As many change feeds are followed as the operator allows, in all or by this client."""

    code = "too-many-followers"


class RowsNotComputed(IvmError):
    """Rows of a query's answer cannot be computed, as where a division is by zero."""

    code = "rows-not-computed"


class NotAcceptable(IvmError):
    """No format of the answer is among those that the request accepts."""

    code = "not-acceptable"


class CartesianProduct(IvmError):
    """A view would pair more rows with one another than the operator allows."""

    code = "cartesian-product"


class RegistryCorrupt(IvmError):
    """The file of declared sources and views cannot be read; going on would lose them."""

    code = "registry-corrupt"


class RegistryNotWritten(IvmError):
    """The registry could not be written, so nothing was changed."""

    code = "registry-not-written"
