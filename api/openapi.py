"""The description of the service in OpenAPI's terms, at `/openapi.json` and `/docs`.

Each answer has a schema and an example. Every operation may also answer a problem document.
"""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.answers.health import Problem

# Answers that a router's operations may give besides their own.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {"model": Problem, "description": "The problem that kept it from its answer."}
}


def install(app: FastAPI) -> None:
    """Describe `app` once it is asked; its routers are included with `PROBLEMS`."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
            for operations in schema["paths"].values():
                for operation in operations.values():
                    _name_media_type(operation["responses"]["default"]["content"])
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def _name_media_type(content: dict[str, Any]) -> None:
    """FastAPI describes all answers of an operation by one media type; problems have their own."""
    [described] = content.values()
    content.clear()
    content["application/problem+json"] = described
