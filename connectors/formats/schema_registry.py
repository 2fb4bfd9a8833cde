"""A schema registry over HTTP: the schemas of writers by id, cached for the process's life.

It speaks Confluent's API, and Apicurio's own where the address is below `/apis/registry/`. Only
addresses of the operator's configuration are fetched, redirects are not followed, and answers are
bounded in time and size. That a schema does not exist is an answer; anything else that is not one
raises RegistryUnavailable with the setting to look at, and the records wait.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote

import httpx
import orjson

from connectors.errors import RegistryUnavailable
from connectors.formats.schemas import SchemaId, SchemaText

_SECONDS = 5.0
_BYTES = 4 << 20
_PAUSES = (0.1, 0.5)
# How long a schema that does not exist is believed not to.
_ABSENT_SECONDS = 30.0
# More than that refer to one another in circles.
_REFERENCES = 256
_TYPE = "application/vnd.schemaregistry.v1+json"


@dataclass(frozen=True, slots=True)
class RegistryConfig:
    """The address of a connection's registry; a plain value that travels to executors."""

    connection: str
    url: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)


class Connected(Protocol):
    """Has a schema registry beside it, or none."""

    @property
    def name(self) -> str:
        """The connection's name."""

    def registry(self) -> dict[str, str]:
        """`url`, `username` and `password` of the registry, as far as they are set."""


def config_of(connection: Connected) -> RegistryConfig | None:
    """The address of the registry of `connection`, if it has one."""
    options = connection.registry()
    return RegistryConfig(connection.name, **options) if options else None


@lru_cache(maxsize=64)
def registry(config: RegistryConfig) -> "Registry":
    """The process's client of this registry."""
    return Registry(config)


