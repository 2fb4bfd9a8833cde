"""Advice of `ivm doctor` on topics, and on a service that runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from api.cli.topics import on_replicas, on_sink, on_source
from api.settings import Settings
from connectors.kafka.topics import Cluster
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from ivm_client.errors import Unreachable
from ivm_client.service import ServiceClient

# A source that is behind for longer (seconds) is told.
MOST_BEHIND = 60.0
# So soon a service that runs answers.
ANSWER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Told:
    """A part of a running service, and what is wrong with it."""

    part: str
    warning: str


def on_topic(cluster: Cluster, use: TableSpec | KafkaTarget) -> str | None:
    """Warnings about the settings of a topic (raises BrokerFault)."""
    topic = cluster.topics([use.topic])[use.topic]
    settings = cluster.settings(use.topic)
    told = on_source(use, settings) if isinstance(use, TableSpec) else on_sink(use, settings)
    found = [*told]
    if cluster.brokers() > 1:
        found += on_replicas(topic.replicas, settings)
    return "; ".join(found) or None


def on_service(settings: Settings) -> Iterator[Told]:
    """Warnings of a running service about itself; none if none runs (raises ClientError)."""
    key = settings.api_key.get_secret_value() if settings.api_key is not None else None
    client = ServiceClient(settings.url, ANSWER_SECONDS, key, settings.tls_certificate)
    try:
        text = client.text("/metrics")
    except Unreachable:
        return
    finally:
        client.close()
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    for name, labels, value, *_ in samples:
        match name:
            case "ivm_ready" if not value:
                yield Told("service", "it is not ready; GET /readyz says why")
            case "ivm_source_stalled" if value:
                yield Told(f"source {labels['source']}", "it stands still; GET /readyz says why")
            case "ivm_sink_running" if not value:
                yield Told(f"view {labels['view']}", "it is not published; GET /readyz says why")
            case "ivm_source_behind_seconds" if value > MOST_BEHIND:
                place = f"{labels['topic']}, partition {labels['partition']}"
                yield Told(
                    f"source {labels['source']}",
                    f"it is {value:.0f} s behind in {place}; `ivm top` shows where the time goes",
                )
            case "ivm_quarantined" if value:
                yield Told(
                    f"source {labels['table']}",
                    f"{value:.0f} records are put aside ({labels['reason']}); see `ivm quarantine`",
                )
