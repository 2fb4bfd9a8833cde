"""Publishes views through one connection: transactions, and the progress known as committed.

The invariant: of each view every message up to the sequence that the session's last record of
progress names is committed, and no other is. Every transaction keeps it: either the transaction is
committed, progress included, or nothing of it is. Where the answer is lost, the session finds out
which.

A transaction that fails because of one view's topic is given up, and written again without that
view: it stalls if the cause may pass, fails if not, and is refused to its maker if it is new. A
view is blamed on the broker's word alone, an error reported of a message or the description of its
topic. An error without that concerns the connection, and is waited out: all views stand still
together, rather than every one of them lagging.
"""

import time as clock
from collections.abc import Collection, Mapping, Sequence
from math import inf
from threading import Event

from confluent_kafka import KafkaException
from opentelemetry import trace

from connectors.connections import Connection
from connectors.errors import (
    BrokerFault,
    InvalidSink,
    SinkDiverged,
    SinkLagging,
    Unavailable,
)
from connectors.formats.schema_registry import config_of, registry
from connectors.health import PartFault
from connectors.progress.journal import Journal
from connectors.sinks.avro import AvroEncoding
from connectors.sinks.connect import ConnectEncoding
from connectors.sinks.encoding import Encoding, JsonEncoding
from connectors.sinks.envelopes import Envelope
from connectors.sinks.frontiers import Frontiers
from connectors.sinks.kafka.counts import Sent, Transactions
from connectors.sinks.kafka.former_keys import former_keys
from connectors.sinks.kafka.producer import TransactionalProducer, is_fencing
from connectors.sinks.kafka.progress import REMEDY, Progress, Published
from connectors.sinks.kafka.refusals import DENIED, is_too_large, recreated, refused
from connectors.sinks.kafka.session import BATCH_BYTES, Service, Session
from connectors.sinks.kafka.topics import PROGRESS_CONFIG, Topic, Topics
from connectors.sinks.kafka.view import KafkaView, Outgoing, Written
from connectors.sinks.sink import Changes, Output, Reached, Redefined
from ivm.errors import IvmError

# How long a request to make a view may wait for brokers that do not answer, in seconds.
_REQUEST_SECONDS = 10.0

TRACER = trace.get_tracer("ivm")


