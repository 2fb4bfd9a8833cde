"""Views get another definition in place: previews, approvals, and what sinks and readers see."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.errors import DifferentDefinition, NotReady, PreviewOutdated, ReplacementRefused
from api.routes.replacements import described
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.sinks.json_rows import json_rows
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint
from tests.unit.api.test_widening import NOTE, deltas, order, rows, table, write
from views.errors import StillUsed, UnknownName
from views.lowering.temporal_filter import CLOCK

pytestmark = pytest.mark.usefixtures("engine")

TOTALS = "SELECT customer, sum(amount)::bigint AS total FROM orders GROUP BY customer"
LARGE = "SELECT customer, sum(amount)::bigint AS total FROM orders WHERE id > 1 GROUP BY customer"
COUNTED = (
    "SELECT customer, sum(amount)::bigint AS total, count(*) AS n FROM orders GROUP BY customer"
)
BEST = "SELECT customer FROM totals WHERE total > 5"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with three orders of two customers, a view, and a view over it."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    runtime.views.put(Definition("totals", TOTALS))
    runtime.views.put(Definition("best", BEST))
    write(tmp_path, runtime, order(1), order(2), order(3, customer="bob"))
    return runtime


def prepare(runtime: Runtime, query: str = LARGE, name: str = "totals") -> str:
    """Put a replacement, and wait for it: its version."""
    waiting = runtime.replacements.put(Definition(name, query))
    assert waiting is not None
    assert waiting.ended.wait(10)
    assert waiting.reason is None
    return waiting.pending.version


def seen(runtime: Runtime, name: str = "totals") -> dict[str, Any]:
    """The preview of a replacement."""
    return described(runtime, runtime.replacements.get(name)).model_dump(exclude_unset=True)


def folded(data: Path, view: str) -> Counter[str]:
    """The rows that the whole of a view's delta topic leaves."""
    counts: Counter[str] = Counter()
    for line in deltas(data, view):
        counts[repr(line["row"])] += line["diff"]
    assert min(counts.values(), default=0) >= 0
    return +counts


def shown(runtime: Runtime, view: str) -> Counter[str]:
    found = runtime.pool.scan(view)
    return Counter(
        {repr(r): n for r, n in zip(json_rows(found.rows), found.counts.tolist(), strict=True)}
    )


def test_the_preview_tells_the_difference_and_publishes_nothing(
    runtime: Runtime, tmp_path: Path
) -> None:
    before = deltas(tmp_path, "totals"), rows(runtime, "totals")
    prepare(runtime)
    found = seen(runtime)
    assert (found["status"], found["rows_in"], found["rows_out"]) == ("ready", 1, 1)
    assert found["sample_in"] == [{"customer": "ada", "total": 4}]
    assert found["sample_out"] == [{"customer": "ada", "total": 6}]
    assert found["dependants"] == [{"view": "best", "rows_in": 0, "rows_out": 1}]
    assert (deltas(tmp_path, "totals"), rows(runtime, "totals")) == before


def test_the_preview_follows_what_happens(runtime: Runtime, tmp_path: Path) -> None:
    prepare(runtime)
    write(tmp_path, runtime, order(1), op="d")
    assert (seen(runtime)["rows_in"], seen(runtime)["rows_out"]) == (0, 0)
    write(tmp_path, runtime, order(0))
    assert (seen(runtime)["rows_in"], seen(runtime)["rows_out"]) == (0, 0)
    write(tmp_path, runtime, order(1, amount=3))
    assert (seen(runtime)["rows_in"], seen(runtime)["rows_out"]) == (1, 1)


def test_an_approval_publishes_exactly_the_difference_at_one_time(
    runtime: Runtime, tmp_path: Path
) -> None:
    before = {view: len(deltas(tmp_path, view)) for view in ("totals", "best")}
    time = runtime.replacements.approve("totals", prepare(runtime), None)
    changed = {view: deltas(tmp_path, view)[count:] for view, count in before.items()}
    ada = {"customer": "ada"}
    assert changed == {
        "totals": [
            {"op": "-", "diff": -1, "time": time, "row": {**ada, "total": 6}},
            {"op": "+", "diff": 1, "time": time, "row": {**ada, "total": 4}},
        ],
        "best": [{"op": "-", "diff": -1, "time": time, "row": ada}],
    }
    assert runtime.views.get("totals").query == LARGE
    assert runtime.pool.scan("totals").time == time


def test_the_views_go_on_with_the_new_definition(runtime: Runtime, tmp_path: Path) -> None:
    runtime.replacements.approve("totals", prepare(runtime), None)
    write(tmp_path, runtime, order(4), order(0))
    assert rows(runtime, "totals") == [
        {"customer": "ada", "total": 12},
        {"customer": "bob", "total": 6},
    ]
    for view in ("totals", "best"):
        assert folded(tmp_path, view) == shown(runtime, view)
    assert not runtime.applier.successors.failed
    assert runtime.pool.names == {"orders", "totals", "best", CLOCK.name}


