"""The streams of sources: the topic that each reads, of patterns those that have begun."""

from collections.abc import Mapping

from connectors.streams import table_of
from connectors.tables.spec import TableSpec


def streams(sources: Mapping[str, TableSpec], begun: Mapping[str, str]) -> dict[str, str]:
    """The topics of all streams by their names; `begun` are those that the journal has."""
    patterns = {name for name, spec in sources.items() if spec.topic_pattern is not None}
    found = {name: spec.topic for name, spec in sources.items() if name not in patterns}
    return found | {
        stream: topic for stream, topic in begun.items() if topic and table_of(stream) in patterns
    }
