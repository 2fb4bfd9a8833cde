"""Answers about plans and arrangements."""

from api.answers.base import COLUMNS, Answer, Column, example
from api.answers.views import INFO, Arrangement


class MadeArrangement(Answer):
    """The estimate of an arrangement that is not there yet."""

    name: str
    rows: int
    bytes: int


class Arranging(Answer):
    """The arrangements that a view would reuse and make; `basis` says what the numbers are of."""

    reused: list[str]
    created: list[MadeArrangement]
    rows: int
    bytes: int
    basis: str


class Stage(Answer):
    """A stage of the compilation, and its plan as indented text."""

    name: str
    text: str


class Explanation(Answer):
    """The view that a query would make: its columns and key, its arrangements, its plans."""

    model_config = example(
        columns=COLUMNS,
        key=["customer"],
        reads=["orders"],
        arrangements={
            "reused": [],
            "created": [{"name": "revenue[customer]", "rows": 2, "bytes": 128}],
            "rows": 2,
            "bytes": 128,
            "basis": "the rows that its inputs have now",
        },
        stages=[{"name": "plan", "text": "Aggregate"}],
    )

    columns: list[Column]
    key: list[str]
    reads: list[str]
    arrangements: Arranging
    stages: list[Stage]


class UsedArrangement(Arrangement):
    """An arrangement, the views that read it, and the estimated time that making it has taken.

    `unmerged`: its rows in batches that are yet to be merged.
    """

    users: list[str]
    seconds: float | None = None
    unmerged: int = 0


class Arrangements(Answer):
    """Every arrangement, and the state beside it."""

    model_config = example(
        arrangements=[{**INFO, "users": ["revenue"], "seconds": 0.002, "unmerged": 0}]
    )

    arrangements: list[UsedArrangement]


class Shard(Answer):
    """A shard of a cluster: a process of a host, what it holds, and what it sent to the others.

    At `meetings` of all shards it sent so many `blocks` of rows, and bytes. Tasks that read topics
    have brought it so many rows of those that it owns.
    """

    shard: int
    host: str
    process: int
    records: int
    bytes: int
    string_bytes: int
    process_bytes: int
    meetings: int
    blocks: int
    sent_bytes: int
    received_rows: int


class ClusterShards(Answer):
    """The shards that the engine is divided among; none where it is in the service's process."""

    model_config = example(
        shards=[
            {
                "shard": 0,
                "host": "worker-1",
                "process": 4711,
                "records": 2,
                "bytes": 384,
                "string_bytes": 0,
                "process_bytes": 157548544,
                "meetings": 12,
                "blocks": 1,
                "sent_bytes": 688,
                "received_rows": 3,
            }
        ]
    )

    shards: list[Shard]
