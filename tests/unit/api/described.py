"""Holds answers against what OpenAPI says of their operations."""

import re
from typing import Any

import httpx
from pydantic import BaseModel

from api import answers


def model_of(content: dict[str, Any]) -> type[BaseModel]:
    """The model that a media type's schema refers to."""
    found: type[BaseModel] = getattr(answers, content["schema"]["$ref"].rpartition("/")[2])
    return found


class Described:
    """A hook of a client: each answer of the service has a form that OpenAPI describes."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._paths = [
            (re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), operations)
            for path, operations in document["paths"].items()
        ]

    def __call__(self, response: httpx.Response) -> None:
        media_type = response.headers.get("content-type", "").partition(";")[0]
        operation = self._operation(response.request)
        is_json = media_type.endswith(("/json", "+json")) and response.status_code != 204
        if operation is None or not is_json:
            return
        known = operation["responses"]
        described = known.get(str(response.status_code), known["default"])["content"][media_type]
        model_of(described).model_validate_json(response.read())

    def _operation(self, request: httpx.Request) -> dict[str, Any] | None:
        path = request.url.raw_path.decode().partition("?")[0]
        for pattern, operations in self._paths:
            found: dict[str, Any] | None = operations.get(request.method.lower())
            if pattern.fullmatch(path) and found is not None:
                return found
        return None
