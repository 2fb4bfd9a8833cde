"""The progress of a sink, as it stands in Kafka beside the published changes.

Every transaction ends with one record on the progress topic: which time it completes, of which
input records, and where that leaves each view. The record says of itself (`seal`) and of the one
before it (`previous`) what they are, so records that are damaged, missing, copied or foreign are
told from ours. The key is the connection's name; with compaction the last record stays for ever.
"""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Self

import orjson

from connectors.errors import SinkDiverged
from connectors.progress.batches import Range


@dataclass(frozen=True, slots=True)
class Published:
    """A view's share: `life` is the batch that it began with, `sequence` the number to come next.

    `digest` is that of its state, in hexadecimal (see `connectors.sinks.digest`); `failed` says
    why nothing was published since. A view that lags is published up to `complete`, and the other
    views up to the record's time.
    """

    topic: str
    topic_id: str
    plan: str
    life: int
    sequence: int = 0
    digest: str = "0"
    failed: str | None = None
    complete: int | None = None

    def members(self) -> dict[str, Any]:
        """The members of the record for this view; without a lag there is no member for it."""
        members = asdict(self)
        if self.complete is None:
            del members["complete"]
        return members


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress as of one batch; batches are numbered from 1 without gaps.

    `service` is the identity of the data directory that this belongs to, `instance` that of the
    process. `moment` is in microseconds since the epoch; `offsets` by topic and `sources` by source
    are cumulative. Records of before there were `sources` have none, and neither does their seal.
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

    def seal(self) -> str:
        """A digest of all that the record says."""
        return blake2b(orjson.dumps(self._members()), digest_size=16).hexdigest()

    def encode(self) -> bytes:
        """The record's value."""
        return orjson.dumps({**self._members(), "seal": self.seal()})

    def next(self, **changes: Any) -> Self:
        """The record after this one."""
        return replace(self, batch=self.batch + 1, previous=self.seal(), **changes)

    def _members(self) -> dict[str, Any]:
        views = {name: view.members() for name, view in self.views.items()}
        members = {name: getattr(self, name) for name in self.__slots__}
        if self.sources is None:
            del members["sources"]
        return {**members, "ranges": [astuple(r) for r in self.ranges], "views": views}


def decode(value: bytes | None, where: str) -> Progress:
    """The record of a value (raises SinkDiverged, which names `where`, if it is none of ours)."""
    try:
        members = orjson.loads(value or b"")
        seal = members.pop("seal")
        ranges = tuple(Range(*r) for r in members.pop("ranges"))
        views = {name: Published(**view) for name, view in members.pop("views").items()}
        found = Progress(ranges=ranges, views=views, **members)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SinkDiverged(f"{where} is no record of progress: {error!r}; {REMEDY}") from error
    if found.seal() != seal:
        raise SinkDiverged(f"{where} was changed: its seal does not hold; {REMEDY}")
    return found


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
