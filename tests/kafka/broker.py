"""Apache Kafka as a process: one node that is its own controller (KRaft).

All its files are in one directory, and its ports stay the same, so that a broker that was killed
and started again is the same broker. A secured one has besides its plain listener three that ask
for TLS, a password or both.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Self

import pytest
from confluent_kafka import KafkaException

from api.demo.ports import free_ports, is_open
from tests.kafka.certificates import Certificates
from tests.kafka.client import Kafka
from tests.kafka.java import JavaProcess, NoJars, await_true, run
from tests.shared import session_directory, shared_server

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]

USER = "ivm"
PASSWORD = "a password of a user"

_CLUSTER = "xtzWWN4bTjitpL3kfd9s5g"
# What a broker that has shut down leaves in its directory of logs.
_CLEAN = ".kafka_cleanshutdown"
_SECURED: tuple[Protocol, ...] = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
# One node: every internal topic has one replica; few partitions start fast.
_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    # By default the cleaner takes 128 MiB at once, which is half the heap.
    "log.cleaner.dedupe.buffer.size": str(4 << 20),
    # A transaction that outlives its time is aborted soon after, not within ten seconds.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    # A broker that was frozen is not taken for dead by its own controller when it goes on.
    "broker.session.timeout.ms": "600000",
}


class Broker(Kafka):
    """A broker in `directory`; made once, started, killed, frozen and started again.

    `settings` are Kafka's own, and win over those made here.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        secured: bool = False,
        settings: Mapping[str, str] = MappingProxyType({}),
        options: tuple[str, ...] = (),
        classes: Path | None = None,
    ) -> None:
        """`options` are those of its JVM, `classes` a directory of its own classes."""
        protocols: tuple[Protocol, ...] = ("PLAINTEXT", *(_SECURED if secured else ()))
        controller, *ports = free_ports(1 + len(protocols))
        if port is not None:
            ports[0] = port
        self.addresses: Mapping[Protocol, str] = {
            protocol: f"127.0.0.1:{each}" for protocol, each in zip(protocols, ports, strict=True)
        }
        super().__init__(self.addresses["PLAINTEXT"])
        directory.mkdir(parents=True, exist_ok=True)
        self.certificates = Certificates.made(directory / "certificates") if secured else None
        self._directory = directory
        self._properties = directory / "server.properties"
        self._controller_listener = f"CONTROLLER://127.0.0.1:{controller}"
        self._configure(directory, f"127.0.0.1:{controller}", settings)
        self._is_new = not (directory / "log" / "meta.properties").exists()
        if self._is_new:
            self._format()
        arguments = [self._properties]
        self.process = JavaProcess(directory, "broker", "kafka.Kafka", arguments, options, classes)

    @classmethod
    @contextmanager
    def started(
        cls,
        directory: Path,
        *,
        secured: bool = False,
        settings: Mapping[str, str] = MappingProxyType({}),
        options: tuple[str, ...] = (),
        classes: Path | None = None,
    ) -> Iterator[Self]:
        """A broker that runs, and is stopped in the end."""
        broker = cls(
            directory, secured=secured, settings=settings, options=options, classes=classes
        )
        broker.start()
        try:
            yield broker
        finally:
            broker.stop()

    def start(self) -> None:
        """Start it, for the first time or again, and wait until it answers."""
        was_killed = not (self._is_new or (self._directory / "log" / _CLEAN).exists())
        if was_killed:
            self._fence()
        self._is_new = False
        self.process.start(self._answers)

    def _fence(self) -> None:
        """Run the controller alone until it has noticed that the broker is gone.

        Otherwise the broker is back before its session is over, and its coordinator of transactions
        sends itself markers at once, which must wait for the listeners. When the session ends then,
        Kafka 4.3.1 takes partitions that have no leader for deleted ones and drops their markers
        (`TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue`): a transaction whose commit
        was acknowledged stays open for ever. With several brokers another one leads by then.
        """
        directory = self._directory / "controller"
        directory.mkdir(exist_ok=True)
        given = dict(line.split("=", 1) for line in self._properties.read_text().splitlines())
        given = {name: value for name, value in given.items() if "advertised" not in name}
        alone = {
            "process.roles": "controller",
            "listeners": self._controller_listener,
            "broker.session.timeout.ms": "100",
        }
        properties = directory / "server.properties"
        properties.write_text("".join(f"{n}={value}\n" for n, value in (given | alone).items()))
        options = ("-Dorg.apache.logging.log4j.level=INFO",)  # which is how it tells
        process = JavaProcess(directory, "broker", "kafka.Kafka", [properties], options)
        process.log.unlink(missing_ok=True)
        process.start(lambda: "Fencing broker 1 " in process.log.read_text())
        self._await_metadata()  # which may be what came before the fencing
        self._await_metadata()
        process.stop()

    def _await_metadata(self) -> None:
        """Wait until more is written; if there is nothing to say, that comes each half second."""
        size = self._metadata_bytes()
        await_true("metadata", lambda: self._metadata_bytes() > size)

    def _metadata_bytes(self) -> int:
        segments = (self._directory / "log" / "__cluster_metadata-0").glob("*.log")
        return sum(segment.stat().st_size for segment in segments)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()

    def stop(self) -> None:
        """Let it shut down."""
        self.process.stop()

    def pause(self) -> None:
        """SIGSTOP: connections stay open, nothing is answered."""
        self.process.pause()

    def resume(self) -> None:
        """SIGCONT."""
        self.process.resume()

    def _answers(self) -> bool:
        if not is_open(self.address):  # a client that is refused waits before it asks again
            return False
        with suppress(KafkaException):
            return bool(self.admin().list_topics(timeout=5).brokers)
        return False

    def _configure(self, directory: Path, controller: str, given: Mapping[str, str]) -> None:
        listeners: dict[str, str] = {str(name): at for name, at in self.addresses.items()}
        listeners["CONTROLLER"] = controller
        settings = {
            **_SETTINGS,
            "controller.quorum.voters": f"1@{controller}",
            "listeners": ",".join(f"{name}://{at}" for name, at in listeners.items()),
            "listener.security.protocol.map": ",".join(
                f"{name}:{'PLAINTEXT' if name == 'CONTROLLER' else name}" for name in listeners
            ),
            "log.dirs": str(directory / "log"),
        }
        if self.certificates is not None:
            settings |= _security(self.certificates)
        lines = (f"{name}={value}\n" for name, value in (settings | dict(given)).items())
        self._properties.write_text("".join(lines))

    def _format(self) -> None:
        users = [f"{each}=[name={USER},password={PASSWORD}]" for each in _MECHANISMS[1:]]
        scram = [word for user in users for word in ("--add-scram", user)]
        run(
            *("broker", "kafka.tools.StorageTool", "format", "--cluster-id", _CLUSTER),
            *("--config", self._properties, *(scram if self.certificates else ())),
        )


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A running broker of the test's own, to kill and to freeze."""
    try:
        with Broker.started(tmp_path / "broker") as started:
            yield started
    except NoJars as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A secured broker of this process; each test uses topics of its own, and leaves it running."""
    try:
        with Broker.started(tmp_path_factory.mktemp("secured"), secured=True) as started:
            yield started
    except NoJars as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """The broker of the test session; each test uses topics of its own, and leaves it running."""
    try:
        with shared_server(session_directory(tmp_path_factory), "kafka", _start, _stop) as note:
            yield Kafka(note.split()[1])
    except NoJars as reason:
        pytest.skip(str(reason))


def _start() -> str:
    directory = Path(tempfile.mkdtemp(prefix="kafka-"))
    try:
        broker = Broker(directory)
        broker.start()
    except BaseException:
        shutil.rmtree(directory)
        raise
    return f"{broker.process.pid} {broker.address} {directory}"


def _stop(note: str) -> None:
    pid, _, directory = note.split(maxsplit=2)
    os.kill(int(pid), signal.SIGKILL)
    with suppress(ChildProcessError):  # another process of the session started it
        os.waitpid(int(pid), 0)
    shutil.rmtree(directory, ignore_errors=True)


def _security(certificates: Certificates) -> dict[str, str]:
    """What the listeners beside the plain one need."""
    plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
    settings = {
        "sasl.enabled.mechanisms": ",".join(_MECHANISMS),
        "ssl.client.auth": "requested",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.server_store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.ca),
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        prefix = f"listener.name.{listener}"
        settings[f"{prefix}.plain.sasl.jaas.config"] = f'{plain} required user_{USER}="{PASSWORD}";'
        for mechanism in _MECHANISMS[1:]:
            settings[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = f"{scram} required;"
    return settings
