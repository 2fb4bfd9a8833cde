"""The status of a pipeline, as its callers see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from connectors.health import PartFault
from connectors.ingest.lag import Ages, Behind

State = Literal["stopped", "starting", "replaying", "running", "stalled", "failed"]


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The pipeline as `/readyz` and `/metrics` see it.

    `time` is the last one received (0: none); `records` counts records since the start, replayed
    ones included; `lag` is the number of records not yet received, by source, topic and partition;
    `error` says why the state is `stalled`, all tables with it, or `failed`; it names topic,
    partition, offset and reason for a stall.
    `faults` keep parts from their work while the state is what it is. `delivering` is how many
    seconds were spent on delivering batches, what the receiver did included. `ages` tells for how
    many seconds the oldest record not yet received has been there, and `positions` the offset of
    the next record, both by source, topic and partition. `decoding` is how many seconds Spark's
    processes took to decode, by table; `waiting` the batches that wait to be delivered, and
    `queries` how often one of Spark's queries was started.
    """

    state: State
    error: str | None
    time: int
    records: int
    records_per_second: float
    lag: Behind
    faults: tuple[PartFault, ...] = ()
    delivering: float = 0.0
    ages: Ages = field(default_factory=dict)
    positions: Behind = field(default_factory=dict)
    decoding: Mapping[str, float] = field(default_factory=dict)
    waiting: int = 0
    queries: int = 0