class Publisher:
    """The views of one connection; used by one thread at a time, but for `fault` and `sent`.

    `transactions` counts those of the connection.
    """

    def __init__(
        self, connection: Connection, service: Service, journal: Journal, stopping: Event
    ) -> None:
        """Nothing is asked of the brokers yet; `stopping` ends all waiting."""
        self._connection = connection
        self._service = service
        self._journal = journal
        self._stopping = stopping
        self._topics = Topics(connection.librdkafka())
        self._session = Session(connection, service, journal, self._topics, stopping)
        self._is_replayed = False
        self._views: dict[str, KafkaView] = {}
        self._frontiers = Frontiers(service.progress_seconds)
        self.transactions = Transactions()

    @property
    def fault(self) -> PartFault | None:
        """What keeps a transaction from being committed, while it does."""
        return self._session.fault

    # --- views ---

    def open(self, output: Output) -> None:
        """Publish a new view; its snapshot is written next.

        Raises InvalidSink for a topic that does not fit, BrokerRefused for one that may not be
        written, BrokerFault within some seconds when the brokers or the registry do not answer;
        then nothing has changed.
        """
        try:
            self._start()
            view = self._new_view(output)
            if fault := self._topics.faults({output.name: view.state}).get(output.name):
                raise fault
            self._views[output.name] = view
            self._frontiers.watch(output)
        except KafkaException as error:
            assert output.target is not None
            if error.args[0].code() in DENIED:
                raise refused(output.name, output.target.topic, error.args[0]) from error
            raise BrokerFault(self._session.told(error)) from error

    def restore(self, output: Output) -> None:
        """Go on with a view that was published.

        Raises SinkDiverged if what is published is not what the journal says, SinkFenced, and
        BrokerFault when the brokers or the registry do not answer, which is a `fault` until they
        do; then ask again.
        """
        try:
            self._start()
            self._session.expect_journaled()
            known = self._session.last
            state = known.views.get(output.name)
            if state is None or state.plan not in (output.plan, output.next_plan):
                found = "another definition" if state else "nothing"
                raise SinkDiverged(
                    f"view {output.name!r}: {self._session.where} knows {found} of it; {REMEDY}"
                )
            self._views[output.name] = self._old_view(output, state)
            self._frontiers.watch(output)
            if state.told == known.time:
                last = {"offsets": known.offsets, "sources": known.sources}
                self._frontiers.recall(output.name, last)
        except (KafkaException, Unavailable) as error:
            fault = self._session.recover(error)
            raise BrokerFault(fault.detail, fault.part, fault.setting) from error
        self._session.fault = None

    def drop(self, name: str) -> None:
        """Publish nothing more of a view; its topic stays as it is."""
        self._views.pop(name, None)
        self._frontiers.forget(name)
        if not self._views:
            self._session.fault = None  # nobody waits for the brokers any more

    def failed(self, name: str) -> str | None:
        """Why a view is not published any more."""
        view = self._views.get(name)
        return view.state.failed if view else None

    def stalled(self, name: str) -> str | None:
        """Why a view is not published at present."""
        view = self._views.get(name)
        return view.stalled if view else None

    def sent(self, name: str) -> Sent | None:
        """What was published of a view since it was opened or restored, and what waits."""
        view = self._views.get(name)
        return view.sent if view else None

    def expect_answer(self) -> None:
        """See that a broker answers, if there are views (raises BrokerFault); on any thread."""
        if not self._views:
            return
        try:
            self._session.ask()
        except KafkaException as error:
            fault = self._session.fault_of(error)
            raise BrokerFault(fault.detail, fault.part, fault.setting) from error

    def has(self, time: int) -> bool:
        """Whether all that `view` publishes at `time` is committed."""
        return time <= self._session.last.time

    def write(self, name: str, changes: Changes, reached: Reached) -> None:
        """Take the deltas of a view for the next transaction."""
        self._views[name].write(changes, reached)

    def skip(self, name: str, changes: Changes) -> None:
        """Note deltas that are committed and come again."""
        self._views[name].skip(changes)

    def expect(self, output: Output) -> None:
        """See that a view can go on as `output`, whose schemas are registered then.

        Raises InvalidSink for columns that its format or the registry does not take, and
        RegistryUnavailable.
        """
        self._envelope(output, self._views[output.name].topic)

    def redefine(self, redefined: Redefined, reached: Reached) -> None:
        """Publish a view as it is redefined from a time on, in the next transaction.

        Where that is committed already, the difference is noted. Waits for a registry.
        """
        view = self._views[redefined.output.name]
        self._frontiers.watch(redefined.output)
        envelope = self._session.patiently(lambda: self._envelope(redefined.output, view.topic))
        if not self.has(reached.time):
            view.redefine(envelope, redefined, reached)
            return
        for part in redefined.parts:
            view.skip(part)
        view.follow(envelope)

    def _start(self) -> None:
        """The first time: be the one instance that publishes, and say so."""
        if self._session.is_open:
            return
        self._topics.ensure(self._service.progress_topic, 1, None, PROGRESS_CONFIG)
        self._session.connect()
        record = self._session.last.next(in_full=True, instance=self._session.instance)
        self._attempt(record, ())
        self._session.is_open = True

    def _new_view(self, output: Output) -> KafkaView:
        target = output.target
        assert target is not None
        taken = {view.topic.name: name for name, view in self._views.items()}
        owner = taken.get(target.topic)
        if owner is not None or target.topic == self._service.progress_topic:
            by = f"view {owner!r}" if owner else "the progress of this service"
            raise InvalidSink(f"topic {target.topic!r} is taken by {by}; choose another")
        topic = self._topics.ensure(
            target.topic, target.partitions, target.replication, target.config, target.defaults
        )
        life = self._session.last.batch + 1
        state = Published(topic.name, topic.identity, output.plan, life)
        owed = self._owed(topic) if target.envelope != "delta" and target.snapshot else {}
        envelope = self._envelope(output, topic)
        return KafkaView(envelope, self._fitting(topic), state, is_new=True, owed=owed)

    def _owed(self, topic: Topic) -> dict[bytes, int]:
        """The keys that a former life of a view has left in a topic, with their partitions."""
        places = [(topic.name, partition) for partition in range(topic.partitions)]
        ends = self._session.cluster.ends(places, committed=False)
        by_partition = {partition: end for (_, partition), end in ends.items()}
        return former_keys(self._connection.librdkafka(), topic.name, by_partition)

    def _old_view(self, output: Output, state: Published) -> KafkaView:
        topic = self._topics.find(state.topic) or Topic(state.topic, "", 1, 1, BATCH_BYTES)
        envelope = self._envelope(output, topic)
        view = KafkaView(envelope, self._fitting(topic), state, is_new=False)
        if topic.identity != state.topic_id and state.failed is None:
            error = recreated(output.name, state.topic)
            view.fail(f"{error.code}: {error}")
        elif state.complete is not None and state.failed is None:
            view.fail(
                f"{SinkLagging.code}: its topic could not be written when the service ended, and "
                f"the changes after time {state.complete} are no longer held; drop the view and "
                "make it anew, to publish it from a snapshot"
            )
        return view

    def _envelope(self, output: Output, topic: Topic) -> Envelope:
        assert output.target is not None
        encoding: Encoding = JsonEncoding()
        if output.target.format == "connect-json":
            encoding = ConnectEncoding(output, topic.name, output.target.envelope)
        elif output.target.format == "avro":
            config = config_of(self._connection)
            if config is None:
                raise InvalidSink(
                    "format avro needs a schema registry; the operator sets "
                    f"connections.{self._connection.name}.schema_registry_url"
                )
            schemas = registry(config)
            encoding = AvroEncoding(output, topic.name, output.target.envelope, schemas)
        return Envelope(self._service.name, output, encoding, topic.partitions)

    def _fitting(self, topic: Topic) -> Topic:
        """The topic; the producer's batches are small enough for it from now on."""
        if topic.limit < self._session.batch_bytes:
            self._session.batch_bytes = topic.limit
            self._session.close()
        return topic

    # --- transactions ---

    def commit(self, reached: Reached) -> None:
        """Publish the written deltas, and that `reached` is complete.

        Waits for the brokers, however long they are away; raises SinkFenced, SinkDiverged, and
        BrokerFault when the service stops. For the snapshot of a new view it waits some seconds,
        and raises what keeps it from being published: drop it then.
        """
        waiting = [view for view in self._views.values() if view.waiting]
        if not waiting:
            if self._views and reached.time == self._session.last.time and not self._is_replayed:
                self._expect_same(reached)
            return
        self._is_replayed = True
        silent = self._silent(waiting, reached)
        last: dict[str, Sequence[Written]] = {}
        for view in waiting:
            if view.output.name not in silent:
                *earlier, last[view.output.name] = view.stages()
                for stage in earlier:
                    self._publish({view.output.name: stage}, None, is_last=False)
        self._publish(last, reached, advances=not silent)
        for view in waiting:
            if view.stalled is None:
                view.finished(view.waiting)
        self._note(last, reached)
        self._try_again()

    def _silent(self, waiting: Sequence[KafkaView], reached: Reached) -> Collection[str]:
        """The views that tell nothing at this time: they have no change, and no frontier is due.

        All that do not change are told together, so that the record of progress need not name them.
        """
        shares = self._session.last.views
        idle = [v.output.name for v in waiting if v.is_idle and v.state == shares[v.output.name]]
        return () if self._frontiers.due(idle, reached) else set(idle)

    def _note(self, told: Collection[str], reached: Reached) -> None:
        for name in told:
            if self._views[name].stalled is None:
                self._frontiers.note(name, reached)

    def tend(self, reached: Reached) -> None:
        """Publish frontiers that are due, and views that have stalled (raises as `commit`).

        Where no broker answers at once, that is a `fault`, and they wait for the next call.
        """
        due = self._owed_frontiers(reached)
        is_behind = any(view.is_due for view in self._views.values())
        if (due or is_behind or self._session.fault is not None) and self._session.has_answer():
            if due:
                nothing = {name: [self._views[name].nothing(reached)] for name in due}
                self._publish(nothing, None)
                self._note(due, reached)
            self._try_again()

    def _owed_frontiers(self, reached: Reached) -> Collection[str]:
        """The views that are due to be told a time, although they have no change."""
        if not self._session.is_open or reached.time != self._session.last.time:
            return ()
        return self._frontiers.due((n for n, v in self._views.items() if v.keeps_pace), reached)

    def _try_again(self) -> None:
        """Try again to publish views that have stalled, once they are due."""
        due = [view for view in self._views.values() if view.is_due]
        faults = self._topics.faults({view.output.name: view.state for view in due})
        for view in due:
            fault = faults.get(view.output.name)
            if fault is not None:
                self._leave_out(view, fault)
            else:
                self._catch_up(view)

    def _catch_up(self, view: KafkaView) -> None:
        """Publish the deltas that a stalled view lacks, as far as its topic lets us."""
        name = view.output.name
        while view.waiting:
            written = view.backlog()
            time = written[-1].reached.time
            sent = view.outgoing(written, True, time if time < self._session.last.time else None)
            record = self._session.last.next(self._states([sent]))
            faults = self._transact(record, [sent])
            if faults is None:
                view.state = sent.state
                view.finished(written)
            elif name in faults:
                self._leave_out(view, faults[name])
                return
        view.resume()

    def close(self) -> None:
        """Let go of the connection."""
        self._session.close()

    def _publish(
        self,
        stage: Mapping[str, Sequence[Written]],
        reached: Reached | None,
        *,
        is_last: bool = True,
        advances: bool = False,
    ) -> None:
        """One transaction, which completes `reached`, if that is given.

        It `is_last` unless other stages of the same changes follow. Whether it `advances` the views
        of which it tells a frontier alone, is the record's to say.
        """
        while True:
            outgoing = [
                self._views[name].outgoing(written, is_last)
                for name, written in stage.items()
                if self._views[name].stalled is None
            ]
            record = self._record(self._states(outgoing), reached, advances=advances)
            faults = self._transact(record, outgoing)
            if faults is None:
                break
            for name, fault in faults.items():
                self._leave_out(self._views[name], fault)
        for sent in outgoing:
            self._views[sent.view].state = sent.state

    def _states(self, outgoing: Sequence[Outgoing]) -> Mapping[str, Published]:
        """The state of every view once `outgoing` is committed."""
        states = {name: view.state for name, view in self._views.items()}
        return states | {sent.view: sent.state for sent in outgoing}

    def _record(
        self, views: Mapping[str, Published], reached: Reached | None, *, advances: bool
    ) -> Progress:
        if reached is None:
            return self._session.last.next(views)
        told = reached.offsets.told()
        return self._session.last.next(
            views,
            advances=advances
            and reached.time > self._session.last.time,  # a view put at a time of before is alone
            time=reached.time,
            moment=reached.moment,
            ranges=reached.ranges,
            offsets=told["offsets"],
            sources=told["sources"],
        )

    def _transact(
        self, record: Progress, outgoing: Sequence[Outgoing]
    ) -> Mapping[str, IvmError] | None:
        """Write until `record` stands in the topic; else why views of `outgoing` are not taken.

        If that is empty, their messages must be made anew.
        """

        def attempt() -> Mapping[str, IvmError] | None:
            self._session.connect()
            if self._session.last.seal() == record.seal():
                return None  # its commit had succeeded, only the answer was lost
            try:
                self._attempt(record, outgoing)
            except (KafkaException, BrokerFault) as error:
                is_over = isinstance(error, KafkaException) and is_fencing(error)
                if is_over or self._stopping.is_set():
                    raise
                faults = self._given_up(outgoing)
                if self._session.last.seal() == record.seal():
                    return None
                if faults is None:
                    raise
                return faults
            return None

        is_new = any(self._views[sent.view].is_new for sent in outgoing)
        return self._session.patiently(attempt, _REQUEST_SECONDS if is_new else inf)

    def _attempt(self, record: Progress, outgoing: Sequence[Outgoing]) -> None:
        producer = self._session.producer
        assert producer is not None
        started = clock.monotonic()
        with TRACER.start_as_current_span("transaction") as span:
            span.set_attribute("messaging.system", "kafka")
            span.set_attribute("ivm.connection", self._connection.name)
            span.set_attribute("ivm.messages", sum(len(sent.messages) for sent in outgoing))
            self._write(producer, record, outgoing)
        self._session.last = record
        self.transactions.committed += 1
        self.transactions.seconds += clock.monotonic() - started
        for sent in outgoing:
            self._views[sent.view].count(sent)

    def _write(
        self, producer: TransactionalProducer, record: Progress, outgoing: Sequence[Outgoing]
    ) -> None:
        producer.begin(lambda: self._expect_writable(outgoing))
        for sent in outgoing:
            messages = sent.messages
            producer.produce(
                sent.topic, messages.keys, messages.values, messages.partitions, sent.headers
            )
        key, value = record.key(self._connection.name), record.encode()
        producer.produce(self._service.progress_topic, [key], [value], [0], lambda _: [])
        producer.commit()

    def _given_up(self, outgoing: Sequence[Outgoing]) -> Mapping[str, IvmError] | None:
        """Have the transaction aborted; why views are at fault, None if the connection is.

        The producer after this one finds out whether the transaction was committed after all.
        """
        assert self._session.producer is not None
        self.transactions.given_up += 1
        self._session.producer.hear()
        errors = self._session.producer.refused
        self._session.close()
        self._session.connect()
        faults: dict[str, IvmError] = {}
        is_measured = False
        for sent in outgoing:
            error = errors.get(sent.topic)
            if error is not None and is_too_large(error) and self._measure(sent.view):
                is_measured = True
            elif error is not None:
                faults[sent.view] = refused(sent.view, sent.topic, error)
        faults |= self._faults(outgoing)
        return faults if faults or is_measured else None

    def _faults(self, outgoing: Sequence[Outgoing]) -> Mapping[str, IvmError]:
        """The faults of views' topics as their brokers report them, by view."""
        return self._topics.faults({sent.view: sent.state for sent in outgoing})

    def _expect_writable(self, outgoing: Sequence[Outgoing]) -> None:
        """Raise BrokerFault if there is no use in waiting for these messages to be taken.

        That no broker answers is told, and waited out.
        """
        if faults := self._faults(outgoing):
            raise BrokerFault("; ".join(map(str, faults.values())))
        try:
            self._session.ask()
        except KafkaException as error:
            self._session.fault = self._session.fault_of(error)

    def _measure(self, name: str) -> bool:
        """Ask again for the limits of a view's topic; whether they have changed."""
        view = self._views[name]
        known = view.topic
        view.topic = self._fitting(self._topics.find(known.name) or known)
        return view.topic.limit != known.limit

    def _leave_out(self, view: KafkaView, fault: IvmError) -> None:
        """Go on without a view (raises `fault` if it is new: then there is no view)."""
        if view.is_new:
            raise fault
        if isinstance(fault, Unavailable):
            view.stall(str(fault), self._session.last.time)
        else:
            view.fail(f"{fault.code}: {fault}")

    def _expect_same(self, reached: Reached) -> None:
        """Compare the last published time with its replay (raises SinkDiverged)."""
        self._is_replayed = True
        if not set(reached.ranges) <= set(self._session.last.ranges):
            raise SinkDiverged(
                f"{self._session.where}: time {reached.time} was published from other input "
                f"records than were replayed; {REMEDY}"
            )
        for view in self._views.values():
            view.expect_same()
