"""Requests to a service over HTTP, and its answers; what it refuses is a `Problem`."""

import json
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any
from urllib.parse import quote

import httpx

from ivm_client.errors import Problem, Unreachable

JSON = "application/json"
TIMEOUT = 90.0


def path(*names: str) -> str:
    """The path of a resource: each name is one segment, with its characters escaped.

    >>> path("views", "revenue#old")
    '/v1/views/revenue%23old'
    """
    return "/v1/" + "/".join(quote(name, safe="") for name in names)


class ServiceClient:
    """A service's REST API at `url`; safe to use from several threads."""

    def __init__(
        self,
        url: str,
        timeout: float = TIMEOUT,
        key: str | None = None,
        ca: str | PathLike[str] | None = None,
    ) -> None:
        """Nothing is sent yet; a request takes `timeout` seconds at most.

        `key` is sent with each; that of the variable IVM_API_KEY unless given. `ca` is a file of
        PEM certificates that are trusted beside those that the system trusts.
        """
        self._timeout = timeout
        key = os.environ.get("IVM_API_KEY") if key is None else key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        trusted = httpx.create_ssl_context()  # which takes long, and is made once
        if ca is not None:
            trusted = ssl.create_default_context()
            trusted.load_verify_locations(ca)
        self._open = partial(
            httpx.Client, base_url=url, timeout=timeout, headers=headers, verify=trusted
        )
        self._http = self._open()

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON at `path`."""
        return self.request("GET", path, parameters=parameters).json()

    def text(self, path: str) -> str:
        """The text at `path`."""
        return self.request("GET", path).text

    def put(self, path: str, body: Any) -> Any:
        """Put a JSON body at `path`, and return the answer."""
        return self.request("PUT", path, body).json()

    def post(self, path: str, body: Any) -> Any:
        """Post a JSON body to `path`, and return the answer."""
        return self.request("POST", path, body).json()

    def send(self, path: str) -> None:
        """Post to `path`, which answers nothing."""
        self.request("POST", path)

    def delete(self, path: str) -> None:
        """Delete the resource at `path`."""
        self.request("DELETE", path)

    def write(self, path: str, rows: bytes, media: str, key: str, changes: bool = False) -> Any:
        """Post rows in a media type under a key, and once more if no answer comes."""
        headers = {"content-type": media, "idempotency-key": key}
        given: dict[str, Any] = {"content": rows, "headers": headers}
        given["parameters"] = {"changes": str(changes).lower()}
        try:
            return self.request("POST", path, **given).json()
        except Unreachable:
            return self.request("POST", path, **given).json()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        parameters: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """The answer to a request (raises Problem, Unreachable)."""
        with self._reaching():
            response = self._http.request(
                method, path, json=body, content=content, params=parameters, headers=headers
            )
        if response.is_error:
            raise _problem(response)
        return response

    @contextmanager
    def stream(
        self, path: str, parameters: Mapping[str, Any], accept: str
    ) -> Iterator[httpx.Response]:
        """An answer that comes for as long as it is read (raises Problem, Unreachable).

        It has connections of its own: one that is forgotten may be closed by the garbage collector
        amid another request, which holds the lock of those that requests share.
        """
        waits = httpx.Timeout(self._timeout, read=None)
        headers = {"accept": accept}
        with (
            self._reaching(),
            self._open(event_hooks=self._http.event_hooks) as http,
            http.stream("GET", path, params=parameters, headers=headers, timeout=waits) as response,
        ):
            if response.is_error:
                response.read()
                raise _problem(response)
            yield response

    def events(self, path: str, **parameters: Any) -> Iterator[tuple[str, Any]]:
        """Follow the server-sent events at `path`, after the HTML standard: names and data."""
        with self.stream(path, parameters, "text/event-stream") as response:
            event, data = "message", list[str]()
            for line in response.iter_lines():
                if line.startswith("event:"):
                    event = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    data.append(line.removeprefix("data:").removeprefix(" "))
                elif not line:
                    if data:
                        yield event, json.loads("\n".join(data))
                    event, data = "message", []

    def close(self) -> None:
        """Release the connections."""
        self._http.close()

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError as error:
            raise Unreachable(
                f"no service answers at {self._http.base_url}: {error}; "
                "`ivm serve` (in a checkout also `make serve`) starts one"
            ) from error


def _problem(response: httpx.Response) -> Problem:
    try:
        return Problem(response.status_code, response.json())
    except ValueError:
        return Problem(response.status_code, {"detail": response.text})