class Registry:
    """A client; safe to call from several threads."""

    def __init__(self, config: RegistryConfig) -> None:
        self._config = config
        auth = None
        if config.username is not None:
            auth = httpx.BasicAuth(config.username, config.password or "")
        self._client = httpx.Client(
            auth=auth,
            timeout=_SECONDS,
            follow_redirects=False,
            trust_env=False,
            headers={"Accept": f"{_TYPE}, application/json"},
        )
        self._found: dict[SchemaId, tuple[SchemaText, ...]] = {}
        self._absent: dict[SchemaId, float] = {}

    def texts(self, name: SchemaId) -> tuple[SchemaText, ...] | None:
        """The schema so named after those that it refers to; None if there is none.

        Raises RegistryUnavailable.
        """
        if name in self._found:
            return self._found[name]
        if self._absent.get(name, 0.0) > time.monotonic():
            return None
        path = self._path(name)
        answer = self._ask("GET", path) if path is not None else None
        if answer is None:
            if len(self._absent) > 10_000:
                self._absent.clear()
            self._absent[name] = time.monotonic() + _ABSENT_SECONDS
            return None
        if self._is_native:
            found: tuple[SchemaText, ...] = (SchemaText(answer.decode(errors="replace")),)
        else:
            found = self._with_references(self._document(answer))
        self._found[name] = found
        return found

    def register(self, subject: str, schema: str) -> int:
        """The id of `schema` under `subject`, where it is added unless it is there.

        Raises RegistryUnavailable, also for a schema that is refused as incompatible.
        """
        path = f"/subjects/{quote(subject, safe='')}/versions"
        answer = self._ask("POST", path, orjson.dumps({"schema": schema}))
        number = self._document(answer).get("id") if answer is not None else None
        if type(number) is not int:
            raise self._error(f"no id came for a schema of subject {subject!r}")
        return number

    def latest(self, subject: str) -> tuple[int, str] | None:
        """The id and text of the newest schema of `subject`, if it has any.

        Raises RegistryUnavailable.
        """
        answer = self._ask("GET", f"/subjects/{quote(subject, safe='')}/versions/latest")
        if answer is None:
            return None
        document = self._document(answer)
        number, text = document.get("id"), document.get("schema")
        if type(number) is not int or type(text) is not str:
            raise self._error(f"no schema came for subject {subject!r}")
        return number, text

    def subject(self, subject: str) -> tuple[SchemaText, ...] | None:
        """The newest schema of `subject` after those that it refers to, if it has any.

        None also at Apicurio's own API, which has no subjects. Raises RegistryUnavailable.
        """
        found = None if self._is_native else self.latest(subject)
        return None if found is None else self.texts(SchemaId("id", str(found[0])))

    def answers(self) -> bool:
        """Whether it is there: that a subject does not exist is an answer."""
        try:
            status, body = self._send("GET", "/subjects/ivm/versions/latest", None)
        except (httpx.HTTPError, RegistryUnavailable):
            return False
        return status == 200 or (status == 404 and b"error_code" in body)

    @property
    def _is_native(self) -> bool:
        return "/apis/registry/" in self._config.url

    def _path(self, name: SchemaId) -> str | None:
        """The path of a schema; None where this registry has no such ids."""
        if not self._is_native:
            return f"/schemas/{'guids' if name.kind == 'guid' else 'ids'}/{name.value}"
        if name.kind == "guid":
            return None
        # What its serializers write without saying so was the global id before version 3.
        by_content = name.kind == "content" or (
            name.kind in ("id", "long") and "/apis/registry/v2" not in self._config.url
        )
        return f"/ids/{'contentIds' if by_content else 'globalIds'}/{name.value}"

    def _with_references(self, document: dict[str, Any]) -> tuple[SchemaText, ...]:
        texts: list[SchemaText] = []
        self._collect("", document, texts, set())
        return tuple(texts)

    def _collect(
        self,
        name: str,
        document: dict[str, Any],
        texts: list[SchemaText],
        seen: set[tuple[str, int]],
    ) -> None:
        """Append the references of `document`, and then its own schema, so named, to `texts`."""
        references = document.get("references")
        for reference in references if isinstance(references, Iterable) else ():
            other = (str(reference.get("subject")), int(reference.get("version", 0)))
            if other in seen:
                continue
            seen.add(other)
            path = f"/subjects/{quote(other[0], safe='')}/versions/{other[1]}"
            answer = self._ask("GET", path) if len(seen) < _REFERENCES else None
            if answer is None:
                raise self._error(f"schema {other[0]!r} version {other[1]}, referred to, is absent")
            self._collect(str(reference.get("name", "")), self._document(answer), texts, seen)
        if type(document.get("schema")) is not str:
            raise self._error("an answer holds no schema")
        texts.append(SchemaText(document["schema"], name))

    def _ask(self, method: str, path: str, content: bytes | None = None) -> bytes | None:
        """The answer's body, or None if there is nothing at `path`."""
        for pause in (*_PAUSES, None):
            try:
                status, body = self._send(method, path, content)
            except httpx.HTTPError as error:
                fault = str(error) or type(error).__name__
            else:
                if status == 200:
                    return body
                if status == 404 and b"error_code" in body:
                    return None
                fault = self._refusal(status, body)
                if status < 500:
                    break
            if pause is not None:
                time.sleep(pause)
        raise self._error(fault)

    def _send(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        url = self._config.url.rstrip("/") + path
        headers = {"Content-Type": _TYPE} if content is not None else {}
        with self._client.stream(method, url, content=content, headers=headers) as answer:
            body = b""
            for block in answer.iter_bytes():
                body += block
                if len(body) > _BYTES:
                    raise self._error(f"an answer exceeds {_BYTES} bytes")
            return answer.status_code, body

    def _refusal(self, status: int, body: bytes) -> str:
        if status in (401, 403):
            return f"it answers {status}; see schema_registry_username and schema_registry_password"
        if 300 <= status < 400:
            return f"it answers {status}, a redirect, which is not followed"
        return f"it answers {status}: {body[:200].decode(errors='replace')}"

    def _document(self, body: bytes) -> dict[str, Any]:
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise self._error("an answer is not JSON") from error
        if not isinstance(document, dict):
            raise self._error("an answer is not a JSON object")
        return document

    def _error(self, what: str) -> RegistryUnavailable:
        address = httpx.URL(self._config.url).copy_with(userinfo=b"")
        return RegistryUnavailable(
            f"connection {self._config.connection!r}, schema_registry_url {address}: {what}"
        )
