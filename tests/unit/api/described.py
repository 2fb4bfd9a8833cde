"""Holds answers against what OpenAPI says of their operations."""

import re
from collections.abc import Iterator
from typing import Any, Union

import httpx
from pydantic import BaseModel, TypeAdapter

from api.answers.base import Answer


def models_of(content: dict[str, Any]) -> list[type[BaseModel]]:
    """The models that a media type's schema refers to: one, or a choice."""
    schema = content["schema"]
    return [_model(one["$ref"].rpartition("/")[2]) for one in schema.get("anyOf", [schema])]


def _model(name: str) -> type[BaseModel]:
    return next(model for model in _kinds(Answer) if model.__name__ == name)


def _kinds(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for kind in model.__subclasses__():
        yield kind
        yield from _kinds(kind)


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
        choice: Any = Union[tuple(models_of(described))]  # noqa: UP007
        TypeAdapter(choice).validate_json(response.read())

    def _operation(self, request: httpx.Request) -> dict[str, Any] | None:
        path = request.url.raw_path.decode().partition("?")[0]
        for pattern, operations in self._paths:
            found: dict[str, Any] | None = operations.get(request.method.lower())
            if pattern.fullmatch(path) and found is not None:
                return found
        return None
