"""A service that takes checkpoints and restarts publishes what one without any does."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import orjson
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from api.runtime import Runtime
from api.services.definition import Definition
from connectors.declaration import ReplicaIdentity
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint, write_rows

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string()),
    pa.field("at", pa.int64(), nullable=False),
]
SCHEMA = pa.schema(FIELDS)
TABLES = ("a", "b")
SECOND = 1_000_000
VIEWS = {
    "counted": "SELECT name, count(*) AS n, max(at) AS at FROM a GROUP BY name",
    "joined": "SELECT a.id, b.name FROM a JOIN b ON a.at = b.at",
    "recent": "SELECT id FROM b WHERE to_timestamp(at) > now() - interval '5 seconds'",
    "lacking": "SELECT id, name FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id)",
}
names = st.sampled_from(["x", "a longer name", "another long name", None])
rows = st.builds(lambda i, n, a: {"id": i, "name": n, "at": a}, st.integers(0, 5), names,
                 st.integers(0, 9))  # fmt: skip
changes = st.tuples(st.sampled_from(TABLES), st.lists(st.tuples(rows, st.sampled_from([1, 1, -1])),
                    min_size=1, max_size=6))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Act:
    """What happens next: `what` to `name`, with `more`."""

    what: str
    name: str = ""
    more: Any = None


acts = st.one_of(
    changes.map(lambda c: Act("write", *c)),
    st.sampled_from(sorted(VIEWS)).map(lambda name: Act("view", name)),
    st.just(Act("tick")),
    st.sampled_from(TABLES).map(lambda name: Act("redeclare", name)),
    st.just(Act("checkpoint")),
    st.sampled_from([1, 2]).map(lambda workers: Act("restart", more=workers)),
)


@contextmanager
def clock() -> Iterator[None]:
    """A clock that goes on by a second whenever it is read, the same in every run."""
    seconds = count(1)
    fake = SimpleNamespace(
        time_ns=lambda: next(seconds) * SECOND * 1_000, monotonic=lambda: 0.0, time=lambda: 0.0
    )
    with patch("connectors.ingest.delivery.clock", fake):
        yield


def declare(runtime: Runtime, name: str) -> None:
    """A table of whole images, or one whose rows are set and deleted by their key."""
    identity: ReplicaIdentity = "full" if name == "a" else "default"
    runtime.sources.put(TableSpec(name, name, SCHEMA, ("id",), replica_identity=identity))


def perform(runtime: Runtime, data: Path, act: Act, *, with_checkpoints: bool) -> Runtime:
    """Do it; the runtime after it."""
    if act.what == "write":
        write_rows(data, act.name, *act.more)
        pipeline_of(runtime).step()
    elif act.what == "tick":
        pipeline_of(runtime).tick()
    elif act.what == "view":
        if runtime.registry.view(act.name) is None:
            runtime.views.put(Definition(act.name, VIEWS[act.name]))
        else:
            runtime.views.drop(act.name)
    elif act.what == "redeclare":
        for view in VIEWS:
            if runtime.registry.view(view) is not None:
                runtime.views.drop(view)
        runtime.sources.drop(act.name)
        declare(runtime, act.name)
        pipeline_of(runtime).step()
    elif act.what == "checkpoint" and with_checkpoints:
        take_checkpoint(runtime)
        assert runtime.checkpoints.counts.error is None
    elif act.what == "restart":
        runtime.stop()
        runtime = runtime_on(data, workers=act.more)
        assert runtime.readiness.fault() is None
    return runtime


def published(data: Path) -> dict[str, list[bytes]]:
    """The lines of each delta topic, those of one time in a settled order."""
    found = {}
    for topic in sorted((data / "topics").glob("deltas.*")):
        lines = [line for segment in sorted((topic / "0").iterdir()) for line in _lines(segment)]
        found[topic.name] = sorted(lines, key=lambda line: (_time(line), line))
    return found


def _lines(segment: Path) -> list[bytes]:
    return segment.read_bytes().splitlines()


def _time(line: bytes) -> tuple[int, bool]:
    record = orjson.loads(line)
    return record.get("time", record.get("frontier")), "frontier" in record


def told(runtime: Runtime) -> dict[str, Any]:
    """What a reader finds."""
    names = [*TABLES, *(view.name for view in runtime.registry.catalog.views)]
    contents: dict[str, Any] = {}
    for name in names:
        snapshot = runtime.pool.scan(name)
        pairs = zip(map(repr, snapshot.rows.to_pylist()), snapshot.counts.tolist(), strict=True)
        contents[name] = sorted(pairs), snapshot.errors
        for number in range(3):
            if "id" in snapshot.rows.schema.names and name in TABLES:
                looked_up = runtime.pool.peek(name, {"id": number}).rows
                contents[f"{name}[{number}]"] = sorted(map(repr, looked_up.to_pylist()))
    return contents | {"offsets": runtime.applier.offsets(), "time": runtime.pool.frontier}


def run(acts: list[Act], *, with_checkpoints: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    with TemporaryDirectory() as directory, clock():
        data = Path(directory)
        runtime = runtime_on(data)
        for name in TABLES:
            declare(runtime, name)
        for act in acts:
            runtime = perform(runtime, data, act, with_checkpoints=with_checkpoints)
        found = told(runtime), published(data)
        runtime.stop()
        return found


@settings(max_examples=60)
@given(st.lists(acts, min_size=3, max_size=14))
def test_checkpoints_change_nothing_that_a_reader_sees(acts: list[Act]) -> None:
    ended = [*acts, Act("checkpoint"), Act("restart", more=1), Act("tick")]
    assert run(ended, with_checkpoints=True) == run(ended, with_checkpoints=False)
