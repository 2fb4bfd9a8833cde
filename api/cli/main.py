"""`ivm`: the command line of the service."""

import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from api.cli import key as keys
from api.cli import programs, quarantine, sources, views
from api.cli.applying import apply_folder
from api.cli.backup import backup, restore
from api.cli.doctor import examine
from api.cli.init import init
from api.cli.operators import operators
from api.cli.status import arrangements, errors, status
from api.cli.texts import Key, Query, Written, text_of
from api.cli.top import top
from api.serve import serve as run_service
from api.settings import Settings
from api.terminal import (
    FAILED,
    AsJson,
    connected,
    out,
    plain_errors,
    print_answer,
    print_json,
    print_table,
)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(views.app, name="view")
app.add_typer(sources.app, name="source")
app.add_typer(programs.app, name="program")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(keys.app, name="key")
app.command("apply")(apply_folder)
app.command()(init)
app.command()(backup)
app.command()(restore)
app.command()(status)
app.command()(errors)
app.command()(arrangements)
app.command()(top)
# The wheel leaves the demos out, and DuckDB and networkx, which judge them.
with suppress(ModuleNotFoundError):
    from api.demo.command import demo
    from api.mentions.command import mentions

    app.command()(demo)
    app.command()(mentions)

FINDING = ("part", "setting", "found")

Form = Literal["table", "json", "ndjson", "csv", "arrow", "parquet"]
FORMS: dict[Form, str] = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "parquet": "application/vnd.apache.parquet",
}


@app.callback()
def main() -> None:
    """Views over change data capture, kept exactly up to date.

    Exit codes: 0 done, 1 refused or failed, 2 not written as the help says, 3 no service answers.
    With --json stdout has JSON alone; errors and progress are on stderr.
    """


@app.command()
def serve() -> None:
    """Run the service; it is configured by ivm.toml and IVM_* variables."""
    with plain_errors():
        run_service(Settings())


@app.command()
def doctor(json: AsJson = False) -> None:
    """Test what is configured, and what will hurt; of a service that runs, what it is behind with.

    That is directories and their disks, memory, clocks, Java, jars, brokers, registries, topics of
    sources and sinks. Fails if anything is at fault; a warning is none.
    """
    with plain_errors():
        findings = [asdict(finding) for finding in examine(Settings())]
    if json:
        print_json(findings)
    else:
        print_table([{**f, "found": _told(f)} for f in findings], FINDING)
    if any(finding["fault"] for finding in findings):
        raise typer.Exit(FAILED)


def _told(finding: dict[str, Any]) -> str:
    if finding["fault"]:
        return str(finding["fault"])
    return f"warning: {finding['warning']}" if finding["warning"] else "ok"


@app.command()
def explain(
    query: Query,
    key: Key = None,
    language: Written = "sql",
    analyze: Annotated[
        bool, typer.Option("--analyze", help="QUERY is a view: what each part of it has cost.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show the view that QUERY would make, without making it."""
    if analyze:
        operators(query, json)
        return
    with connected() as service:
        body = {"query": text_of(query), "language": language, "key": key}
        answer = service.post("/v1/explain", body)
    if json:
        print_json(answer)
        return
    for stage in answer.pop("stages"):
        out.rule(escape(stage["name"]))
        out.print(escape(stage["text"]))
    out.rule("view")
    print_answer(answer, as_json=False)


@app.command("query")
def ask(
    query: Query,
    language: Written = "sql",
    limit: Annotated[int, typer.Option(min=1, help="Rows, at most.")] = 100,
    form: Annotated[Form, typer.Option("--format", help="How the rows are written.")] = "table",
    json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
) -> None:
    """Answer QUERY once, over the sources and views as they are now."""
    if json:
        form = "json"
    body = {"query": text_of(query), "language": language, "limit": limit}
    with connected() as service:
        if form != "table":
            found = service.request("POST", "/v1/query", body, headers={"accept": FORMS[form]})
            sys.stdout.buffer.write(found.content)
            return
        answer = service.post("/v1/query", body)
    print_table(answer["rows"], tuple(column["name"] for column in answer["columns"]))
    if answer["more"]:
        out.print(f"more than {limit}; --limit shows more")
