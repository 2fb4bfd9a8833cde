"""The views with a sink in Kafka, each by way of its connection.

Every connection has transactions and progress of its own, so views on two of them may be left at
different times by a crash; each goes on from its own. Dropping a view leaves its topic as it is:
readers may not have read it all.
"""

import threading
from collections.abc import Mapping, Sequence

from connectors.connections import Connection
from connectors.errors import UnknownConnection
from connectors.health import PartFault
from connectors.progress.journal import Journal
from connectors.sinks.kafka.counts import Sent, Transactions
from connectors.sinks.kafka.publisher import Publisher
from connectors.sinks.kafka.session import Service
from connectors.sinks.sink import Changes, Output, Reached, Redefined


class KafkaSink:
    """Fulfils `connectors.sinks.sink.Sink`; a view without a target is none of its concern."""

    def __init__(
        self, connections: Mapping[str, Connection], service: Service, journal: Journal
    ) -> None:
        """No broker is asked before the first view is opened or restored."""
        self._connections = connections
        self._service = service
        self._journal = journal
        self._stopping = threading.Event()
        self._publishers: dict[str, Publisher] = {}
        self._views: dict[str, Publisher] = {}

    def open(self, output: Output) -> None:
        """Publish a new view (raises as `Publisher.open`, UnknownConnection)."""
        if output.target is not None:
            publisher = self._publisher(output.target.connection)
            publisher.open(output)
            self._views[output.name] = publisher

    def restore(self, output: Output) -> None:
        """Go on with a view (raises as `Publisher.restore`, UnknownConnection)."""
        if output.target is not None:
            publisher = self._publisher(output.target.connection)
            self._views[output.name] = publisher  # also where it fails: then it may be dropped
            publisher.restore(output)

    def has(self, view: str, time: int) -> bool:
        """Whether `view` at `time` is committed, or does not come here."""
        publisher = self._views.get(view)
        return publisher is None or publisher.has(time)

    def write(self, view: str, changes: Changes, reached: Reached) -> None:
        """Take the deltas of a view."""
        if view in self._views:
            self._views[view].write(view, changes, reached)

    def skip(self, view: str, changes: Changes) -> None:
        """Note deltas that are committed and come again."""
        if view in self._views:
            self._views[view].skip(view, changes)

    def expect(self, output: Output) -> None:
        """See that a view can go on as `output` (raises as `Publisher.expect`)."""
        if output.name in self._views:
            self._views[output.name].expect(output)

    def redefine(self, redefined: Redefined, reached: Reached) -> None:
        """Take the difference of a view that is redefined, or skip it if it is committed."""
        if redefined.output.name in self._views:
            self._views[redefined.output.name].redefine(redefined, reached)

    def prepare(self, reached: Reached) -> None:
        """Nothing is durable in Kafka before it is committed."""

    def commit(self, reached: Reached) -> None:
        """One transaction for each connection (raises as `Publisher.commit`)."""
        for publisher in self._publishers.values():
            publisher.commit(reached)

    def tend(self, reached: Reached) -> bool:
        """Publish deltas and frontiers that had to wait, where a broker answers at once.

        Raises as `Publisher.tend`.
        """
        for publisher in self._publishers.values():
            publisher.tend(reached)
        return False  # whoever reads them asks the broker

    def drop(self, view: str) -> None:
        """Publish nothing more of `view`."""
        publisher = self._views.pop(view, None)
        if publisher is not None:
            publisher.drop(view)

    def failed(self, view: str) -> str | None:
        """Why a view is not published any more."""
        publisher = self._views.get(view)
        return publisher.failed(view) if publisher else None

    def stalled(self, view: str) -> str | None:
        """Why a view is not published at present."""
        publisher = self._views.get(view)
        return publisher.stalled(view) if publisher else None

    def sent(self, view: str) -> Sent | None:
        """What was published of a view since the start, and what waits; None without a sink."""
        publisher = self._views.get(view)
        return publisher.sent(view) if publisher else None

    @property
    def transactions(self) -> Mapping[str, Transactions]:
        """The counts of transactions by connection."""
        return {name: publisher.transactions for name, publisher in self._publishers.copy().items()}

    def faults(self) -> Sequence[PartFault]:
        """The faults that keep deltas from being published at present."""
        publishers = tuple(self._publishers.values())
        return [p.fault for p in publishers if p.fault is not None]

    def expect_answers(self) -> None:
        """See that each connection with views has a broker that answers (raises BrokerFault)."""
        for publisher in tuple(self._publishers.values()):
            publisher.expect_answer()

    def interrupt(self) -> None:
        """Let whoever waits for a broker give up."""
        self._stopping.set()

    def close(self) -> None:
        """Let go of all connections."""
        for publisher in self._publishers.values():
            publisher.close()
        self._publishers.clear()  # a client, with its threads, lives as long as it is known
        self._views.clear()

    def _publisher(self, name: str) -> Publisher:
        if name not in self._connections:
            raise UnknownConnection(
                f"there is no connection {name!r} in the settings; the operator configures "
                f"connections.{name}"
            )
        if name not in self._publishers:
            self._publishers[name] = Publisher(
                self._connections[name], self._service, self._journal, self._stopping
            )
        return self._publishers[name]
