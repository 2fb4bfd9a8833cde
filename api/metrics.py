"""The service's state in Prometheus' terms, gathered when it is scraped."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from api.followers import Followers
from api.runtime import Runtime
from connectors.ingest.meter import BOUNDS, Histogram
from connectors.ingest.status import PipelineStatus
from ivm.errors import PoolFailed, UnknownCollection
from ivm.results import ArrangementInfo
from views.errors import UnknownName


class RuntimeCollector(Collector):
    """Yields every family from the runtime as it is."""

    def __init__(self, runtime: Runtime, followers: Followers) -> None:
        self._runtime = runtime
        self._followers = followers

    def collect(self) -> Iterator[Metric]:
        """All metrics of the service."""
        yield from self._counters()
        yield from self._arrangements()
        yield from self._shards()
        yield from self._views()
        yield from self._pipeline()
        yield from self._checkpoints()
        yield from self._sinks()
        yield self._stalled()
        followers = self._followers
        yield GaugeMetricFamily("ivm_followers", "Change feeds followed.", followers.count)
        yield CounterMetricFamily(
            "ivm_followers_dropped",
            "Followers dropped, since they took nothing.",
            followers.dropped,
        )
        meter = self._runtime.meter
        yield _histogram(
            "ivm_batch_seconds", "Time to apply and publish a logical time.", meter.batch_seconds
        )
        yield _histogram(
            "ivm_step_seconds", "Time of the engine to complete times.", meter.step_seconds
        )
        yield _histogram(
            "ivm_publish_seconds", "Time of the sinks to publish deltas.", meter.publish_seconds
        )
        yield _histogram(
            "ivm_latency_seconds",
            "From a record's timestamp until its deltas are durable.",
            meter.latency_seconds,
        )

    def _counters(self) -> Iterator[Metric]:
        meter = self._runtime.meter
        yield CounterMetricFamily("ivm_records", "Input records applied.", meter.records)
        yield CounterMetricFamily("ivm_batches", "Logical times applied.", meter.batches)
        outcomes = CounterMetricFamily(
            "ivm_input_records",
            "Input records by their outcome.",
            labels=["table", "outcome"],
        )
        for table in tuple(meter.outcomes):
            for outcome, count in meter.by_outcome(table).items():
                outcomes.add_metric([table, outcome], count)
        yield outcomes
        corrected = CounterMetricFamily(
            "ivm_corrected_records", "Quarantined records applied after all.", labels=["table"]
        )
        for table, count in meter.corrected.copy().items():
            corrected.add_metric([table], count)
        yield corrected
        updates = CounterMetricFamily("ivm_updates", "Updates of tables.", labels=["table"])
        for table, count in meter.updates.copy().items():
            updates.add_metric([table], count)
        yield updates
        deltas = CounterMetricFamily("ivm_deltas", "Deltas published.", labels=["view"])
        for view, count in meter.deltas.copy().items():
            deltas.add_metric([view], count)
        yield deltas
        yield self._stages()
        yield from self._changes()
        labels = ["table", "topic", "reason"]
        quarantined = GaugeMetricFamily(
            "ivm_quarantined", "Records put aside that are open.", labels=labels
        )
        for values, count in self._runtime.quarantine.counts().items():
            quarantined.add_metric(values, count)
        yield quarantined
        errors = GaugeMetricFamily(
            "ivm_view_errors", "Rows of a view that end in errors.", labels=["view"]
        )
        for view, messages in dict(self._runtime.applier.errors).items():
            errors.add_metric([view], sum(messages.values()))
        yield errors
        miscounted = GaugeMetricFamily(
            "ivm_table_errors", "Keys whose rows do not add up.", labels=["table"]
        )
        for table in tuple(self._runtime.registry.sources):
            miscounted.add_metric([table], self._runtime.applier.feeder.miscounts.count(table))
        yield miscounted

    def _changes(self) -> Iterator[Metric]:
        meter = self._runtime.meter
        changes = CounterMetricFamily(
            "ivm_keyed_changes", "Changes of tables by their keys.", labels=["table", "change"]
        )
        for labels, count in meter.keyed_changes.copy().items():
            changes.add_metric(labels, count)
        yield changes
        for name, text, counts in (
            (
                "ivm_duplicates",
                "Records dropped, since a connector sent them twice.",
                meter.duplicates,
            ),
            ("ivm_absent_deletes", "Deletes of keys without a row.", meter.absent_deletes),
        ):
            family = CounterMetricFamily(name, text, labels=["table"])
            for table, count in counts.copy().items():
                family.add_metric([table], count)
            yield family

    def _stages(self) -> Metric:
        spent = dict(self._runtime.meter.stage_seconds)
        delivering = self._runtime.pipeline.status().delivering
        spent["hand-over"] = max(delivering - sum(spent.values()), 0.0)
        stages = CounterMetricFamily(
            "ivm_stage_seconds",
            "Time of the thread that applies batches, by stage.",
            labels=["stage"],
        )
        for stage, seconds in spent.items():
            stages.add_metric([stage], seconds)
        return stages

    def _arrangements(self) -> Iterator[Metric]:
        labels = ["arrangement"]
        unmerged = GaugeMetricFamily(
            "ivm_arrangement_unmerged",
            "Updates that merges have yet to move into the largest batch.",
            labels=labels,
        )
        tables = GaugeMetricFamily(
            "ivm_table_bytes", "Memory held by the arrangements of each table.", labels=["table"]
        )
        records = GaugeMetricFamily(
            "ivm_arrangement_records", "Updates, rows or groups held.", labels=labels
        )
        memory = GaugeMetricFamily(
            "ivm_arrangement_bytes",
            "Memory held by an arrangement, or by state beside it.",
            labels=labels,
        )
        held: dict[str, list[ArrangementInfo]] = {}
        for info in self._runtime.pool.arrangements():
            held.setdefault(info.name, []).append(info)
        of_tables = dict.fromkeys(tuple(self._runtime.registry.sources), 0)
        for name, infos in held.items():
            size = sum(info.bytes for info in infos)
            records.add_metric([name], sum(info.records for info in infos))
            memory.add_metric([name], size)
            unmerged.add_metric([name], sum(info.unmerged for info in infos))
            if (collection := name.partition("[")[0]) in of_tables:
                of_tables[collection] += size
        for table, size in of_tables.items():
            tables.add_metric([table], size)
        yield records
        yield memory
        yield unmerged
        yield tables

    def _shards(self) -> Iterator[Metric]:
        labels = ["shard", "host"]
        records = GaugeMetricFamily(
            "ivm_shard_records", "Updates, rows or groups that a shard holds.", labels=labels
        )
        memory = GaugeMetricFamily(
            "ivm_shard_bytes", "Memory of a shard's arrangements and strings.", labels=labels
        )
        process = GaugeMetricFamily(
            "ivm_shard_process_bytes", "Memory of a shard's process.", labels=labels
        )
        sent = CounterMetricFamily(
            "ivm_shard_sent_bytes", "Bytes that a shard has sent to the others.", labels=labels
        )
        met = CounterMetricFamily(
            "ivm_shard_meetings", "Meetings of a shard with the others.", labels=labels
        )
        received = CounterMetricFamily(
            "ivm_shard_received_rows", "Rows that tasks have brought to a shard.", labels=labels
        )
        with suppress(PoolFailed):  # the service begins anew
            for share in self._runtime.shares():
                at = [str(share.member), share.host]
                records.add_metric(at, share.records)
                memory.add_metric(at, share.bytes + share.string_bytes)
                process.add_metric(at, share.process_bytes)
                sent.add_metric(at, share.sent_bytes)
                met.add_metric(at, share.meetings)
                received.add_metric(at, share.received_rows)
        yield records
        yield memory
        yield process
        yield sent
        yield met
        yield received

    def _views(self) -> Iterator[Metric]:
        seconds = CounterMetricFamily(
            "ivm_view_seconds", "Estimated time of each view's operators.", labels=["view"]
        )
        rounds = CounterMetricFamily(
            "ivm_view_rounds", "Rounds of each view's loops.", labels=["view"]
        )
        for view in self._runtime.views.all():
            with suppress(UnknownCollection):  # it failed, or is not there yet
                spent = self._runtime.pool.spent(view.name)
                seconds.add_metric([view.name], spent.seconds)
                rounds.add_metric([view.name], spent.rounds)
        yield seconds
        yield rounds

    def _pipeline(self) -> Iterator[Metric]:
        status = self._runtime.pipeline.status()
        yield GaugeMetricFamily("ivm_time", "The last logical time applied.", status.time)
        yield GaugeMetricFamily(
            "ivm_records_per_second",
            "Input records of the last ten seconds, per second.",
            status.records_per_second,
        )
        ready = float(self._runtime.readiness.fault() is None)
        yield GaugeMetricFamily("ivm_ready", "1 while the service is ready.", ready)
        labels = ["source", "topic", "partition"]
        lag = GaugeMetricFamily("ivm_lag_records", "Records not yet applied.", labels=labels)
        age = GaugeMetricFamily(
            "ivm_source_behind_seconds",
            "How long the oldest record not yet applied has been there.",
            labels=labels,
        )
        offset = GaugeMetricFamily(
            "ivm_source_offset", "Offset of the next record to apply.", labels=labels
        )
        for family, counts in ((lag, status.lag), (age, status.ages), (offset, status.positions)):
            for (source, topic, partition), count in counts.items():
                family.add_metric([source, topic, str(partition)], count)
            yield family
        yield from self._behind(status)
        decoding = CounterMetricFamily(
            "ivm_decode_seconds", "Time of Spark's processes to decode records.", labels=["table"]
        )
        for table, seconds in status.decoding.items():
            decoding.add_metric([table], seconds)
        yield decoding
        yield GaugeMetricFamily(
            "ivm_batches_waiting", "Batches that wait to be applied.", status.waiting
        )
        yield CounterMetricFamily(
            "ivm_stream_starts", "Starts of Spark's streaming query.", status.queries
        )

    def _behind(self, status: PipelineStatus) -> Iterator[Metric]:
        """The lag of views, which is that of the sources that they read."""
        lag = GaugeMetricFamily(
            "ivm_view_lag_records",
            "Records that a view's sources have yet to apply.",
            labels=["view"],
        )
        age = GaugeMetricFamily(
            "ivm_view_behind_seconds",
            "How long the oldest record that a view lacks has been there.",
            labels=["view"],
        )
        lags: Counter[str] = Counter()
        ages: dict[str, float] = {}
        for (source, _, _), count in status.lag.items():
            lags[source] += count
        for (source, _, _), seconds in status.ages.items():
            ages[source] = max(seconds, ages.get(source, 0.0))
        catalog = self._runtime.registry.catalog
        for view in self._runtime.views.all():
            with suppress(UnknownName):  # it was dropped meanwhile
                read = catalog.tables_under(view.name)
                lag.add_metric([view.name], sum(lags[table] for table in read))
                age.add_metric([view.name], max((ages.get(t, 0.0) for t in read), default=0.0))
        yield lag
        yield age

    def _stalled(self) -> Metric:
        stalled = GaugeMetricFamily(
            "ivm_source_stalled", "1 while a source stands still by itself.", labels=["source"]
        )
        known = self._runtime.readiness.stalled()
        for source in tuple(self._runtime.registry.sources):
            stalled.add_metric([source], float(source in known))
        return stalled

    def _sinks(self) -> Iterator[Metric]:
        runtime = self._runtime
        running = GaugeMetricFamily(
            "ivm_sink_running", "0 while a view is not published to its sink.", labels=["view"]
        )
        for view in tuple(runtime.registry.targets):
            kafka = runtime.kafka
            published = runtime.registry.published_as(view)
            is_running = kafka.failed(published) is None and kafka.stalled(published) is None
            running.add_metric([view], float(is_running))
        yield running
        messages = CounterMetricFamily(
            "ivm_sink_messages", "Messages published to Kafka.", labels=["view"]
        )
        size = CounterMetricFamily(
            "ivm_sink_bytes",
            "Bytes of keys and values of messages published to Kafka.",
            labels=["view"],
        )
        waiting = GaugeMetricFamily(
            "ivm_sink_waiting_bytes", "Deltas that wait to be published.", labels=["view"]
        )
        for view in tuple(runtime.registry.targets):
            if (sent := runtime.kafka.sent(runtime.registry.published_as(view))) is not None:
                messages.add_metric([view], sent.messages)
                size.add_metric([view], sent.bytes)
                waiting.add_metric([view], sent.waiting)
        yield messages
        yield size
        yield waiting
        yield from self._transactions()

    def _transactions(self) -> Iterator[Metric]:
        outcomes = CounterMetricFamily(
            "ivm_sink_transactions",
            "Transactions of a connection.",
            labels=["connection", "outcome"],
        )
        seconds = CounterMetricFamily(
            "ivm_sink_transaction_seconds",
            "Time from the beginning of transactions until they were committed.",
            labels=["connection"],
        )
        for connection, counts in self._runtime.kafka.transactions.items():
            outcomes.add_metric([connection, "committed"], counts.committed)
            outcomes.add_metric([connection, "given up"], counts.given_up)
            seconds.add_metric([connection], counts.seconds)
        yield outcomes
        yield seconds

    def _checkpoints(self) -> Iterator[Metric]:
        counts = self._runtime.checkpoints.counts
        yield CounterMetricFamily("ivm_checkpoints", "Checkpoints written.", counts.written)
        yield CounterMetricFamily(
            "ivm_checkpoint_failures", "Checkpoints that could not be written.", counts.failures
        )
        yield GaugeMetricFamily(
            "ivm_checkpoint_time", "Logical time of the last checkpoint.", counts.time
        )
        yield GaugeMetricFamily("ivm_checkpoint_seconds", "Time to write it.", counts.seconds)
        yield GaugeMetricFamily(
            "ivm_checkpoint_bytes", "Bytes written for the last one.", counts.bytes
        )
        yield GaugeMetricFamily(
            "ivm_checkpoint_timestamp_seconds", "When it was complete (Unix time).", counts.stood
        )


def _histogram(name: str, text: str, histogram: Histogram) -> HistogramMetricFamily:
    cumulative = 0
    buckets: list[tuple[str, float]] = []
    bounds = [*(str(bound) for bound in BOUNDS.tolist()), "+Inf"]
    for bound, count in zip(bounds, histogram.counts.tolist(), strict=True):
        cumulative += count
        buckets.append((bound, cumulative))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=histogram.total)
