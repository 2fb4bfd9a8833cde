"""Finds the topics that match the patterns of tables, and are not read yet."""

from connectors.errors import BrokerFault, UnknownConnection
from connectors.ingest.keyed_tables import KeyedTables
from connectors.kafka.clusters import Clusters, Faults
from connectors.streams import stream_name


def later_topics(clusters: Clusters, tables: KeyedTables) -> tuple[dict[str, list[str]], Faults]:
    """The topics that are new to each table, and the faults of tables whose cannot be told."""
    found: dict[str, list[str]] = {}
    faults: Faults = {}
    for spec in tables.patterns.values():
        try:
            topics = clusters.topics(spec)
        except (BrokerFault, UnknownConnection) as error:
            faults[spec.name] = error
            continue
        read = set(tables.streams(spec.name))
        if new := [topic for topic in topics if stream_name(spec.name, topic) not in read]:
            found[spec.name] = new
    return found, faults
