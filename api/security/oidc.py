"""OpenID Connect: verifies the bearer tokens of one issuer (OpenID Connect Core 1.0, RFC 7519).

The issuer's keys are fetched from where its discovery document says, with bounds on time and size,
without following redirects, and kept; a token with a key that is not known fetches them again, at
most every half a minute.
"""

import json
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import httpx
import jwt
import structlog
from pydantic import BaseModel, ConfigDict, Field

from api.security.keys import NamedRole
from api.security.principal import Principal, Role

# Signatures that the issuer alone can make: no secret is shared with it.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
# The issuer's clock may be off by so many seconds.
LEEWAY = 30.0
# Keys are kept so many seconds, and unknown ones looked for again after so many.
KEPT, PAUSE = 3600.0, 30.0
TIMEOUT = 5.0
MOST_BYTES = 1 << 20
# So many verified tokens are remembered.
MOST_TOKENS = 10_000

log = structlog.get_logger()


class Oidc(BaseModel):
    """The issuer whose tokens are taken, and what its claims mean."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    issuer: Annotated[
        str, Field(pattern=r"^https://|^http://(localhost|127\.0\.0\.1|\[::1\])([:/]|$)")
    ]
    """Its URL, over HTTPS unless it is on this machine."""
    audience: Annotated[str, Field(min_length=1)]
    """The audience that tokens must be for."""
    name_claim: str = "sub"
    """The claim that names who asks, for the log."""
    role_claim: str = "role"
    """The claim that holds a value, or a list of values, of `roles`; the highest counts."""
    roles: dict[str, NamedRole] = {role.name: role for role in Role}
    """The role that each value of the claim stands for."""
    grants_claim: str | None = None
    """The claim that lists patterns of sources and views; a token without it has a grant on none.
    Unless set, tokens are for all."""
    ca: Path | None = None
    """A file of PEM certificates that sign the issuer's own."""


class Issuer:
    """Verifies the tokens of an issuer; safe to use from several threads."""

    def __init__(self, settings: Oidc) -> None:
        """Nothing is fetched yet."""
        self._settings = settings
        self._lock = threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = self._tried = -KEPT
        self._verified: dict[bytes, tuple[Principal, float]] = {}

    def remembered(self, token: str) -> Principal | None:
        """The principal of a token that was verified before and has not expired; does not block."""
        found = self._verified.get(_digest(token))
        return found[0] if found is not None and time.time() < found[1] else None

    def verify(self, token: str) -> Principal | None:
        """The principal of a token; None if it is not good. It may wait for the issuer."""
        try:
            key = self._key(jwt.get_unverified_header(token).get("kid", ""))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            log.info("a token was refused", reason=type(error).__name__)
            return None
        principal = self._principal(claims)
        if principal is not None:
            if len(self._verified) >= MOST_TOKENS:
                self._verified.clear()
            self._verified[_digest(token)] = principal, float(claims["exp"])
        return principal

    def _principal(self, claims: dict[str, Any]) -> Principal | None:
        settings = self._settings
        said = claims.get(settings.role_claim)
        values = said if isinstance(said, list) else [said]
        roles = [settings.roles[v] for v in values if isinstance(v, str) and v in settings.roles]
        if not roles:
            log.info("a token was refused", reason=f"no role in its claim {settings.role_claim!r}")
            return None
        grants = None
        if settings.grants_claim is not None:
            listed = claims.get(settings.grants_claim)
            grants = tuple(map(str, listed)) if isinstance(listed, list) else ()
        role = max(roles)
        if role is Role.admin and grants is not None:
            role = Role.write  # who declares views could read all that there is
        return Principal(f"token {claims.get(settings.name_claim)}", role, grants)

    def _key(self, id: str) -> jwt.PyJWK | None:
        with self._lock:
            now = time.monotonic()
            is_due = id not in self._keys or now > self._fetched + KEPT
            if is_due and now > self._tried + PAUSE:
                self._tried = now
                self._fetch(now)
            return self._keys.get(id)

    def _fetch(self, now: float) -> None:
        """Fetch the issuer's keys; those that are known stay where that fails."""
        issuer = self._settings.issuer.rstrip("/")
        verify = str(self._settings.ca) if self._settings.ca is not None else True
        try:
            with httpx.Client(timeout=TIMEOUT, follow_redirects=False, verify=verify) as client:
                described = _document(client, f"{issuer}/.well-known/openid-configuration")
                if described.get("issuer") != self._settings.issuer:
                    raise ValueError(f"it calls itself {described.get('issuer')!r}")
                found = jwt.PyJWKSet.from_dict(_document(client, str(described["jwks_uri"])))
            self._keys = {key.key_id: key for key in found.keys if key.key_id}
            self._fetched = now
        except (httpx.HTTPError, httpx.InvalidURL, jwt.PyJWTError, ValueError, KeyError) as error:
            log.error("the keys of the issuer cannot be had", issuer=issuer, error=str(error))


def _document(client: httpx.Client, url: str) -> dict[str, Any]:
    """The JSON object at a URL, which is no larger than `MOST_BYTES`."""
    content = bytearray()
    with client.stream("GET", url) as response:
        if response.status_code != httpx.codes.OK:
            raise ValueError(f"{url} answers {response.status_code}")
        for part in response.iter_bytes():
            content += part
            if len(content) > MOST_BYTES:
                raise ValueError(f"{url} answers more than {MOST_BYTES} bytes")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise ValueError(f"{url} answers no object")
    return document


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()
