"""Guard: middleware that finds out who asks, refuses the rest, and keeps the audit log.

What a principal may do is decided by the rule of the operation (`api.security.rules`).
"""

import base64
from urllib.parse import urlsplit

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import HostRefused, TooManyRequests, Unauthorized
from api.problems import of_error
from api.security.access import answers_for
from api.security.keyring import Keyring
from api.security.oidc import Issuer
from api.security.principal import ANYONE, Principal, Role
from api.security.rates import Rates
from api.security.rules import CONSOLE, OPEN
from ivm.errors import IvmError

SAFE = ("GET", "HEAD", "OPTIONS")
# Posts that change nothing: the audit log is of changes.
QUESTIONS = ("/v1/query", "/v1/explain")
# Requests a second that one address may send without a good key.
STRANGERS = 10.0

audit = structlog.get_logger("audit")


class Guard:
    """ASGI middleware; what it lets through has `state.principal`, None on an open path."""

    def __init__(
        self,
        app: ASGIApp,
        keyring: Keyring | None,
        issuer: Issuer | None,
        hosts: frozenset[str] = frozenset(),
    ) -> None:
        """Without a keyring everybody may do all. `hosts` are those that requests may name."""
        self._app = app
        self._keyring = keyring
        self._issuer = issuer
        self._hosts = hosts
        self._rates = Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        principal: Principal | None = None
        try:
            self._check_host(headers, changes=changes)
            principal = await self._admitted(scope, headers)
            if principal is not None and scope["path"].startswith(CONSOLE):
                principal.demand(Role.admin)
        except IvmError as error:
            if changes:
                _audit(scope, "nobody", error.code)
            await _refuse(error, scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        if not changes or scope["path"] in QUESTIONS:
            await self._app(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                outcome = message.get("status", "opened")
                _audit(scope, principal.name if principal else "nobody", outcome)
            await send(message)

        await self._app(scope, receive, noted)

    def _check_host(self, headers: Headers, *, changes: bool) -> None:
        host = headers.get("host", "")
        if not answers_for(host, self._hosts, is_open=self._keyring is None):
            raise HostRefused(
                f"this service does not answer for the host {host!r}; the setting allowed_hosts "
                "lists those that it does"
            )
        # A browser sends the keys that it knows with what any page asks, and tells the page.
        origin = headers.get("origin")
        if changes and origin is not None and not self._is_own(origin, host):
            raise HostRefused(f"pages of {origin!r} may change nothing here")

    def _is_own(self, origin: str, host: str) -> bool:
        page = urlsplit(origin)
        return page.netloc == host or page.hostname in self._hosts

    async def _admitted(self, scope: Scope, headers: Headers) -> Principal | None:
        """The principal that asks (raises Unauthorized, TooManyRequests)."""
        if self._keyring is None:
            return ANYONE
        principal = await self._principal(headers.get("authorization", ""))
        if principal is None:
            if scope["path"] in OPEN:
                return None
            client = scope["client"][0] if scope.get("client") else "somebody"
            if not self._rates.take(f"client {client}", STRANGERS):
                raise TooManyRequests("too many requests without a good key; wait a moment")
            raise Unauthorized(
                "send a key that is good, as `Authorization: Bearer ivm_…`; `ivm key create` makes "
                "one"
            )
        per_second = principal.requests_per_second
        if per_second is not None and not self._rates.take(principal.name, per_second):
            raise TooManyRequests(f"{principal.name} may ask {per_second:g} times a second")
        return principal

    async def _principal(self, header: str) -> Principal | None:
        assert self._keyring is not None
        secret = _credential(header)
        if (key := self._keyring.find(secret)) is not None:
            return key.principal
        if self._issuer is None or secret.count(".") != 2:  # noqa: PLR2004: a JWT has three parts
            return None
        found = self._issuer.remembered(secret)
        return found or await run_in_threadpool(self._issuer.verify, secret)


def _credential(header: str) -> str:
    """The key or token of an Authorization header: a bearer's, or the password of basic's.

    >>> _credential("Bearer ivm_1_s"), _credential("Basic dXNlcjppdm1fMV9z")
    ('ivm_1_s', 'ivm_1_s')
    """
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except ValueError:
            return ""
    return ""


async def _refuse(error: IvmError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        return
    response = of_error(error)
    if isinstance(error, Unauthorized):
        for scheme in ("Bearer", "Basic"):
            response.headers.append("www-authenticate", f'{scheme} realm="ivm"')
    await response(scope, receive, send)


def _audit(scope: Scope, by: str, outcome: int | str) -> None:
    client = scope["client"][0] if scope.get("client") else None
    method = scope.get("method", "WEBSOCKET")
    audit.info("audit", by=by, method=method, path=scope["path"], outcome=outcome, client=client)