def test_other_columns_take_all_rows_back_and_bring_the_new_ones(
    runtime: Runtime, tmp_path: Path
) -> None:
    version = prepare(runtime, COUNTED)
    found = seen(runtime)
    assert [c["name"] for c in found["schema_changes"]["added"]] == ["n"]
    assert (found["rows_in"], found["rows_out"]) == (2, 2)
    before = len(deltas(tmp_path, "totals"))
    runtime.replacements.approve("totals", version, None)
    assert [line["op"] for line in deltas(tmp_path, "totals")[before:]] == ["-", "-", "+", "+"]
    write(tmp_path, runtime, order(4))
    assert folded(tmp_path, "totals") == shown(runtime, "totals")
    assert folded(tmp_path, "best") == shown(runtime, "best")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT customer FROM orders", "view 'best' reads 'totals', and could not any more"),
        ("SELECT customer, 'x' AS total FROM orders", "could not any more"),
        ("SELECT id AS customer, amount AS total FROM orders", "would have other columns"),
        ("SELECT customer, 6 AS total FROM best", "and so itself"),
        ("SELECT customer, total FROM totals", "and so itself"),
    ],
)
def test_what_would_break_a_view_over_it_is_refused(
    runtime: Runtime, query: str, told: str
) -> None:
    with pytest.raises(ReplacementRefused, match=told):
        runtime.replacements.put(Definition("totals", query))
    with pytest.raises(UnknownName):
        runtime.replacements.get("totals")


def test_the_same_definition_is_there_already(runtime: Runtime) -> None:
    assert runtime.replacements.put(Definition("totals", TOTALS)) is None


def test_another_sink_or_other_lookups_are_refused(runtime: Runtime) -> None:
    with pytest.raises(DifferentDefinition):
        runtime.replacements.put(Definition("totals", LARGE, lookups=False))


def test_an_approval_of_a_former_preview_is_refused(runtime: Runtime) -> None:
    former = prepare(runtime)
    assert prepare(runtime) == former
    prepare(runtime, LARGE.replace("id > 1", "id > 2"))
    with pytest.raises(PreviewOutdated):
        runtime.replacements.approve("totals", former, None)


def test_an_approval_may_insist_on_the_difference_that_was_seen(
    runtime: Runtime, tmp_path: Path
) -> None:
    version = prepare(runtime)
    time = seen(runtime)["time"]
    write(tmp_path, runtime, order(5, customer="eve"))
    write(tmp_path, runtime, order(1, customer="ada", amount=9))
    with pytest.raises(PreviewOutdated, match="has changed at time"):
        runtime.replacements.approve("totals", version, time)
    time = seen(runtime)["time"]
    write(tmp_path, runtime, order(6, customer="eve"))
    runtime.replacements.approve("totals", version, time)


def test_a_view_that_was_made_over_it_since_outdates_the_preview(runtime: Runtime) -> None:
    version = prepare(runtime)
    runtime.views.put(Definition("worst", "SELECT customer FROM totals WHERE total < 5"))
    assert seen(runtime)["status"] == "outdated"
    with pytest.raises(PreviewOutdated, match="worst"):
        runtime.replacements.approve("totals", version, None)


def test_a_discarded_replacement_leaves_nothing(runtime: Runtime, tmp_path: Path) -> None:
    names = runtime.pool.names
    prepare(runtime)
    runtime.replacements.discard("totals")
    assert runtime.pool.names == names
    with pytest.raises(UnknownName):
        runtime.replacements.get("totals")
    assert runtime_on(tmp_path).registry.replacements == {}


def test_what_a_replacement_needs_cannot_be_dropped(runtime: Runtime) -> None:
    runtime.views.put(Definition("ids", "SELECT id, customer, amount FROM orders WHERE id > 1"))
    prepare(runtime, "SELECT customer, sum(amount)::bigint AS total FROM ids GROUP BY customer")
    for name in ("ids", "best"):
        with pytest.raises(StillUsed, match="replacement of view 'totals'"):
            runtime.views.drop(name)


def test_a_source_gets_no_columns_while_a_replacement_needs_it(runtime: Runtime) -> None:
    prepare(runtime)
    with pytest.raises(StillUsed, match="replacement of view 'totals'"):
        runtime.sources.put(table(NOTE))
    runtime.replacements.discard("totals")
    runtime.sources.put(table(NOTE))
    assert rows(runtime, "best") == [{"customer": "ada"}, {"customer": "bob"}]


def test_a_view_is_dropped_with_its_replacement(runtime: Runtime) -> None:
    runtime.views.drop("best")
    prepare(runtime)
    runtime.views.drop("totals")
    assert runtime.pool.names == {"orders", CLOCK.name}
    assert runtime.registry.replacements == {}


