"""Bounds of memory that nobody has set are those of the machine, of which shards have a part."""

from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings

BOUNDS = ("max_process_bytes", "max_recursion_bytes", "max_query_bytes")
SHARDS: dict[str, Any] = {"shards": 4}


def made(data: Path, **settings: Any) -> list[int]:
    found = Settings(data=data, **settings)
    return [getattr(found, bound) for bound in BOUNDS]


def test_shards_on_this_machine_divide_its_memory(tmp_path: Path) -> None:
    parts = made(tmp_path, cluster=SHARDS, spark_master="local[5]")
    assert parts == pytest.approx([whole / 4 for whole in made(tmp_path)], rel=0.01)


def test_shards_elsewhere_are_taken_to_have_as_much_as_the_service(tmp_path: Path) -> None:
    parts = made(tmp_path, cluster=SHARDS, spark_master="spark://master:7077")
    assert parts == made(tmp_path)


def test_what_is_set_is_of_each_shard(tmp_path: Path) -> None:
    given = dict.fromkeys(BOUNDS, 1 << 30)
    parts = made(tmp_path, cluster=SHARDS, spark_master="local[5]", **given)
    assert parts == list(given.values())
