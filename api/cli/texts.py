"""Texts of commands: arguments that are written there or in a file, and states as people read them.

An argument names a file by `@`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from api.terminal import naming
from views.catalog import Language

Query = Annotated[str, typer.Argument(help="The query, or @FILE to read it from a file.")]
Written = Annotated[Language, typer.Option(help="The language of the query.")]
Key = Annotated[list[str] | None, typer.Option(help="A column to look the view up by; repeatable.")]


def text_of(argument: str) -> str:
    """The text of an argument, or of the file that it names (raises OSError, ValueError)."""
    if not argument.startswith("@"):
        return argument
    file = Path(argument[1:])
    with naming(file):
        return file.read_text()


def json_of(argument: str) -> Any:
    """The JSON of an argument, or of the file that it names (raises OSError, ValueError)."""
    text = text_of(argument)
    with naming(Path(argument.removeprefix("@"))):
        return orjson.loads(text)


def lag_of(source: Mapping[str, Any]) -> int:
    """The records that are still to come of a source, of all its topics.

    >>> lag_of({"lag": {}, "topics": {"t": {"lag": {"0": 2, "1": 1}}, "u": {"lag": {"0": 4}}}})
    7
    """
    parts = [source, *(source.get("topics") or {}).values()]
    return sum(count for part in parts for count in part["lag"].values())


def state_of(answer: Mapping[str, Any]) -> str:
    """The status of a view or source, with the percentage of one that fills.

    >>> state_of({"status": "hydrating", "hydrated": {"done": 3, "of": 7, "percent": 42}})
    'hydrating 42%'
    >>> state_of({"status": "running"})
    'running'
    """
    status: str = answer["status"]
    hydrated = answer.get("hydrated")
    return status if hydrated is None else f"{status} {hydrated['percent']}%"
