"""The target of a view in Kafka: its topic, its connection, and the form of its messages.

Part of a view's definition: it names a connection of the operator's and no address, so it may be
shown to everyone.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from connectors.errors import InvalidSink

OutputEnvelope = Literal["delta", "upsert", "debezium"]
OutputFormat = Literal["json", "avro", "connect-json"]

# Headers that every message has; a column of such a name would be told twice.
_OWN = ("view", "life", "time", "sequence")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class KafkaTarget:
    """A topic on a connection; raises InvalidSink for a name that Kafka does not take.

    `snapshot`: the rows that the view has when it is made are published, too. `partitions`,
    `replication` and `config` hold for a topic that is made; where they are given, a topic that is
    there must agree. Without them the broker's defaults hold. `headers` are columns of the view
    that each message of a row has as headers, too.
    """

    connection: str
    topic: str
    envelope: OutputEnvelope = "delta"
    format: OutputFormat = "json"
    snapshot: bool = True
    partitions: int | None = None
    replication: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)
    headers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _TOPIC.fullmatch(self.topic) or self.topic in (".", ".."):
            raise InvalidSink(
                f"{self.topic!r} is no name of a topic: letters, digits, '.', '_' "
                "and '-', at most 249 of them"
            )
        for name, count in Counter((*_OWN, *self.headers)).items():
            if count > 1:
                by = "every message has one of this name" if name in _OWN else "it is there twice"
                raise InvalidSink(
                    f"headers: {name!r}: {by}; give the column another name in the query"
                )

    @property
    def is_compacted(self) -> bool:
        """Whether the last message of each key says all; of deltas each counts."""
        return self.envelope != "delta"

    @property
    def defaults(self) -> Mapping[str, str]:
        """Settings of a topic that is made, unless `config` says otherwise.

        One row per key is to be there for every reader, however late, so old rows are compacted
        away; deltas are all to be there, for as long as the topic retains them.
        """
        return {"cleanup.policy": "compact" if self.is_compacted else "delete"}

    @property
    def is_typed(self) -> bool:
        """Whether messages are written by a schema with the types of the columns."""
        return self.format != "json"

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` turns into an equal target."""
        return {**asdict(self), "headers": [*self.headers]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The target of `to_json`'s object."""
        return cls(**{**value, "headers": tuple(value.get("headers", ()))})
