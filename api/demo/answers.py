"""All rows that the service answers of a view, page by page."""

from collections.abc import Iterator
from typing import Any

from ivm_client.service import ServiceClient

PAGE = 10_000


def answers(client: ServiceClient, view: str) -> Iterator[dict[str, Any]]:
    """The rows of `view`, column by column."""
    parameters: dict[str, Any] = {"scan": "true", "limit": PAGE}
    while True:
        body = client.get(f"/v1/views/{view}/rows", **parameters)
        yield from body["rows"]
        if "next" not in body:
            return
        parameters["cursor"] = body["next"]
