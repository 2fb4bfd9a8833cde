"""Starts: the beginning of a table's reading, resolved once to offsets of one topic id.

The meaning of "latest" or a time of day changes with time; the resolved offsets are journaled, so
a restart begins where the first start did.
"""

from collections.abc import Mapping

from connectors.errors import InvalidTable
from connectors.kafka.topics import Cluster
from connectors.progress.journal import Beginning
from connectors.tables.spec import TableSpec


def resolve(cluster: Cluster, spec: TableSpec) -> Beginning:
    """The beginning of a table that is new (raises InvalidTable, BrokerFault)."""
    topic = cluster.topics([spec.topic])[spec.topic]
    partitions = [(spec.topic, partition) for partition in topic.partitions]
    begin = cluster.firsts(partitions)
    ends = cluster.ends(partitions)
    match spec.start:
        case "latest":
            begin = ends
        case {"timestamp": int(timestamp)}:
            found = cluster.at(partitions, timestamp)
            begin = {p: offset if offset >= 0 else ends[p] for p, offset in found.items()}
        case {"offsets": dict(offsets)}:
            begin = begin | _given(spec, offsets, begin, ends)
    return Beginning(spec.topic, topic.id, {partition: o for (_, partition), o in begin.items()})


def _given(
    spec: TableSpec,
    offsets: Mapping[int, int],
    firsts: Mapping[tuple[str, int], int],
    ends: Mapping[tuple[str, int], int],
) -> dict[tuple[str, int], int]:
    """The offsets that the table names, all of them held (raises InvalidTable)."""
    given = {(spec.topic, partition): offset for partition, offset in offsets.items()}
    for where, offset in given.items():
        place = f"table {spec.name!r}: start: topic {spec.topic!r}, partition {where[1]}"
        if where not in firsts:
            raise InvalidTable(f"{place}: there are {len(firsts)} partitions, from 0 on")
        if not firsts[where] <= offset <= ends[where]:
            raise InvalidTable(
                f"{place}: offset {offset} is not there; it holds {firsts[where]} to "
                f"{ends[where] - 1}"
            )
    return given
