"""A small schema registry that fails on command.

It speaks those paths of Confluent's API that a producer or consumer uses, and answers as
`tests.kafka.apicurio` does, which is a real one: the same tests hold both. It checks that a schema
is JSON, and not whether it is compatible: `fail` makes it refuse.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_TYPE = "application/vnd.schemaregistry.v1+json"

Answer = tuple[int, Any]


class Registry:
    """A registry on a free port of the loopback, in a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._schemas: list[str] = []
        self._subjects: dict[str, list[int]] = {}
        self._failure: Answer | None = None
        self._awake = threading.Event()
        self._awake.set()
        self.requests = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Self]:
        """A registry that answers until the end."""
        registry = cls()
        threading.Thread(target=registry._server.serve_forever, daemon=True).start()
        try:
            yield registry
        finally:
            registry.heal()
            registry._server.shutdown()
            registry._server.server_close()

    def fail(self, status: int = 503, code: int = 50001, message: str = "out of order") -> None:
        """Answer everything with this error from now on."""
        self._failure = status, {"error_code": code, "message": message}

    def hang(self) -> None:
        """Take requests and answer none from now on."""
        self._awake.clear()

    def heal(self) -> None:
        """Answer again, also the requests that hang."""
        self._failure = None
        self._awake.set()

    def register(self, subject: str, schema: Any) -> int:
        """Add a schema without a request; its id."""
        return self.register_text(subject, json.dumps(schema))

    def register_text(self, subject: str, schema: str) -> int:
        """Add a schema of any kind, as its text is, without a request; its id."""
        with self._lock:
            return self._register(subject, schema)

    def answer(self, method: str, path: str, body: bytes) -> Answer:
        """The status and the document for a request."""
        self.requests += 1
        self._awake.wait()
        if self._failure is not None:
            return self._failure
        with self._lock:
            match method, path.strip("/").split("/"):
                case "GET", ["schemas", "ids", number]:
                    return self._schema(int(number))
                case "GET", ["subjects"]:
                    return HTTPStatus.OK, sorted(self._subjects)
                case "GET", ["subjects", subject, "versions"]:
                    return self._versions(subject)
                case "GET", ["subjects", subject, "versions", version]:
                    return self._version(subject, version)
                case "POST", ["subjects", subject, "versions"]:
                    return self._post(subject, body)
        return HTTPStatus.NOT_FOUND, {"error_code": 404, "message": f"nothing at {path}"}

    def _post(self, subject: str, body: bytes) -> Answer:
        try:
            schema = json.loads(body)["schema"]
            json.loads(schema)
        except (ValueError, KeyError, TypeError) as error:
            message = f"invalid schema: {error}"
            return HTTPStatus.UNPROCESSABLE_ENTITY, {"error_code": 42201, "message": message}
        return HTTPStatus.OK, {"id": self._register(subject, schema)}

    def _register(self, subject: str, schema: str) -> int:
        """The id of a schema; the same for the same text, whatever its subject."""
        if schema not in self._schemas:
            self._schemas.append(schema)
        number = self._schemas.index(schema) + 1
        versions = self._subjects.setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        return number

    def _schema(self, number: int) -> Answer:
        if 1 <= number <= len(self._schemas):
            return HTTPStatus.OK, {"schema": self._schemas[number - 1]}
        return HTTPStatus.NOT_FOUND, {"error_code": 40403, "message": f"no schema {number}"}

    def _versions(self, subject: str) -> Answer:
        if subject not in self._subjects:
            return HTTPStatus.NOT_FOUND, {"error_code": 40401, "message": f"no {subject!r}"}
        return HTTPStatus.OK, list(range(1, 1 + len(self._subjects[subject])))

    def _version(self, subject: str, version: str) -> Answer:
        status, versions = self._versions(subject)
        if status != HTTPStatus.OK:
            return status, versions
        number = versions[-1] if version == "latest" else int(version)
        if number not in versions:
            return HTTPStatus.NOT_FOUND, {"error_code": 40402, "message": f"no version {version}"}
        identifier = self._subjects[subject][number - 1]
        schema = self._schemas[identifier - 1]
        return HTTPStatus.OK, {
            "subject": subject,
            "version": number,
            "id": identifier,
            "schema": schema,
        }


def _handler(registry: Registry) -> type[BaseHTTPRequestHandler]:
    """What gives the requests of a connection to `registry`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

        def _answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, document = registry.answer(method, self.path, body)
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", _TYPE)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
