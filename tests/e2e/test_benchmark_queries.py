"""TPC-H and Nexmark as views: all queries at once follow changes of every table."""

from pathlib import Path

import pytest

from benchmarks import nexmark, tpch
from benchmarks.verify import Trial
from ivm.cluster.pool import ClusterPool
from ivm.cluster.processes import Processes

BATCHES = 5


def verified(trial: Trial, folder: Path, pool: ClusterPool | None = None) -> int:
    """How many answers were compared; each was DuckDB's."""
    batches: list[None] = []
    found = trial.verify(folder, BATCHES, lambda: batches.append(None), pool)
    assert len(batches) == 1 + BATCHES
    assert found.compared == len(trial.queries) * len(batches)
    return len(trial.queries)


def test_tpch_answers_as_duckdb_after_each_batch_of_changes(tmp_path: Path) -> None:
    assert verified(tpch.TRIALS[0], tmp_path) == 22


def test_nexmark_answers_as_duckdb_after_each_batch_of_changes(tmp_path: Path) -> None:
    assert verified(nexmark.TRIALS[0], tmp_path) == 21


@pytest.mark.parametrize("members", [2, 3])
def test_tpch_answers_so_on_a_cluster_of_processes(members: int, tmp_path: Path) -> None:
    with Processes(members) as pool:
        assert verified(tpch.TRIALS[0], tmp_path, pool) == 22
