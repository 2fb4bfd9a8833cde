"""API keys: what a caller keeps secret, and what the service keeps of it.

A key is `ivm_ID_SECRET`. Its secret has 256 random bits, so that one round of SHA-256 protects it
as well as a slow hash would, at no cost to a request.
"""

import hmac
import secrets
from datetime import UTC, datetime
from hashlib import sha256
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

from api.security.principal import Principal, Role

MARK = "ivm"


def _role(value: object) -> Role:
    if isinstance(value, Role):
        return value
    if isinstance(value, str) and value in Role.__members__:
        return Role[value]
    raise ValueError(f"a role is one of {', '.join(Role.__members__)}")


NamedRole = Annotated[Role, PlainValidator(_role), PlainSerializer(lambda role: role.name)]
"""A role, by its name in JSON and TOML."""


class ApiKey(BaseModel):
    """A key as the file has it: all but its secret, of which it has the SHA-256.

    `name` says whose it is; `grants` are patterns of sources and views, all of them if it is None.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    hash: str
    name: str = Field(min_length=1, max_length=100)
    role: NamedRole
    grants: tuple[str, ...] | None = None
    requests_per_second: float | None = Field(default=None, gt=0)
    body_bytes: int | None = Field(default=None, ge=1)
    created: datetime
    expires: datetime | None = None

    def accepts(self, secret: str) -> bool:
        """Whether this is the key's secret, and the key has not expired; takes the same time."""
        is_same = hmac.compare_digest(hashed(secret), self.hash)
        return is_same and not self.is_expired

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= datetime.now(UTC)

    @property
    def principal(self) -> Principal:
        """The principal that asks with this key."""
        name = f"key {self.name} ({self.id})"
        return Principal(name, self.role, self.grants, self.requests_per_second, self.body_bytes)


def create_secret() -> tuple[str, str]:
    """The id and the secret of a new key."""
    return secrets.token_hex(6), secrets.token_urlsafe(32)


def written(id: str, secret: str) -> str:
    """A key as its caller sends it."""
    return f"{MARK}_{id}_{secret}"


def parts(key: str) -> tuple[str, str] | None:
    """The id and the secret of a key; None if this is none.

    >>> parts("ivm_04aa_s_e_cret"), parts("eyJhbGciOi")
    (('04aa', 's_e_cret'), None)
    """
    mark, _, rest = key.partition("_")
    named, _, secret = rest.partition("_")
    return (named, secret) if mark == MARK and named and secret else None


def hashed(secret: str) -> str:
    """The digest of a secret, which is all that the file keeps of it."""
    return sha256(secret.encode()).hexdigest()
