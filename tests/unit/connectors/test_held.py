"""What the topics of tables held when these were declared is remembered with their positions."""

from pathlib import Path

from connectors.progress.journal import Journal


def test_what_a_topic_held_outlives_a_restart_and_a_compaction(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.declare_table("t", {0: 5, 1: 0})
    journal.prepare(1, (), 0)
    journal.commit(1, {})
    journal.close()
    journal = Journal(tmp_path / "j")
    assert journal.held == {"t": {0: 5, 1: 0}}
    journal.compact(1)
    journal.close()
    assert Journal(tmp_path / "j").held == {"t": {0: 5, 1: 0}}


def test_another_life_of_a_name_has_its_own(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.declare_table("t", {0: 5})
    journal.drop_table("t")
    assert journal.held == {}
    journal.declare_table("t", {0: 7})
    assert journal.held == {"t": {0: 7}}
