"""`ivm doctor`: checks that all that is configured is there, and warns of what will hurt.

A service need not run; of one that does it says what it is behind with.
"""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from api.cli.advice import on_service, on_topic
from api.cli.machine import other_clock, own, reach, scarce_disk, scarce_memory
from api.registry import Registry
from api.settings import Settings
from connectors.checkpoint.store import open_store
from connectors.errors import UnknownConnection
from connectors.formats.schema_registry import Registry as SchemaRegistry
from connectors.formats.schema_registry import config_of
from connectors.kafka.topics import Cluster
from connectors.spark.java import java_home
from connectors.tables.patterns import matching
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError
from ivm_client.errors import ClientError

# A subject that no registry has: to be told so is an answer.
_NO_SUBJECT = "ivm-doctor"


@dataclass(frozen=True, slots=True)
class Finding:
    """A checked part; `fault` names the error and its remedy, `warning` what will hurt, or None."""

    part: str
    setting: str
    fault: str | None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class _Check:
    part: str
    setting: str
    run: Callable[[], str | None]


def examine(settings: Settings) -> list[Finding]:
    """Every part that is configured or declared; takes some seconds where a part is silent."""
    checks = list(_checks(settings))
    with ThreadPoolExecutor(max_workers=max(len(checks), 1)) as pool:
        found = list(pool.map(_found, checks))
    return [*found, *_of_service(settings)]


def _of_service(settings: Settings) -> list[Finding]:
    """The arrears of a running service; that none runs is no fault."""
    try:
        return [Finding(told.part, "", None, told.warning) for told in on_service(settings)]
    except ClientError as error:
        return [Finding("service", "api_key", str(error))]


def _found(check: _Check) -> Finding:
    try:
        warning = check.run()
    except (IvmError, OSError) as error:
        return Finding(check.part, check.setting, str(error))
    return Finding(check.part, check.setting, None, warning)


def _checks(settings: Settings) -> Iterator[_Check]:
    for setting, directory in (("data", settings.data), ("topics", settings.topics_directory)):
        yield _Check("directory", setting, partial(_write, directory))
    yield _Check("checkpoints", "checkpoints", partial(_keep, settings.checkpoints_place))
    yield _Check("Java", "JAVA_HOME", _silent(java_home))
    limit = settings.max_process_bytes
    yield _Check("memory", "max_process_bytes", partial(scarce_memory, limit))
    if settings.cluster is not None:
        yield _Check("Spark's master", "spark_master", partial(reach, settings.spark_master))
        yield _Check("address of the cluster", "cluster.host", partial(own, settings.cluster.host))
    if settings.oidc is not None:
        ca = str(settings.oidc.ca) if settings.oidc.ca is not None else True
        clock = partial(other_clock, settings.oidc.issuer, ca)
        yield _Check("clock of the issuer", "oidc.issuer", clock)
    sources = _sources(settings)
    for name, connection in settings.connections.items():
        check = _silent(Cluster(connection).check)
        yield _Check(f"connection {name}", f"connections.{name}", check)
        if (config := config_of(connection)) is not None:
            setting = f"connections.{name}.schema_registry_url"
            ask = partial(SchemaRegistry(config).latest, _NO_SUBJECT)
            yield _Check(f"registry of {name}", setting, _silent(ask))
            yield _Check(f"clock of {name}'s registry", setting, partial(other_clock, config.url))
    for spec in sources:
        setting = f"connections.{spec.connection}"
        yield _Check(f"source {spec.name}", setting, _topic(spec, settings))
    for view, target in _registry(settings).targets.items():
        connection_of = settings.connections.get(target.connection)
        if connection_of is not None:
            setting = f"connections.{target.connection}"
            advise = partial(on_topic, Cluster(connection_of), target)
            yield _Check(f"sink of {view}", setting, advise)


def _silent(run: Callable[[], object]) -> Callable[[], str | None]:
    """A check that warns of nothing."""

    def check() -> None:
        run()

    return check


def _write(directory: Path) -> str | None:
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=directory) as file:
        file.write(b"ivm")
    return scarce_disk(directory)


def _keep(place: str) -> str | None:
    store = open_store(place)
    store.publish("doctor", b"ivm")
    store.remove("doctor")
    return scarce_disk(Path(place)) if Path(place).is_dir() else None


def _sources(settings: Settings) -> list[TableSpec]:
    """The declared sources that are read from Kafka."""
    return [spec for spec in _registry(settings).sources.values() if spec.is_remote]


def _registry(settings: Settings) -> Registry:
    return Registry(settings.data / "registry.json")


def _topic(spec: TableSpec, settings: Settings) -> Callable[[], str | None]:
    def check() -> str | None:
        connection = settings.connections.get(spec.connection or "")
        if connection is None:
            raise UnknownConnection(
                f"source {spec.name!r} names a connection {spec.connection!r} that is not "
                "configured; configure it, or delete the source"
            )
        cluster = Cluster(connection)

        def advised(stream: TableSpec) -> str | None:
            cluster.check_readable(stream.topic)
            return on_topic(cluster, stream)

        if spec.topic_pattern is None:
            return advised(spec)
        topics = matching(spec.topic_pattern, cluster.names())
        if not topics:
            return f"no topic matches {spec.topic_pattern!r} yet"
        told = {topic: advised(spec.stream(topic)) for topic in topics}
        return "; ".join(f"{topic}: {text}" for topic, text in told.items() if text) or None

    return check