def test_replacements_that_concern_one_another_wait_for_one_another(runtime: Runtime) -> None:
    prepare(runtime)
    with pytest.raises(StillUsed):
        prepare(runtime, "SELECT customer FROM orders", "best")


def test_row_errors_change_with_the_definition(runtime: Runtime, tmp_path: Path) -> None:
    write(tmp_path, runtime, order(0))
    failing = "SELECT customer, sum(10 / id)::bigint AS total FROM orders GROUP BY customer"
    runtime.replacements.approve("totals", prepare(runtime, failing), None)
    assert sum(runtime.applier.errors["totals"].values()) == 1
    runtime.replacements.approve("totals", prepare(runtime, TOTALS), None)
    assert runtime.applier.errors["totals"] == Counter()
    lines = [orjson.loads(line) for line in lines_of(tmp_path, "totals")]
    assert sum(line["diff"] for line in lines if "error" in line) == 0


def lines_of(data: Path, view: str) -> list[bytes]:
    topic = data / "topics" / f"deltas.{view}" / "0"
    return [line for one in sorted(topic.iterdir()) for line in one.read_bytes().splitlines()]


def test_views_that_keep_no_rows_are_replaced_too(runtime: Runtime, tmp_path: Path) -> None:
    runtime.views.put(Definition("followed", TOTALS, lookups=False))
    waiting = runtime.replacements.put(Definition("followed", LARGE))
    assert waiting is not None
    waiting.ended.wait(10)
    runtime.replacements.approve("followed", waiting.pending.version, None)
    write(tmp_path, runtime, order(4))
    ada, bob = {"customer": "ada", "total": 12}, {"customer": "bob", "total": 6}
    assert folded(tmp_path, "followed") == Counter([repr(ada), repr(bob)])


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_restart_finds_the_replacement_or_the_replaced(
    runtime: Runtime, tmp_path: Path, *, checkpoint: bool
) -> None:
    version = prepare(runtime)
    if checkpoint:
        assert take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    waiting = again.replacements.get("totals")
    assert waiting.ended.wait(10)
    assert seen(again)["rows_in"] == 1
    again.replacements.approve("totals", version, None)
    write(tmp_path, again, order(4))
    last = runtime_on(tmp_path)
    assert last.readiness.fault() is None
    assert last.views.get("totals").query == LARGE
    for view in ("totals", "best"):
        assert folded(tmp_path, view) == shown(last, view) == shown(again, view)
    pipeline_of(last).step()


class Died(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("query", [LARGE, COUNTED], ids=["same columns", "other columns"])
@pytest.mark.parametrize("checkpoint", [False, True], ids=["", "after a checkpoint"])
@pytest.mark.parametrize(
    ("moment", "is_begun"),
    [
        ("api.registry.Registry.set_replacement", False),
        ("connectors.ingest.successors.Successors.take_over", True),
        ("connectors.sinks.deltas.DeltaSink.redefine", True),
        ("connectors.files.writer.TopicWriter.sync", True),
        ("connectors.progress.journal.Journal.commit", True),
        ("api.registry.Registry.save", True),
    ],
)
def test_what_an_approval_has_begun_a_start_carries_out(
    runtime: Runtime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    query: str,
    *,
    is_begun: bool,
    checkpoint: bool,
) -> None:
    def die(*_: object, **__: object) -> None:
        raise Died

    version = prepare(runtime, query)
    if checkpoint:
        assert take_checkpoint(runtime)
        write(tmp_path, runtime, order(6))
    with monkeypatch.context() as patch:
        patch.setattr(moment, die)
        with pytest.raises(Died):
            runtime.replacements.approve("totals", version, None)
    runtime.registry.save()  # as another declaration does
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    assert (again.views.get("totals").query == query) is is_begun
    assert again.registry.replacements.keys() == (set() if is_begun else {"totals"})
    for number in (7, 8):
        for view in ("totals", "best"):
            assert folded(tmp_path, view) == shown(again, view)
        write(tmp_path, again, order(number))
        again = runtime_on(tmp_path)


@pytest.mark.parametrize(
    "moment",
    [
        "connectors.ingest.successors.Successors.take_over",
        "connectors.sinks.deltas.DeltaSink.redefine",
    ],
)
def test_an_approval_that_is_not_carried_out_waits_for_a_start(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def die(*_: object) -> None:
        raise Died

    version = prepare(runtime)
    monkeypatch.setattr(moment, die)
    with pytest.raises(Died):
        runtime.replacements.approve("totals", version, None)
    with pytest.raises(NotReady, match="a start of the service"):
        runtime.replacements.discard("totals")
    with pytest.raises(NotReady):
        prepare(runtime, COUNTED)
    with pytest.raises(NotReady):
        runtime.replacements.approve("totals", version, None)
