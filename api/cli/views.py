"""`ivm view`: views of a running service."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from api.cli.apply import apply
from api.cli.applying import hydrated
from api.cli.filling import put_view
from api.cli.operators import operators
from api.cli.rows import rows, tail
from api.cli.texts import Key, Query, Written, json_of, state_of, text_of
from api.terminal import (
    AsJson,
    connected,
    out,
    print_answer,
    print_json,
    print_line,
    print_table,
)
from ivm_client.service import path

app = typer.Typer(no_args_is_help=True, help="Views of a running service.")
app.command()(rows)
app.command()(tail)
app.command()(operators)


@app.command("list")
def list_views(json: AsJson = False) -> None:
    """All views."""
    with connected() as service:
        answer = service.get("/v1/views")
    if json:
        print_json(answer)
    else:
        views = [view | {"status": state_of(view)} for view in answer["views"]]
        print_table(views, ("name", "status", "key", "errors", "query"))


@app.command("show")
def show_view(name: str, json: AsJson = False) -> None:
    """One view."""
    with connected() as service:
        print_answer(service.get(path("views", name)), as_json=json)


@app.command("create")
def create_view(
    name: str,
    query: Query,
    key: Key = None,
    language: Written = "sql",
    sink: Annotated[
        str | None, typer.Option(help="Its topic in Kafka: the JSON of `sink`, or @FILE.")
    ] = None,
    lookups: Annotated[bool, typer.Option(help="Keep its rows, to be looked up and read.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would be.")] = False,
    json: AsJson = False,
) -> None:
    """Maintain a view from now on."""
    with connected() as service:
        body: dict[str, Any] = {"query": text_of(query), "language": language, "key": key}
        body |= {"lookups": lookups, "dry_run": dry_run}
        if sink is not None:
            body["sink"] = json_of(sink)
        answer = put_view(name, body, service)
    print_answer(answer, as_json=json)


@app.command("apply")
def apply_views(
    file: Annotated[Path, typer.Argument(help="Python with @view functions.")], json: AsJson = False
) -> None:
    """Maintain the views that a Python file defines; it runs here, not in the service."""
    with connected() as service:
        for applied in apply(file, service):
            done = "created" if applied.is_new else "unchanged"
            if json:
                print_line({"view": applied.name, "done": done})
            else:
                out.print(f"{escape(applied.name)}: {done}")


@app.command("replace")
def replace_view(
    name: str, query: Query, key: Key = None, language: Written = "sql", json: AsJson = False
) -> None:
    """Prepare another definition of a view, and show the rows that it would change."""
    with connected() as service:
        body = {"query": text_of(query), "language": language, "key": key, "replace": True}
        answer = hydrated(name, service.put(path("views", name), body), service)
    print_answer(answer, as_json=json)


@app.command("replacement")
def show_replacement(
    name: str,
    sample: Annotated[int, typer.Option(min=0, help="Rows that come, and that go, shown.")] = 10,
    json: AsJson = False,
) -> None:
    """The replacement of a view that waits for its approval."""
    with connected() as service:
        answer = service.get(path("views", name, "replacement"), sample=sample)
    print_answer(answer, as_json=json)


@app.command("approve")
def approve_replacement(
    name: str,
    version: Annotated[str, typer.Argument(help="The version that the preview has.")],
    time: Annotated[
        int | None, typer.Option(help="Of the preview: only if nothing has changed since.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Let a replacement take the view's place; its consumers get the difference."""
    with connected() as service:
        body = {"version": version, "time": time}
        print_answer(service.post(path("views", name, "approve"), body), as_json=json)


@app.command("discard")
def discard_replacement(name: str) -> None:
    """Forget the replacement of a view, which stays as it is."""
    with connected() as service:
        service.send(path("views", name, "discard"))


@app.command("rename")
def rename_view(name: str, to: str, json: AsJson = False) -> None:
    """Let a view have another name; its topics keep theirs."""
    with connected() as service:
        print_answer(service.post(path("views", name, "rename"), {"to": to}), as_json=json)


@app.command("retry")
def retry_view(name: str, json: AsJson = False) -> None:
    """Maintain a view that has failed again; its delta topic begins anew."""
    with connected() as service:
        print_answer(service.post(path("views", name, "retry"), {}), as_json=json)


@app.command("drop")
def drop_view(name: str) -> None:
    """Stop a view and delete its delta topic."""
    with connected() as service:
        service.delete(path("views", name))
