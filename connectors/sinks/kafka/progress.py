"""The progress of a sink, as it stands in Kafka beside the published changes.

Every transaction ends with one record on the progress topic: which time it completes, of which
input records, and where that leaves each view. The record says of itself (`seal`) and of the one
before it (`previous`) what they are, so records that are damaged, missing, copied or foreign are
told from ours.

One record in `FULL_EVERY` is full: it has every view. The others have their `changes` since the
record before, members that differ alone, so that their size does not depend on the number of views.
As nearly all views do nothing in a batch but say that its time is complete, a record that
`advances` takes that as given: each view's `sequence` goes on by its `frontiers`, unless it has
failed or lags.

Compaction keeps the last record of each key. The key of a full record is the connection's name, and
that of the n-th record after it the name and n: so the last full record stays, and with it all that
followed; what else is left stands before it, and is passed over.
"""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Self

import orjson

from connectors.errors import SinkDiverged
from connectors.progress.batches import Range

# One record in so many has all views; the others between two of them are read at a start.
FULL_EVERY = 64
_SEPARATOR = "\0"
# Members of full records, in the order in which their seal has them.
_MEMBERS = (
    "service",
    "instance",
    "batch",
    "time",
    "moment",
    "offsets",
    "ranges",
    "views",
    "previous",
    "sources",
)


@dataclass(frozen=True, slots=True)
class Published:
    """A view's share: `life` is the batch that it began with, `sequence` the number to come next.

    `digest` is that of its state, in hexadecimal (see `connectors.sinks.digest`); `failed` says
    why nothing was published since. A view that lags is published up to `complete`, and the other
    views up to the record's time. A frontier is `frontiers` messages; `told` is the time of the
    last one, so that a restart does not tell it again.
    """

    topic: str
    topic_id: str
    plan: str
    life: int
    sequence: int = 0
    digest: str = "0"
    failed: str | None = None
    complete: int | None = None
    frontiers: int = 0
    told: int | None = None

    def members(self) -> dict[str, Any]:
        """The members of a full record for this view; those of before there were some are kept."""
        members = asdict(self)
        if self.complete is None:
            del members["complete"]
        if not self.frontiers:
            del members["frontiers"]
        if self.told is None:
            del members["told"]
        return members

    def advanced(self, time: int) -> "Published":
        """The view's share after a time in which it did not change."""
        if not self.frontiers or self.failed is not None or self.complete is not None:
            return self
        return replace(self, sequence=self.sequence + self.frontiers, told=time)


