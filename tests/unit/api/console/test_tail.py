"""The newest changes of a view come from the end of its topic, however many there are."""

from api.console.tail import MOST_KEPT, Tail
from api.runtime import Runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order


def test_it_begins_with_what_comes_later(runtime: Runtime, pipeline: DirectPipeline) -> None:
    pipeline.deliver("orders", (order(1, "ada", "2"), 1))
    tail = Tail(runtime, "totals")
    assert not tail.advance()
    assert list(tail.newest) == []


def test_the_newest_change_is_first_and_frontiers_are_none(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    tail = Tail(runtime, "totals")
    pipeline.deliver("orders", (order(1, "ada", "2"), 1))
    pipeline.deliver("orders", (order(2, "ada", "3"), 1))
    assert tail.advance()
    assert [(c["time"], c["diff"], c["row"]["total"]) for c in tail.newest] == [
        (2, 1, "5.00"),
        (2, -1, "2.00"),
        (1, 1, "2.00"),
    ]
    assert not tail.advance()


def test_more_than_is_kept_is_passed_over(runtime: Runtime, pipeline: DirectPipeline) -> None:
    tail = Tail(runtime, "totals")
    for _ in range(MOST_KEPT):
        pipeline.deliver("orders", (order(1, "ada", "2"), 1))
    assert tail.advance()
    assert len(tail.newest) <= MOST_KEPT
    assert tail.newest[0]["row"]["orders"] == MOST_KEPT
    assert tail.passed_over > MOST_KEPT


def test_a_view_that_is_no_more_has_no_changes(runtime: Runtime, pipeline: DirectPipeline) -> None:
    tail = Tail(runtime, "totals")
    pipeline.deliver("orders", (order(1, "ada", "2"), 1))
    runtime.views.drop("totals")
    assert not tail.advance()
