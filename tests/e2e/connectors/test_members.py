"""Faults that keep members of a cluster from coming are told, and how to mend them."""

import sys
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.spark.members import Hosting
from ivm.cluster.rendezvous import Rendezvous
from ivm.errors import PoolFailed

pytestmark = pytest.mark.jvm

NEWER = "ivm.cluster.newer"


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An object of a module that this process has and executors lack, as those of another image."""
    module: Any = ModuleType(NEWER)
    module.Credentials = type("Credentials", (), {"__module__": NEWER})
    monkeypatch.setitem(sys.modules, NEWER, module)
    return module.Credentials()


def test_executors_of_another_release_are_told_of(spark: SparkSession, newer: Any) -> None:
    rendezvous = Rendezvous("127.0.0.1")
    rendezvous.credentials = newer
    hosting = Hosting(spark, rendezvous, 1)
    told = rf"No module named '{NEWER}'.*another release of ivm.*same image"
    with pytest.raises(PoolFailed, match=told):
        rendezvous.members(1, 60, hosting.ended)
    rendezvous.close()
    hosting.join(60)
