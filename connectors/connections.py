"""Connections: the address and credentials of a Kafka cluster, and of its schema registry.

A connection is named and configured by the operator; whoever declares a source or a sink says the
name and no more, so no caller of the service can reach another host or read a secret. Secrets
leave it only in what `librdkafka` and `registry` return: never log or store these.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

# The package of Amazon's that signs tokens, of the extra `msk`.
_MSK = "aws_msk_iam_sasl_signer"
_OAUTH_SETTINGS = (
    "sasl_oauthbearer_token_endpoint_url",
    "sasl_oauthbearer_client_id",
    "sasl_oauthbearer_client_secret",
)


class Connection(BaseModel):
    """One cluster: the broker's options are named as librdkafka names them, with underscores.

    The files are PEM.
    """

    # A message that quoted what it was given would quote a password.
    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$")]
    """The name that sources and sinks call it by, which the table's name gives."""
    bootstrap_servers: Annotated[str, Field(min_length=1)]
    """`host:port`, several with commas."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    """How the brokers are spoken to."""
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] | None = None
    """How the service proves who it is, with a protocol `SASL_…`."""
    sasl_username: str | None = None
    """The user, but with `OAUTHBEARER`."""
    sasl_password: SecretStr | None = None
    """The password of that user."""
    sasl_oauthbearer_token_endpoint_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    """Where an issuer gives tokens for client credentials, with `OAUTHBEARER`."""
    sasl_oauthbearer_client_id: str | None = None
    """The name of the service at the issuer."""
    sasl_oauthbearer_client_secret: SecretStr | None = None
    """Its secret there."""
    sasl_oauthbearer_scope: str | None = None
    """The scope to ask for, if the issuer wants one."""
    sasl_oauthbearer_aws_region: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")] | None = None
    """The region of an Amazon MSK cluster whose IAM is asked, with `OAUTHBEARER`, in an issuer's
    stead: tokens are signed with AWS's credentials, which its own variables, files and roles give.
    Needs the extra `ivm[msk]`."""
    ssl_ca_location: Path | None = None
    """PEM of the authorities to trust; the system's unless set."""
    ssl_certificate_location: Path | None = None
    """PEM of the certificate of the service as a client."""
    ssl_key_location: Path | None = None
    """PEM of the certificate's key."""
    ssl_key_password: SecretStr | None = None
    """The password of that key."""
    schema_registry_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    """A registry that speaks Confluent's API, or Apicurio's below `/apis/registry/`."""
    schema_registry_username: str | None = None
    """The user of the registry."""
    schema_registry_password: SecretStr | None = None
    """The password of that user."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        is_sasl = self.security_protocol.startswith("SASL_")
        is_oauth = self.sasl_mechanism == "OAUTHBEARER"
        _all_or_none(self, ("sasl_mechanism",), is_sasl)
        _all_or_none(self, ("sasl_username", "sasl_password"), is_sasl and not is_oauth)
        is_aws = self.sasl_oauthbearer_aws_region is not None
        _all_or_none(self, _OAUTH_SETTINGS, is_sasl and is_oauth and not is_aws)
        if self.sasl_oauthbearer_scope is not None and (is_aws or not is_oauth):
            raise ValueError(
                "sasl_oauthbearer_scope needs sasl_mechanism OAUTHBEARER and an issuer"
            )
        if is_aws and not is_oauth:
            raise ValueError("sasl_oauthbearer_aws_region needs sasl_mechanism OAUTHBEARER")
        if is_aws and find_spec(_MSK) is None:
            raise ValueError(
                "sasl_oauthbearer_aws_region needs packages that are not installed: "
                "pip install 'ivm[msk]'"
            )
        ssl = ("ssl_certificate_location", "ssl_key_location")
        _all_or_none(self, ssl, self.ssl_key_location is not None)
        for setting in ("ssl_ca_location", *ssl):
            path = getattr(self, setting)
            if path is None:
                continue
            if not self.security_protocol.endswith("SSL"):
                raise ValueError(f"{setting} needs security_protocol SSL or SASL_SSL")
            if not path.is_file():
                raise ValueError(f"{setting}: there is no file {path}")
        registry = ("schema_registry_username", "schema_registry_password")
        _all_or_none(self, registry, self.schema_registry_username is not None)
        return self

    @property
    def credentials(self) -> str:
        """The setting to look at where the brokers do not believe who the service is."""
        if self.sasl_oauthbearer_aws_region is not None:
            return "sasl_oauthbearer_aws_region"
        is_oauth = self.sasl_mechanism == "OAUTHBEARER"
        return "sasl_oauthbearer_client_secret" if is_oauth else "sasl_password"

    def librdkafka(self) -> dict[str, Any]:
        """Options of confluent-kafka's clients; those of a consumer or producer are to be added."""
        options = {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": self.security_protocol,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.username": self.sasl_username,
            "sasl.password": _revealed(self.sasl_password),
            "sasl.oauthbearer.method": "oidc" if self.sasl_oauthbearer_client_id else None,
            "sasl.oauthbearer.token.endpoint.url": self.sasl_oauthbearer_token_endpoint_url,
            "sasl.oauthbearer.client.id": self.sasl_oauthbearer_client_id,
            "sasl.oauthbearer.client.secret": _revealed(self.sasl_oauthbearer_client_secret),
            "sasl.oauthbearer.scope": self.sasl_oauthbearer_scope,
            "oauth_cb": self._sign if self.sasl_oauthbearer_aws_region is not None else None,
            "ssl.ca.location": _text(self.ssl_ca_location),
            "ssl.certificate.location": _text(self.ssl_certificate_location),
            "ssl.key.location": _text(self.ssl_key_location),
            "ssl.key.password": _revealed(self.ssl_key_password),
            # A small request is not to wait for the answer to the one before.
            "socket.nagle.disable": True,
        }
        return {name: value for name, value in options.items() if value is not None}

    def registry(self) -> dict[str, str]:
        """`url`, `username` and `password` of the schema registry, as far as they are set."""
        options = {
            "url": self.schema_registry_url,
            "username": self.schema_registry_username,
            "password": _revealed(self.schema_registry_password),
        }
        return {name: value for name, value in options.items() if value is not None}

    def _sign(self, _: str) -> tuple[str, float]:
        """A token of Amazon's, and the moment until which it holds, in seconds since the epoch."""
        provider = import_module(f"{_MSK}.MSKAuthTokenProvider")
        token, milliseconds = provider.generate_auth_token(self.sasl_oauthbearer_aws_region)
        return token, milliseconds / 1000


def named(connections: Any) -> Any:
    """A mapping of names to connections, each told its name; anything else as it is."""
    if not isinstance(connections, dict):
        return connections
    return {
        name: {"name": name, **value} if isinstance(value, dict) else value
        for name, value in connections.items()
    }


def _all_or_none(connection: Connection, settings: tuple[str, ...], wanted: bool) -> None:
    for setting in settings:
        if (getattr(connection, setting) is not None) != wanted:
            fault = "is needed" if wanted else "is not used"
            others = ", ".join(s for s in settings if s != setting)
            protocol, mechanism = connection.security_protocol, connection.sasl_mechanism
            told = f"security_protocol is {protocol}, sasl_mechanism {mechanism or 'none'}"
            seen = f"; see {others}" if others else ""
            raise ValueError(f"{setting} {fault} ({told}{seen})")


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None