# The members of a view that differ; all of a new one, and none (None) of one that was dropped.
Changes = Mapping[str, Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress as of one batch; batches are numbered from 1 without gaps.

    `service` is the identity of the data directory that this belongs to, `instance` that of the
    process. `moment` is in microseconds since the epoch; `offsets` by topic and `sources` by source
    are cumulative. Records of before there were `sources` have none, and neither does their seal.

    A record with `changes` says where `views` differ from those of the record before it; `full` is
    the batch of the last full one. `is_whole` is false of one that was read without those between.
    """

    service: str
    instance: str
    batch: int = 0
    time: int = 0
    moment: int = 0
    offsets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    views: Mapping[str, Published] = field(default_factory=dict)
    previous: str = ""
    sources: Mapping[str, Mapping[str, int]] | None = None
    full: int = 0
    advances: bool = False
    changes: Changes | None = None
    is_whole: bool = True

    def seal(self) -> str:
        """A digest of all that the record says."""
        return blake2b(orjson.dumps(self._members()), digest_size=16).hexdigest()

    def encode(self) -> bytes:
        """The record's value."""
        return orjson.dumps({**self._members(), "seal": self.seal()})

    def key(self, connection: str) -> bytes:
        """The record's key on the progress topic of this connection."""
        if self.changes is None:
            return connection.encode()
        return f"{connection}{_SEPARATOR}{self.batch - self.full}".encode()

    def next(
        self,
        views: Mapping[str, Published] | None = None,
        *,
        advances: bool = False,
        in_full: bool = False,
        **changed: Any,
    ) -> Self:
        """The record after this one; whether it `advances` views is the caller's to say."""
        full = self.batch if self.changes is None else self.full
        views, batch = self.views if views is None else views, self.batch + 1
        later = replace(self, batch=batch, previous=self.seal(), views=views, **changed)
        if in_full or batch - full >= FULL_EVERY:
            return replace(later, full=0, advances=False, changes=None)
        changes = _changes(_expected(self.views, advances, later.time), views)
        return replace(later, full=full, advances=advances, changes=changes)

    def _members(self) -> dict[str, Any]:
        members = {name: getattr(self, name) for name in _MEMBERS}
        if self.sources is None:
            del members["sources"]
        members["ranges"] = [astuple(r) for r in self.ranges]
        if self.changes is None:
            members["views"] = {name: view.members() for name, view in self.views.items()}
            return members
        del members["views"]
        of_changes = {"full": self.full, "advances": self.advances, "changes": self.changes}
        return {**members, **of_changes}


def is_key(key: bytes | None, connection: str) -> bool:
    """Whether records with this key are those of a connection."""
    name, _, number = (key or b"").decode(errors="replace").partition(_SEPARATOR)
    return name == connection and (number.isdecimal() or key == connection.encode())


def _expected(views: Mapping[str, Published], advances: bool, time: int) -> Mapping[str, Published]:
    """The views after a record of a time that names none."""
    return {name: view.advanced(time) for name, view in views.items()} if advances else views


def _changes(before: Mapping[str, Published], after: Mapping[str, Published]) -> Changes:
    """The members that make `before` into `after`."""
    changes: dict[str, Mapping[str, Any] | None] = dict.fromkeys(before.keys() - after.keys())
    for name, view in after.items():
        known = before.get(name)
        if known is None:
            changes[name] = asdict(view)
        elif known != view:
            former = asdict(known)
            changes[name] = {m: v for m, v in asdict(view).items() if v != former[m]}
    return changes


def _changed(before: Mapping[str, Published], changes: Changes) -> Mapping[str, Published]:
    """The views after these changes."""
    after = dict(before)
    for name, members in changes.items():
        if members is None:
            after.pop(name, None)
        elif name in after:
            after[name] = replace(after[name], **members)
        else:
            after[name] = Published(**members)
    return after


def decode(value: bytes | None, where: str, earlier: Progress | None = None) -> Progress:
    """The record of a value, which follows `earlier`, if that is known.

    Raises SinkDiverged, which names `where`, if it is none of ours, or cannot follow.
    """
    try:
        members = orjson.loads(value or b"")
        seal = members.pop("seal")
        ranges = tuple(Range(*r) for r in members.pop("ranges"))
        views = {name: Published(**view) for name, view in members.pop("views", {}).items()}
        found = Progress(ranges=ranges, views=views, **members)
        is_ours = found.seal() == seal
        if is_ours and earlier is not None:
            check(earlier, found, where)
        if is_ours and found.changes is not None:
            found = _merged(found, found.changes, earlier)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SinkDiverged(f"{where} is no record of progress: {error!r}; {REMEDY}") from error
    if not is_ours:
        raise SinkDiverged(f"{where} was changed: its seal does not hold; {REMEDY}")
    return found


def _merged(found: Progress, changes: Changes, earlier: Progress | None) -> Progress:
    """The record with all views, if it comes right after one that has them."""
    if earlier is None or not earlier.is_whole or found.batch != earlier.batch + 1:
        return replace(found, is_whole=False)
    expected = _expected(earlier.views, found.advances, found.time)
    return replace(found, views=_changed(expected, changes))


def check(earlier: Progress, later: Progress, where: str) -> None:
    """Raise SinkDiverged unless `later` may follow; compaction may have removed others between."""
    adjoin = later.batch == earlier.batch + 1
    if later.batch <= earlier.batch or (adjoin and later.previous != earlier.seal()):
        raise SinkDiverged(
            f"{where} does not follow the record before it (batch {later.batch} after "
            f"{earlier.batch}): something else than this service wrote there; {REMEDY}"
        )


REMEDY = (
    "restore the topic, or drop the views that publish through this connection and make them anew "
    "under another `service`"
)
