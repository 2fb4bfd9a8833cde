"""A look tells of each source and view what the overview shows; rates are those between two."""

from api.console.looks import Looks
from api.runtime import Runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order


def test_a_view_is_told_with_its_state_and_what_it_holds(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "2"), 1), (order(2, "bob", "3"), 1))
    (view,) = Looks(runtime).look().views
    assert (view["view"], view["state"], view["errors"], view["why"]) == (
        "totals",
        "running",
        0,
        "",
    )
    assert view["updates held"] == 2
    assert view["KiB"] > 0


def test_there_are_no_rates_before_a_second_look(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    looks = Looks(runtime)
    assert looks.look().views[0]["changes/s"] is None
    pipeline.deliver("orders", (order(1, "ada", "2"), 1))
    assert looks.look().views[0]["changes/s"] > 0
    assert looks.look().views[0]["changes/s"] == 0


def test_a_source_is_told_with_its_topic_and_lag(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    (source,) = Looks(runtime).look().sources
    assert (source["source"], source["topic"], source["lag"]) == ("orders", "orders", 0)


def test_a_failed_view_is_told_with_the_reason(runtime: Runtime, pipeline: DirectPipeline) -> None:
    runtime.applier.failed["totals"] = "it ran out of memory"
    (view,) = Looks(runtime).look().views
    assert (view["state"], view["why"]) == ("failed", "it ran out of memory")


def test_a_service_that_is_not_ready_says_why(runtime: Runtime, pipeline: DirectPipeline) -> None:
    assert Looks(runtime).look().fault is None
    runtime.readiness.fail("the journal cannot be read")
    assert "the journal cannot be read" in (Looks(runtime).look().fault or "")
