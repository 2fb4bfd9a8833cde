"""A view gets another name: look-ups, readers, topics, and a new view of its former name."""

from pathlib import Path

import pytest

from api.errors import RegistryNotWritten
from api.runtime import Runtime
from api.services.definition import Definition
from tests.unit.api.filed import runtime_on, take_checkpoint
from tests.unit.api.test_replacements import BEST, LARGE, TOTALS, folded, prepare, shown
from tests.unit.api.test_widening import order, table, write
from views.errors import NameTaken, StillUsed, UnknownName


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with two orders and a view."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    runtime.views.put(Definition("totals", TOTALS))
    write(tmp_path, runtime, order(1), order(2))
    return runtime


def test_it_goes_on_under_its_new_name_and_its_topic_keeps_the_former(
    runtime: Runtime, tmp_path: Path
) -> None:
    runtime.views.rename("totals", "spent")
    write(tmp_path, runtime, order(3, customer="bob"))
    assert shown(runtime, "spent") == folded(tmp_path, "totals")
    assert [view.name for view in runtime.views.all()] == ["spent"]
    with pytest.raises(UnknownName):
        runtime.views.get("totals")


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_restart_finds_it_by_its_new_name(
    runtime: Runtime, tmp_path: Path, *, checkpoint: bool
) -> None:
    runtime.views.rename("totals", "spent")
    if checkpoint:
        take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    write(tmp_path, again, order(3, customer="bob"))
    assert shown(again, "spent") == folded(tmp_path, "totals")


def test_its_former_name_is_free_for_another_view_with_a_topic_of_its_own(
    runtime: Runtime, tmp_path: Path
) -> None:
    runtime.views.rename("totals", "spent")
    runtime.views.put(Definition("totals", LARGE))
    runtime.views.put(Definition("totals_3", LARGE))
    for number in (7, 8):
        write(tmp_path, runtime, order(number))
        assert shown(runtime, "spent") == folded(tmp_path, "totals")
        assert shown(runtime, "totals") == folded(tmp_path, "totals_2")
        runtime = runtime_on(tmp_path)
    runtime.views.drop("spent")
    runtime.views.put(Definition("spent", TOTALS))
    assert shown(runtime, "totals") == folded(tmp_path, "totals_2")
    assert shown(runtime, "spent") == folded(tmp_path, "spent")
    assert not (tmp_path / "topics" / "deltas.totals").exists()


def test_it_can_be_replaced_read_and_renamed_again(runtime: Runtime, tmp_path: Path) -> None:
    runtime.views.rename("totals", "spent")
    runtime.views.put(Definition("best", BEST.replace("totals", "spent")))
    runtime.replacements.approve("spent", prepare(runtime, LARGE, "spent"), None)
    write(tmp_path, runtime, order(4))
    again = runtime_on(tmp_path)
    assert shown(again, "spent") == folded(tmp_path, "totals")
    assert shown(again, "best") == folded(tmp_path, "best")
    again.views.drop("best")
    again.views.rename("spent", "totals")
    assert shown(again, "totals") == folded(tmp_path, "totals")


def test_a_name_that_is_taken_or_needed_is_refused(runtime: Runtime) -> None:
    with pytest.raises(NameTaken):
        runtime.views.rename("totals", "orders")
    with pytest.raises(UnknownName):
        runtime.views.rename("nothing", "other")
    prepare(runtime)
    with pytest.raises(StillUsed, match="replacement"):
        runtime.views.rename("totals", "spent")
    runtime.replacements.discard("totals")
    runtime.views.put(Definition("best", BEST))
    with pytest.raises(StillUsed, match="read by best"):
        runtime.views.rename("totals", "spent")


def test_where_the_disk_is_full_it_keeps_its_name(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("api.registry.stage", full)
        with pytest.raises(RegistryNotWritten):
            runtime.views.rename("totals", "spent")
    write(tmp_path, runtime, order(3))
    assert shown(runtime, "totals") == folded(tmp_path, "totals")
