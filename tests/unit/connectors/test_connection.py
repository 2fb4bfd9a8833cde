"""Connections: what clients are told, and that nobody else is told a secret."""

from base64 import urlsafe_b64decode
from pathlib import Path
from time import time
from typing import Any

import pytest
from pydantic import ValidationError

from api.settings import Settings
from connectors import connections
from connectors.connections import Connection

SECRET = "canary-7f3a"
PLAIN = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "sasl_username": "ann",
    "sasl_password": SECRET,
}
OAUTH = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "OAUTHBEARER",
    "sasl_oauthbearer_token_endpoint_url": "https://login.example/token",
    "sasl_oauthbearer_client_id": "shop",
    "sasl_oauthbearer_client_secret": SECRET,
    "sasl_oauthbearer_scope": "kafka",
}
MSK = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "OAUTHBEARER",
    "sasl_oauthbearer_aws_region": "eu-west-1",
}


def connection(**options: Any) -> Connection:
    return Connection(name="main", bootstrap_servers="broker:9092", **options)


def test_a_plain_connection_needs_its_address_only() -> None:
    made = connection()
    assert made.librdkafka() == {
        "bootstrap.servers": "broker:9092",
        "security.protocol": "PLAINTEXT",
        "socket.nagle.disable": True,
    }
    assert made.registry() == {}


def test_credentials_reach_the_client() -> None:
    made = connection(**PLAIN)
    assert made.librdkafka()["sasl.username"] == "ann"
    assert made.librdkafka()["sasl.password"] == SECRET


def test_client_credentials_reach_the_client() -> None:
    made = connection(**OAUTH)
    assert made.librdkafka()["sasl.oauthbearer.method"] == "oidc"
    assert made.librdkafka()["sasl.oauthbearer.client.secret"] == SECRET
    assert SECRET not in repr(made) + made.model_dump_json()


def test_files_are_pem(tmp_path: Path) -> None:
    ca, certificate, key = (tmp_path / name for name in ("ca", "certificate", "key"))
    ca.write_text("CA")
    certificate.write_text("CERTIFICATE")
    key.write_text("-----BEGIN PRIVATE KEY-----\n")
    made = connection(
        security_protocol="SSL",
        ssl_ca_location=ca,
        ssl_certificate_location=certificate,
        ssl_key_location=key,
        ssl_key_password=SECRET,
    )
    assert made.librdkafka()["ssl.ca.location"] == str(ca)
    assert made.librdkafka()["ssl.key.location"] == str(key)
    assert made.librdkafka()["ssl.key.password"] == SECRET


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"security_protocol": "SASL_SSL"}, "sasl_mechanism is needed"),
        ({"sasl_username": "ann"}, "sasl_username is not used"),
        ({**PLAIN, "sasl_oauthbearer_scope": "x"}, "sasl_oauthbearer_scope needs"),
        ({**OAUTH, "sasl_username": "ann"}, "sasl_username is not used"),
        ({**OAUTH, "sasl_oauthbearer_client_id": None}, "sasl_oauthbearer_client_id is needed"),
        ({**PLAIN, "sasl_oauthbearer_aws_region": "eu-west-1"}, "aws_region needs sasl_mechanism"),
        ({**MSK, "sasl_oauthbearer_scope": "x"}, "sasl_oauthbearer_scope needs"),
        ({**OAUTH, **MSK}, "sasl_oauthbearer_token_endpoint_url is not used"),
        ({"security_protocol": "SSL", "ssl_ca_location": "/none"}, "there is no file /none"),
        ({"ssl_ca_location": "/none"}, "ssl_ca_location needs security_protocol"),
        ({"security_protocol": "SSL", "ssl_key_location": "/none"}, "ssl_certificate_location"),
        ({"schema_registry_password": SECRET}, "schema_registry_password is not used"),
        ({"bootstrap": "broker"}, "bootstrap"),
    ],
)
def test_options_that_contradict_each_other_are_named(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        connection(**options)


def test_a_connection_to_msk_without_its_packages_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "_MSK", "no_such_package")
    with pytest.raises(ValidationError, match=r"pip install 'ivm\[msk\]'"):
        connection(**MSK)


def test_tokens_for_msk_are_signed_by_each_client_when_it_needs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("aws_msk_iam_sasl_signer", reason="the extra ivm[msk] is not installed")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    token, until = connection(**MSK).librdkafka()["oauth_cb"]("")
    request = urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    assert request.startswith("https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster%3A")
    assert "X-Amz-Credential=AKIDEXAMPLE%2F" in request
    assert SECRET not in request
    assert 0 < until - time() <= 900


def test_no_secret_is_printed() -> None:
    made = connection(**PLAIN, schema_registry_username="ann", schema_registry_password=SECRET)
    assert SECRET not in repr(made) + str(made) + made.model_dump_json()
    assert SECRET not in repr(Settings(connections={"main": made}))
    wrong: Any = {"main": {**PLAIN, "bootstrap_servers": ""}}
    with pytest.raises(ValidationError) as refused:
        Settings(connections=wrong)
    assert "connections.main.bootstrap_servers" in str(refused.value)
    assert SECRET not in str(refused.value)


def test_connections_are_configured_by_file_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ivm.toml").write_text('[connections.main]\nbootstrap_servers = "broker:9092"\n')
    assert Settings().connections == {"main": connection()}
    monkeypatch.setenv("IVM_CONNECTIONS", '{"main": {"bootstrap_servers": "other:1"}}')
    assert Settings().connections["main"].bootstrap_servers == "other:1"
