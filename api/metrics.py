"""The service's state in Prometheus' terms, gathered when it is scraped."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from api.meter import BOUNDS, Histogram
from api.runtime import Runtime


class RuntimeCollector(Collector):
    """Yields every family from the runtime as it is."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def collect(self) -> Iterator[Metric]:
        """All metrics of the service."""
        yield from self._counters()
        yield from self._arrangements()
        yield from self._pipeline()
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
        updates = CounterMetricFamily("ivm_updates", "Updates of tables.", labels=["table"])
        for table, count in meter.updates.copy().items():
            updates.add_metric([table], count)
        yield updates
        deltas = CounterMetricFamily("ivm_deltas", "Deltas published.", labels=["view"])
        for view, count in meter.deltas.copy().items():
            deltas.add_metric([view], count)
        yield deltas
        labels = ["table", "topic", "reason"]
        quarantined = GaugeMetricFamily("ivm_quarantined", "Records put aside.", labels=labels)
        for values, count in self._runtime.quarantine.counts().items():
            quarantined.add_metric(values, count)
        yield quarantined
        errors = GaugeMetricFamily("ivm_view_errors", "Rows not computed.", labels=["view"])
        for view, messages in dict(self._runtime.applier.errors).items():
            errors.add_metric([view], sum(messages.values()))
        yield errors

    def _arrangements(self) -> Iterator[Metric]:
        labels = ["arrangement"]
        records = GaugeMetricFamily(
            "ivm_arrangement_records", "Updates, rows or groups held.", labels=labels
        )
        memory = GaugeMetricFamily(
            "ivm_arrangement_bytes", "Memory of what is held.", labels=labels
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
        ready = float(self._runtime.fault() is None)
        yield GaugeMetricFamily("ivm_ready", "1 while the service is ready.", ready)
        lag = GaugeMetricFamily("ivm_lag_records", "Records not yet applied.", labels=["topic"])
        for topic, count in status.lag.items():
            lag.add_metric([topic], count)
        yield lag


def _histogram(name: str, text: str, histogram: Histogram) -> HistogramMetricFamily:
    cumulative = 0
    buckets: list[tuple[str, float]] = []
    bounds = [*(str(bound) for bound in BOUNDS.tolist()), "+Inf"]
    for bound, count in zip(bounds, histogram.counts.tolist(), strict=True):
        cumulative += count
        buckets.append((bound, cumulative))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=histogram.total)
