"""The command line's view of a running service: requests that fail with the problem's own words."""

from typing import Any

import httpx

from ivm.errors import IvmError


class ServiceProblem(IvmError):
    """The service refused a request, or does not answer."""

    code = "service-problem"


class ServiceClient:
    """A service's REST API at `url`."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=90)

    def get(self, path: str) -> Any:
        """The JSON at `path` (raises ServiceProblem)."""
        return self._request("GET", path)

    def put(self, path: str, body: Any) -> Any:
        """Put `body` at `path` and return the answer (raises ServiceProblem)."""
        return self._request("PUT", path, body)

    def post(self, path: str, body: Any) -> Any:
        """Post `body` to `path` and return the answer (raises ServiceProblem)."""
        return self._request("POST", path, body)

    def delete(self, path: str) -> None:
        """Delete what is at `path` (raises ServiceProblem)."""
        self._request("DELETE", path)

    def close(self) -> None:
        """Release the connection."""
        self._client.close()

    def _request(self, method: str, path: str, body: Any = None) -> Any:
        try:
            response = self._client.request(method, path, json=body)
        except httpx.TransportError as error:
            raise ServiceProblem(
                f"no service answers at {self._client.base_url}: {error}. Start one with `ivm serve`"
            ) from error
        if response.is_error:
            raise ServiceProblem(_words(response))
        return response.json() if response.content else None


def _words(response: httpx.Response) -> str:
    """The detail of a problem document, with the place of a fault in SQL."""
    try:
        document = response.json()
    except ValueError:
        return f"{response.status_code}: {response.text}"
    place = f" (line {document['line']}, column {document['column']})" if "line" in document else ""
    return f"{document.get('code', response.status_code)}: {document.get('detail', '')}{place}"
