"""How Spark starts."""

from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from connectors.spark.session import archive_beside
from tests.kafka.java import JARS


def test_the_jvm_maps_the_archive_of_classes_beside_the_jars(spark: SparkSession) -> None:
    gateway: Any = SparkContext._gateway
    mapped = Path(f"/proc/{gateway.proc.pid}/maps").read_text()
    assert str(archive_beside(JARS / "spark")) in mapped
