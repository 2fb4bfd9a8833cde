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


class ChangesGone(IvmError):
    """A feed is to go on after a time of which retention has removed the changes since."""

    code = "changes-gone"


class DataDirectoryNewer(IvmError):
    """The data directory, or a backup, is of a form that only a newer program knows."""

    code = "data-directory-newer"


class BackupRefused(IvmError):
    """A file is no whole backup, or there is no empty place to restore it to."""

    code = "backup-refused"


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


class BadRows(IvmError):
    """Posted rows are at fault: they are no rows of the table; none was written."""

    code = "bad-rows"


class NotWritten(IvmError):
    """The source takes no posted rows: its topic is written by others."""

    code = "not-written-here"


class UnsupportedMedia(IvmError):
    """The body's media type is none that this call reads."""

    code = "unsupported-media-type"


class QueryStopped(IvmError):
    """A query, or a view's hydration, took more time or memory than the operator allows one."""

    code = "query-stopped"


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


class ReplacementRefused(IvmError):
    """A view cannot be replaced so: it would read itself, or a view over it would break."""

    code = "replacement-refused"


class ReplacementNotReady(IvmError):
    """A replacement is still being hydrated."""

    code = "replacement-not-ready"


class ReplacementFailed(IvmError):
    """A replacement could not be hydrated or kept up to date; the view is as it was."""

    code = "replacement-failed"


class PreviewOutdated(IvmError):
    """A replacement, or what it changes, is not any more what the approval is for."""

    code = "preview-outdated"


class Unauthorized(IvmError):
    """The caller is not known: the request has no key or token that is good."""

    code = "unauthorized"


class Forbidden(IvmError):
    """The caller is known, and lacks the role or the grant that this needs."""

    code = "forbidden"


class HostRefused(IvmError):
    """The request is for a host, or comes from a page of an origin, that is not the service's."""

    code = "host-refused"


class TooManyRequests(IvmError):
    """Requests come faster than this caller may send them."""

    code = "too-many-requests"


class KeysCorrupt(IvmError):
    """The file of API keys cannot be read; until it is mended nobody is let in."""

    code = "keys-corrupt"


class NotSecured(IvmError):
    """The service would be open to other machines, which nobody has said it may be."""

    code = "not-secured"
