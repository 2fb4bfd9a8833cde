"""`ivm source`: sources of a running service."""

from typing import Any

import typer

from api.cli.declaring import create, infer
from api.cli.texts import state_of
from api.cli.writing import write
from api.terminal import AsJson, connected, print_answer, print_json, print_table
from ivm_client.service import path

app = typer.Typer(no_args_is_help=True, help="Sources of a running service.")
app.command()(create)
app.command()(infer)
app.command()(write)


@app.command("list")
def list_sources(json: AsJson = False) -> None:
    """All sources."""
    with connected() as service:
        answer = service.get("/v1/sources")
    if json:
        print_json(answer)
    else:
        print_table(
            list(map(_row, answer["sources"])), ("name", "status", "topic", "key", "offsets")
        )


def _row(source: dict[str, Any]) -> dict[str, Any]:
    """A source as a row; of a pattern, with the offsets of each topic."""
    told = {"status": state_of(source)}
    if source.get("topic_pattern") is None:
        return source | told
    offsets = {topic: read["offsets"] for topic, read in source["topics"].items()}
    return source | told | {"topic": source["topic_pattern"], "offsets": offsets}


@app.command("show")
def show_source(name: str, json: AsJson = False) -> None:
    """One source."""
    with connected() as service:
        print_answer(service.get(path("sources", name)), as_json=json)


@app.command("drop")
def drop_source(name: str) -> None:
    """Forget a source; its topic stays."""
    with connected() as service:
        service.delete(path("sources", name))
