"""Tokens as Amazon MSK takes them: each client signs its own, and a cluster may refuse them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.connections import Connection
from connectors.errors import BrokerRefused
from connectors.kafka.topics import Cluster
from tests.faults.publishing import History, Publishing, output
from tests.kafka import presigned
from tests.kafka.broker import Broker
from tests.kafka.java import NoJars, compiled

pytest.importorskip("aws_msk_iam_sasl_signer", reason="the extra ivm[msk] is not installed")

OPTIONS: dict[str, Any] = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "OAUTHBEARER",
    "sasl_oauthbearer_aws_region": presigned.REGION,
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that takes presigned requests for tokens."""
    directory = tmp_path_factory.mktemp("presigned")
    try:
        with Broker.started(
            directory / "broker",
            secured=True,
            settings=presigned.SETTINGS,
            options=presigned.OPTIONS,
            classes=compiled("PresignedTokens", "broker", directory),
        ) as broker:
            yield broker
    except NoJars as reason:
        pytest.skip(str(reason))


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", presigned.KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")


def cluster(broker: Broker) -> Cluster:
    """The cluster as a source sees it."""
    address = broker.addresses["SASL_PLAINTEXT"]
    return Cluster(Connection(name="main", bootstrap_servers=address, **OPTIONS))


def test_signed_tokens_let_a_view_be_published_and_its_topic_be_read(
    broker: Broker, tmp_path: Path
) -> None:
    address = broker.addresses["SASL_PLAINTEXT"]
    publishing = Publishing(tmp_path, address, [output("v", "s", partitions=1)], "s", 20, **OPTIONS)
    publishing.open()
    publishing.deliver({"v": History(1)})
    publishing.close()
    ends = cluster(broker).ends([("s.v", 0)])
    assert ends["s.v", 0] > len(broker.read_committed("s.v")) > 1


def test_credentials_that_the_cluster_does_not_take_are_refused_by_the_setting(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    with pytest.raises(BrokerRefused, match=r"connections\.main\.sasl_oauthbearer_aws_region"):
        cluster(broker).check()


def test_a_host_without_credentials_is_told_so(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(BrokerRefused, match=r"sasl_oauthbearer_aws_region.*no credentials of AWS"):
        cluster(broker).check()
