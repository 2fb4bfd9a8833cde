"""`ivm`: the command line of the service."""

import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer
from rich.markup import escape

from api.cli import programs, quarantine
from api.cli.apply import apply
from api.cli.doctor import examine
from api.cli.rows import rows, tail
from api.client import path
from api.serve import serve as run_service
from api.settings import Settings
from api.terminal import connected, naming, out, plain_errors, print_json, print_table
from views.catalog import Language

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
views = typer.Typer(no_args_is_help=True, help="Views of a running service.")
sources = typer.Typer(no_args_is_help=True, help="Sources of a running service.")
app.add_typer(views, name="view")
app.add_typer(sources, name="source")
app.add_typer(programs.app, name="program")
app.add_typer(quarantine.app, name="quarantine")
views.command()(rows)
views.command()(tail)
# The wheel leaves the demo out, and DuckDB, which judges it.
with suppress(ModuleNotFoundError):
    from api.demo.command import demo

    app.command()(demo)

FINDING = ("part", "setting", "fault")

Key = Annotated[list[str] | None, typer.Option(help="A column to look the view up by; repeatable.")]
Form = Literal["table", "json", "ndjson", "csv", "arrow", "parquet"]
FORMS: dict[Form, str] = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}

Query = Annotated[str, typer.Argument(help="The query, or @FILE to read it from a file.")]
Written = Annotated[Language, typer.Option(help="The language of the query.")]


@app.callback()
def main() -> None:
    """Views over change data capture, kept exactly up to date."""


@app.command()
def serve() -> None:
    """Run the service; it is configured by ivm.toml and IVM_* variables."""
    with plain_errors():
        run_service(Settings())


@app.command()
def doctor(
    json: Annotated[bool, typer.Option("--json", help="The findings as JSON.")] = False,
) -> None:
    """Test what is configured: directories, Java, jars, brokers, registries, sources' topics.

    Fails if anything is at fault.
    """
    with plain_errors():
        findings = [asdict(finding) for finding in examine(Settings())]
    if json:
        print_json(findings)
    else:
        print_table([{**f, "fault": f["fault"] or "ok"} for f in findings], FINDING)
    raise typer.Exit(1 if any(finding["fault"] for finding in findings) else 0)


@app.command()
def explain(query: Query, key: Key = None, language: Written = "sql") -> None:
    """Show the view that QUERY would make, without making it."""
    with connected() as service:
        body = {"query": _text(query), "language": language, "key": key}
        answer = service.post("/v1/explain", body)
    for stage in answer.pop("stages"):
        out.rule(escape(stage["name"]))
        out.print(escape(stage["text"]))
    out.rule("view")
    print_json(answer)


@app.command("query")
def ask(
    query: Query,
    language: Written = "sql",
    limit: Annotated[int, typer.Option(min=1, help="Rows, at most.")] = 100,
    form: Annotated[Form, typer.Option("--format", help="How the rows are written.")] = "table",
) -> None:
    """Answer QUERY once, over the sources and views as they are now."""
    body = {"query": _text(query), "language": language, "limit": limit}
    with connected() as service:
        if form != "table":
            answer = service.posted("/v1/query", body, FORMS[form])
            sys.stdout.buffer.write(answer)
            return
        found = service.post("/v1/query", body)
    print_table(found["rows"], tuple(column["name"] for column in found["columns"]))
    if found["more"]:
        out.print(f"more than {limit}; --limit shows more")


@views.command("list")
def list_views() -> None:
    """All views."""
    with connected() as service:
        found = service.get("/v1/views")["views"]
    print_table(found, ("name", "status", "key", "errors", "query"))


@views.command("show")
def show_view(name: str) -> None:
    """One view."""
    with connected() as service:
        print_json(service.get(path("views", name)))


@views.command("create")
def create_view(name: str, query: Query, key: Key = None, language: Written = "sql") -> None:
    """Maintain a view from now on."""
    with connected() as service:
        body = {"query": _text(query), "language": language, "key": key}
        print_json(service.put(path("views", name), body))


@views.command("apply")
def apply_views(file: Annotated[Path, typer.Argument(help="Python with @view functions.")]) -> None:
    """Maintain the views that a Python file defines; it runs here, not in the service."""
    with connected() as service:
        for applied in apply(file, service):
            out.print(f"{escape(applied.name)}: {'created' if applied.is_new else 'unchanged'}")


@views.command("retry")
def retry_view(name: str) -> None:
    """Maintain a view that has failed again; its delta topic begins anew."""
    with connected() as service:
        print_json(service.post(path("views", name, "retry"), {}))


@views.command("drop")
def drop_view(name: str) -> None:
    """Stop a view and delete its delta topic."""
    with connected() as service:
        service.delete(path("views", name))


@sources.command("list")
def list_sources() -> None:
    """All sources."""
    with connected() as service:
        found = service.get("/v1/sources")["sources"]
    print_table(found, ("name", "topic", "key", "offsets"))


@sources.command("show")
def show_source(name: str) -> None:
    """One source."""
    with connected() as service:
        print_json(service.get(path("sources", name)))


@sources.command("create")
def create_source(
    name: str, file: Annotated[Path, typer.Argument(help="JSON: topic, columns, key.")]
) -> None:
    """Declare a source as FILE says."""
    with connected() as service:
        with naming(file):
            body = orjson.loads(file.read_bytes())
        print_json(service.put(path("sources", name), body))


@sources.command("drop")
def drop_source(name: str) -> None:
    """Forget a source; its topic stays."""
    with connected() as service:
        service.delete(path("sources", name))


def _text(query: str) -> str:
    if not query.startswith("@"):
        return query
    file = Path(query[1:])
    with naming(file):
        return file.read_text()
