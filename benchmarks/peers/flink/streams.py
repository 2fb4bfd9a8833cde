"""Nexmark's queries for Flink SQL, from Kafka to Kafka: `ADDRESS QUERY RUN DIRECTORY`.

Flink runs in one JVM, its local cluster, with state on the heap. The settings are those of its
guide to performance; checkpoints are off, so that nothing is spent on them.
"""

import os
import sys
import time
from pathlib import Path

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
CONNECTOR = HERE.parents[2] / "build/jars/flink/flink-sql-connector-kafka-5.0.0-2.2.jar"

JVM = "-Xmx2g -XX:+UseParallelGC"
"""Less for both managers together than either has by default with all of its memory."""

SETTINGS = {
    "pipeline.jars": CONNECTOR.as_uri(),
    "parallelism.default": "2",
    "pipeline.object-reuse": "true",
    "state.backend.type": "hashmap",
    "table.local-time-zone": "UTC",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "500 ms",
    "table.exec.mini-batch.size": "20000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
}

_LOOK_SECONDS = 0.1


def main(address: str, query: str, run: str, directory: str) -> None:
    """Maintain a query until the process is ended."""
    os.environ |= {"JVM_ARGS": JVM, "FLINK_LOG_DIR": directory}
    configuration = Configuration()
    for name, value in SETTINGS.items():
        configuration.set_string(name, value)
    settings = (
        EnvironmentSettings.new_instance()
        .in_streaming_mode()
        .with_configuration(configuration)
        .build()
    )
    environment = TableEnvironment.create(settings)
    given = f"{(HERE / 'tables.sql').read_text()}{(HERE / 'queries' / f'{query}.sql').read_text()}"
    *tables, insert, _ = given.replace("{run}", run).replace("{address}", address).split(";")
    for table in tables:
        environment.execute_sql(table)
    job = environment.execute_sql(insert)
    client = job.get_job_client()
    while client.get_job_status().result().name != "RUNNING":
        time.sleep(_LOOK_SECONDS)
    print("ready", flush=True)
    job.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
