"""Views are replaced while batches come: every look-up has the rows of one time."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from api.runtime import Runtime
from api.services.definition import Definition
from connectors.sinks.json_rows import json_rows
from tests.unit.api.filed import runtime_on
from tests.unit.api.test_replacements import BEST, LARGE, TOTALS, prepare
from tests.unit.api.test_widening import deltas, order, table, write

Seen = dict[tuple[str, int], Counter[str]]


@contextmanager
def beside(work: Callable[[], None]) -> Iterator[None]:
    """Repeat `work` on a thread of its own meanwhile; what it raises is raised at the end."""
    stopped, faults = threading.Event(), list[BaseException]()

    def repeat() -> None:
        while not stopped.is_set():
            try:
                work()
            except BaseException as fault:
                faults.append(fault)
                return

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
    if faults:
        raise faults[0]


def look(runtime: Runtime, seen: Seen) -> None:
    """Note the rows of each view as of a time; those of a time are always the same."""
    for view in ("totals", "best"):
        found = runtime.pool.scan(view)
        rows = Counter(
            dict(zip(map(repr, json_rows(found.rows)), found.counts.tolist(), strict=True))
        )
        assert seen.setdefault((view, found.time or 0), rows) == rows


def test_look_ups_find_what_readers_of_the_topics_have_at_the_time(tmp_path: Path) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    runtime.views.put(Definition("totals", TOTALS))
    runtime.views.put(Definition("best", BEST))
    numbers = iter(range(1, 100_000))
    seen: Seen = {}
    with (
        beside(
            lambda: write(tmp_path, runtime, order(next(numbers), customer="abc"[len(seen) % 3]))
        ),
        beside(lambda: look(runtime, seen)),
    ):
        for query in [LARGE, TOTALS] * 4:
            runtime.replacements.approve("totals", prepare(runtime, query), None)
    assert len(seen) > 10
    for (view, time), rows in seen.items():
        folded: Counter[str] = Counter()
        for line in deltas(tmp_path, view):
            if line["time"] <= time:
                folded[repr(line["row"])] += line["diff"]
        assert +folded == rows, (view, time)
