"""The service's state in Prometheus' terms, gathered when it is scraped."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from api.followers import Followers
from api.runtime import Runtime
from connectors.ingest.meter import BOUNDS, Histogram


class RuntimeCollector(Collector):
    """Yields every family from the runtime as it is."""

    def __init__(self, runtime: Runtime, followers: Followers) -> None:
        self._runtime = runtime
        self._followers = followers

    def collect(self) -> Iterator[Metric]:
        """All metrics of the service."""
        yield from self._counters()
        yield from self._arrangements()
        yield from self._pipeline()
        yield from self._checkpoints()
        yield self._sinks()
        followers = self._followers
        yield GaugeMetricFamily("ivm_followers", "Change feeds followed.", followers.count)
        yield CounterMetricFamily(
            "ivm_followers_dropped", "Followers that took nothing.", followers.dropped
        )
        meter = self._runtime.meter
        yield _histogram("ivm_batch_seconds", "Time to apply and publish.", meter.batch_seconds)
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
        quarantined = GaugeMetricFamily("ivm_quarantined", "Records put aside.", labels=labels)
        for values, count in self._runtime.quarantine.counts().items():
            quarantined.add_metric(values, count)
        yield quarantined
        errors = GaugeMetricFamily("ivm_view_errors", "Rows not computed.", labels=["view"])
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
        records = GaugeMetricFamily(
            "ivm_arrangement_records", "Updates, rows or groups held.", labels=labels
        )
        memory = GaugeMetricFamily(
            "ivm_arrangement_bytes", "Memory held by each arrangement and state.", labels=labels
        )
        totals: dict[str, tuple[int, int]] = {}
        for info in self._runtime.pool.arrangements():
            known = totals.get(info.name, (0, 0))
            totals[info.name] = known[0] + info.records, known[1] + info.bytes
        for name, (count, size) in totals.items():
            records.add_metric([name], count)
            memory.add_metric([name], size)
        yield records
        yield memory

    def _pipeline(self) -> Iterator[Metric]:
        status = self._runtime.pipeline.status()
        yield GaugeMetricFamily("ivm_time", "The last logical time applied.", status.time)
        yield GaugeMetricFamily(
            "ivm_records_per_second", "Input records of late.", status.records_per_second
        )
        ready = float(self._runtime.readiness.fault() is None)
        yield GaugeMetricFamily("ivm_ready", "1 while the service is ready.", ready)
        labels = ["source", "topic", "partition"]
        lag = GaugeMetricFamily("ivm_lag_records", "Records not yet applied.", labels=labels)
        for (source, topic, partition), count in status.lag.items():
            lag.add_metric([source, topic, str(partition)], count)
        yield lag

    def _sinks(self) -> Metric:
        runtime = self._runtime
        running = GaugeMetricFamily(
            "ivm_sink_running", "0 while a view is not published to its sink.", labels=["view"]
        )
        for view in tuple(runtime.registry.targets):
            kafka = runtime.kafka
            is_running = kafka.failed(view) is None and kafka.stalled(view) is None
            running.add_metric([view], float(is_running))
        return running

    def _checkpoints(self) -> Iterator[Metric]:
        counts = self._runtime.checkpoints.counts
        yield CounterMetricFamily("ivm_checkpoints", "Checkpoints written.", counts.written)
        yield CounterMetricFamily(
            "ivm_checkpoint_failures", "Checkpoints that could not be written.", counts.failures
        )
        yield GaugeMetricFamily("ivm_checkpoint_time", "Its logical time.", counts.time)
        yield GaugeMetricFamily("ivm_checkpoint_seconds", "How long it took.", counts.seconds)
        yield GaugeMetricFamily("ivm_checkpoint_bytes", "Bytes written for it.", counts.bytes)
        yield GaugeMetricFamily(
            "ivm_checkpoint_timestamp_seconds", "When the last one stood.", counts.stood
        )


def _histogram(name: str, text: str, histogram: Histogram) -> HistogramMetricFamily:
    cumulative = 0
    buckets: list[tuple[str, float]] = []
    bounds = [*(str(bound) for bound in BOUNDS.tolist()), "+Inf"]
    for bound, count in zip(bounds, histogram.counts.tolist(), strict=True):
        cumulative += count
        buckets.append((bound, cumulative))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=histogram.total)
