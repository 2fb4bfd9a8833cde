"""The command line's view of a running service: requests that fail with the problem's own words."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from ivm.errors import IvmError


class ServiceProblem(IvmError):
    """The service refused a request, or does not answer."""

    code = "service-problem"


def path(*names: str) -> str:
    """The path of a resource: each name is one segment, with its characters escaped."""
    return "/v1/" + "/".join(quote(name, safe="") for name in names)


class ServiceClient:
    """A service's REST API at `url`."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=90)

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON at `path` (raises ServiceProblem)."""
        return self._request("GET", path, parameters=parameters).json()

    def text(self, path: str) -> str:
        """The text at `path` (raises ServiceProblem)."""
        return self._request("GET", path).text

    def put(self, path: str, body: Any) -> Any:
        """Put `body` at `path` and return the answer (raises ServiceProblem)."""
        return self._request("PUT", path, body).json()

    def post(self, path: str, body: Any) -> Any:
        """Post `body` to `path` and return the answer (raises ServiceProblem)."""
        return self._request("POST", path, body).json()

    def posted(self, path: str, body: Any, accept: str) -> bytes:
        """Post `body` to `path` and return the answer as `accept` (raises ServiceProblem)."""
        return self._request("POST", path, body, headers={"accept": accept}).content

    def events(self, path: str, **parameters: Any) -> Iterator[tuple[str, Any]]:
        """Follow the server-sent events of `path`: their names and data (raises ServiceProblem)."""
        with self._reaching() as client:
            follow = httpx.Timeout(90, read=None)
            with client.stream("GET", path, params=parameters, timeout=follow) as response:
                if response.is_error:
                    response.read()
                    raise ServiceProblem(_words(response))
                yield from _events(response.iter_lines())

    def delete(self, path: str) -> None:
        """Delete the resource at `path` (raises ServiceProblem)."""
        self._request("DELETE", path)

    def close(self) -> None:
        """Release the connection."""
        self._client.close()

    @contextmanager
    def _reaching(self) -> Iterator[httpx.Client]:
        """The client; what it does not reach is a ServiceProblem."""
        try:
            yield self._client
        except httpx.TransportError as error:
            raise ServiceProblem(
                f"no service answers at {self._client.base_url}: {error}; "
                "`ivm serve` (in a checkout also `make serve`) starts one"
            ) from error

    def _request(
        self,
        method: str,
        path: str,
        body: Any = None,
        parameters: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        with self._reaching() as client:
            response = client.request(method, path, json=body, params=parameters, headers=headers)
        if response.is_error:
            raise ServiceProblem(_words(response))
        return response


def _events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The events that lines spell, after the HTML standard; comments keep a connection alive."""
    event, data = "message", list[str]()
    for line in lines:
        if line.startswith("event:"):
            event = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line:
            if data:
                yield event, orjson.loads("\n".join(data))
            event, data = "message", []


def _words(response: httpx.Response) -> str:
    """The detail of a problem document, with the place of a fault in SQL."""
    try:
        document = response.json()
    except ValueError:
        return f"{response.status_code}: {response.text}"
    place = f" (line {document['line']}, column {document['column']})" if "line" in document else ""
    return f"{document.get('code', response.status_code)}: {document.get('detail', '')}{place}"
