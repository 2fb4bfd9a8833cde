"""`ivm doctor`: checks that everything configured is there and answers, without a service."""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from api.registry import Registry
from api.settings import Settings
from connectors.checkpoint.store import open_store
from connectors.errors import JarsMissing, UnknownConnection
from connectors.formats.schema_registry import Registry as SchemaRegistry
from connectors.formats.schema_registry import config_of
from connectors.kafka.topics import Cluster
from connectors.spark.java import java_home
from connectors.tables.spec import TableSpec
from ivm.errors import IvmError

# A subject that no registry has: to be told so is an answer.
_NO_SUBJECT = "ivm-doctor"


@dataclass(frozen=True, slots=True)
class Finding:
    """A checked part of the configuration; `fault` names the error and its remedy, or is None."""

    part: str
    setting: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class _Check:
    part: str
    setting: str
    run: Callable[[], object]


def examine(settings: Settings) -> list[Finding]:
    """Every part that is configured or declared; takes some seconds where a part is silent."""
    checks = list(_checks(settings))
    with ThreadPoolExecutor(max_workers=max(len(checks), 1)) as pool:
        return list(pool.map(_found, checks))


def _found(check: _Check) -> Finding:
    try:
        check.run()
    except (IvmError, OSError) as error:
        return Finding(check.part, check.setting, str(error))
    return Finding(check.part, check.setting, None)


def _checks(settings: Settings) -> Iterator[_Check]:
    for setting, directory in (("data", settings.data), ("topics", settings.topics_directory)):
        yield _Check("directory", setting, partial(_write, directory))
    yield _Check("checkpoints", "checkpoints", partial(_keep, settings.checkpoints_place))
    yield _Check("Java", "JAVA_HOME", java_home)
    sources = _sources(settings)
    if settings.connections or sources:
        yield _Check("jars", "spark_jars", partial(_find_jars, settings.spark_jars))
    for name, connection in settings.connections.items():
        yield _Check(f"connection {name}", f"connections.{name}", Cluster(connection).check)
        if (config := config_of(connection)) is not None:
            setting = f"connections.{name}.schema_registry_url"
            ask = partial(SchemaRegistry(config).latest, _NO_SUBJECT)
            yield _Check(f"registry of {name}", setting, ask)
    for spec in sources:
        setting = f"connections.{spec.connection}"
        yield _Check(f"source {spec.name}", setting, _topic(spec, settings))


def _write(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=directory) as file:
        file.write(b"ivm")


def _keep(place: str) -> None:
    store = open_store(place)
    store.publish("doctor", b"ivm")
    store.remove("doctor")


def _find_jars(directory: Path) -> None:
    if not any(directory.glob("*.jar")):
        raise JarsMissing(
            f"there are no jars of Spark's Kafka source in {directory}; `make jars` fetches them"
        )


def _sources(settings: Settings) -> list[TableSpec]:
    """The declared sources that are read from Kafka."""
    known = Registry(settings.data / "registry.json").sources.values()
    return [spec for spec in known if spec.is_remote]


def _topic(spec: TableSpec, settings: Settings) -> Callable[[], object]:
    def check() -> None:
        connection = settings.connections.get(spec.connection or "")
        if connection is None:
            raise UnknownConnection(
                f"source {spec.name!r} names a connection {spec.connection!r} that is not "
                "configured; configure it, or delete the source"
            )
        Cluster(connection).check_readable(spec.topic)

    return check
