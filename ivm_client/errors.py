"""Errors of a client."""

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """A request that came to nothing."""


class Unreachable(ClientError):
    """No service answers."""


class FeedEnded(ClientError):
    """A feed has ended: the view was dropped, failed, or has other columns now."""


class Problem(ClientError):
    """A service's refusal of a request; `code` is stable, `document` the whole of it (RFC 9457)."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.document = document
        self.code = str(document.get("code", status))
        place = ""
        if "line" in document:
            place = f" (line {document['line']}, column {document['column']})"
        super().__init__(f"{self.code}: {document.get('detail', '')}{place}")
