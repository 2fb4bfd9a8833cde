"""Inference: completes declarations without columns, and proposes some, by what topics hold."""

from collections.abc import Sequence
from dataclasses import replace

from api.models import InferBody, SourceBody
from api.services.parts import Parts
from connectors.errors import InvalidTable
from connectors.inference.infer import describe, infer
from connectors.inference.proposal import Proposal
from connectors.inference.topics import Topic, first_topic_of, topic_of
from connectors.tables.connector import CONNECTORS

# The members of a declaration that a topic can tell.
TOLD = (
    "format",
    "envelope",
    "replica_identity",
    "key",
    "columns",
    "metadata",
    "encodings",
    "csv",
)


class Inference:
    """Looks at topics of the settings' connections, and at file topics."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def complete(self, name: str, body: SourceBody) -> tuple[SourceBody, Sequence[str]]:
        """A declaration with all that it leaves out, and what is in doubt about it.

        A source that is there is not looked at again: what is left out is as it was declared.
        Raises InvalidTable, and as `connectors.inference.infer.describe`.
        """
        if body.columns is not None:
            return body, ()
        known = self._parts.registry.sources.get(name)
        if known is not None:
            declared = known.to_json()
            return body.completed({member: declared[member] for member in TOLD}), ()
        connector = CONNECTORS[body.connector]
        if connector.is_written or (connector.is_remote and body.connection is None):
            raise InvalidTable(
                f"table {name!r}: columns: they are found in topics of files, or of a connection "
                "that is named; declare them"
            )
        topic = self._topic(body.topic or name, body.topic_pattern, body.connection)
        found = describe(topic, body.given())
        return body.completed(found.members()), _unsure(topic, body.topic_pattern, found)

    def propose(self, body: InferBody) -> Proposal:
        """A proposal for a topic (raises as `connectors.inference.infer.infer`)."""
        topic = self._topic(body.topic or "", body.topic_pattern, body.connection)
        found = infer(topic, body.given(), body.records)
        return replace(found, unsure=_unsure(topic, body.topic_pattern, found))

    def _topic(self, name: str, pattern: str | None, connection: str | None) -> Topic:
        connections = self._parts.settings.connections
        if pattern is not None:
            return first_topic_of(pattern, connection, connections)
        return topic_of(name, connection, self._parts.topics, connections)


def _unsure(topic: Topic, pattern: str | None, found: Proposal) -> tuple[str, ...]:
    """What is in doubt about a proposal; of a pattern, also what it was made of."""
    if pattern is None:
        return tuple(found.unsure)
    return (f"by {topic.place}, the first that {pattern!r} matches", *found.unsure)
