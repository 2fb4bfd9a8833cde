"""The text of a physical plan says what is built: operators, what they reuse, and why."""

import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
)
from ivm.dataflow.nodes import columns as columns_of
from ivm.errors import SchemaMismatch, UnknownCollection
from ivm.physical.operation import Names, Operation
from ivm.physical.plan import PhysicalPlan
from ivm.physical.text import plan_text
from ivm.planner.dispatch import Planner
from ivm.pool import Pool

INT = pa.int64()
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b")])
pairs = Get("pairs", PAIRS)
ends: Node = Map(pairs, (("b", columns_of(pairs)[1]),))
counted = Reduce(pairs, (1,), (Aggregate("count", None, "n", INT, False),))
reached = Recursive("reached", PAIRS)
onward = Join(Arrange(reached, (1,)), Arrange(pairs, (0,)), (("a", 1), ("b", 2)))
closure = Iterate((("reached", Distinct(Union((pairs, onward)))),), "reached", max_rounds=50)


def pool(workers: int = 1, *, insert_only: bool = False) -> Pool:
    made = Pool(workers)
    made.create_input("pairs", PAIRS, ["a"], insert_only=insert_only)
    return made


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_a_plan_lists_what_it_reuses_and_makes_with_the_stages_of_each() -> None:
    assert pool().plan_text(counted, ["b"]).splitlines() == [
        "reuse pairs[a]",
        "make (new)[b]",
        "  #0 AccumulateArranged pairs[a] by ($1): n := count(*)",
        "  #1 Arrange #0 by ($0)",
        "deliver",
        "  #2 CaptureArranged (new)[b]",
    ]


def test_what_nothing_arranges_is_delivered_as_rows() -> None:
    assert lines(pool().plan_text(ends, None))[-1] == "#1 CaptureRows #0"


def test_sums_by_the_key_of_an_arrangement_go_key_by_key() -> None:
    by_a = Reduce(pairs, (0,), counted.aggregates)
    assert "AccumulateArranged pairs[a] by ($0), key by key: n := count(*)" in pool().plan_text(
        by_a, ["a"]
    )


def test_distinct_rows_of_what_only_grows_are_those_not_known_yet() -> None:
    text = pool(insert_only=True).plan_text(Distinct(ends), ["b"])
    assert "#1 DistinctMonotonic #0, by known rows: its rows only come" in lines(text)
    assert "deliver, rows only come" in lines(text)


def test_distinct_rows_of_what_shrinks_are_counted() -> None:
    text = pool().plan_text(Distinct(ends), ["b"])
    assert "#1 Accumulate #0 by ($0): each once" in lines(text)
    assert "deliver" in lines(text)


def test_a_recursion_shows_its_depth_its_bound_and_its_body() -> None:
    text = pool().plan_text(closure, ["a"]).splitlines()
    loop = next(line for line in text if " Loop " in line)
    assert loop.endswith("Loop over reached at depth 2, at most 50 rounds")
    body = [line.split()[1] for line in text if line.startswith("    #")]
    assert body[0] == "Variable"
    assert "ReduceInLoop" in body
    assert body[-2:] == ["Feedback", "Collect"]


def test_a_recursion_that_only_grows_keeps_no_rounds() -> None:
    text = pool(insert_only=True).plan_text(closure, ["a"])
    assert "at most 50 rounds, rows only come" in text
    (arranged,) = (line for line in lines(text) if "ArrangeMonotonic" in line)
    assert arranged.endswith("by ($1), without rounds: its rows only come")


def test_several_workers_exchange_rows_by_their_key() -> None:
    by_b = Reduce(ends, (0,), counted.aggregates)
    assert "Exchange" not in pool(1).plan_text(by_b, ["b"])
    assert "by ($0) to ($0), few rows to the first shard" in pool(2).plan_text(by_b, ["b"])


def test_what_another_dataflow_made_is_reused_by_its_name() -> None:
    given = pool()
    joined = Join(Arrange(Distinct(ends), (0,)), Arrange(pairs, (0,)), (("b", 0),))
    given.install("first", joined, ["b"])
    assert "reuse first.2[b]" in lines(given.plan_text(Distinct(joined), ["b"]))


def test_what_was_printed_is_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    given, made = pool(), list[PhysicalPlan]()
    plan = Planner.plan

    def noted(planner: Planner, wanted: Arrange) -> PhysicalPlan:
        made.append(plan(planner, wanted))
        return made[-1]

    monkeypatch.setattr(Planner, "plan", noted)
    text = given.plan_text(counted, ["b"])
    given.install("counted", counted, ["b"])
    (built,) = made
    assert plan_text(built, ["pairs[a]"]) == text


def test_printing_a_plan_changes_nothing() -> None:
    given = pool()
    before = given.arrangements()
    given.plan_text(counted, ["b"])
    assert given.names == {"pairs"}
    assert given.arrangements() == before


def test_a_plan_of_what_cannot_be_installed_is_refused() -> None:
    with pytest.raises(UnknownCollection):
        pool().plan_text(Get("nothing", PAIRS), ["a"])
    with pytest.raises(SchemaMismatch):
        pool().plan_text(counted, ["nothing"])


def test_an_operation_that_does_not_say_what_it_makes_is_no_import() -> None:
    with pytest.raises(TypeError, match="'makes' and 'puts_out_what_it_reads'"):

        class Forgotten(Operation):  # type: ignore[call-arg]
            @property
            def arguments(self) -> tuple[object, ...]:
                return ()

            def text(self, names: Names) -> str:
                return ""
