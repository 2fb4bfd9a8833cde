"""`ivm source create` and `infer`: declare a source, or propose how one is declared."""

import json as json_texts
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from api.cli.folder import members
from api.errors import BadParameter
from api.terminal import AsJson, connected, print_answer, print_json
from ivm_client.service import path

Connection = Annotated[str | None, typer.Option(help="One of the operator's connections.")]
Pattern = Annotated[
    str | None, typer.Option(help="In place of a topic: an expression for the names of several.")
]


def create(
    name: str,
    file: Annotated[Path | None, typer.Argument(help="TOML or JSON: topic, columns, key.")] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", help="As 'id bigint'; repeatable.")
    ] = None,
    key: Annotated[list[str] | None, typer.Option(help="A column of the primary key.")] = None,
    connection: Connection = None,
    topic: Annotated[str | None, typer.Option(help="The source's name unless given.")] = None,
    topic_pattern: Pattern = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would be.")] = False,
    json: AsJson = False,
) -> None:
    """Declare a source as FILE says; by the schemas of its topic; or, by its columns, a table.

    A topic on a CONNECTION whose records have schemas needs no columns. A table with columns and no
    topic is filled by `ivm source write`. A source that is there gets the columns, or the fate of
    bad records, that FILE has for it.
    """
    places = {"topic": topic, "topic_pattern": topic_pattern}
    given = {"connection": connection, **places, "key": key}
    said = {member: value for member, value in given.items() if value}
    with connected() as service:
        body = _declaration(file, columns or [], said) | ({"dry_run": True} if dry_run else {})
        print_answer(service.put(path("sources", name), body), as_json=json)


def infer(
    topic: Annotated[str | None, typer.Argument(help="The topic.")] = None,
    topic_pattern: Pattern = None,
    connection: Connection = None,
    records: Annotated[int, typer.Option(min=1, help="How many to look at, at most.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Propose a declaration, in TOML, by the first records of TOPIC; nothing is declared.

    With a pattern it is the first topic that it matches.
    """
    with connected() as service:
        places = {"topic": topic, "topic_pattern": topic_pattern, "connection": connection}
        found = service.post(path("sources", "infer"), {**places, "records": records})
    unsure, declaration = found["unsure"], found["declaration"]
    if as_json:
        print_json(declaration)
        told = Console(stderr=True)
        for doubt in unsure:
            told.print(f"[yellow]unsure:[/] {escape(doubt)}", soft_wrap=True)
    else:
        typer.echo("\n".join([*(f"# unsure: {doubt}" for doubt in unsure), *_toml(declaration)]))


def _declaration(file: Path | None, columns: list[str], said: Mapping[str, Any]) -> dict[str, Any]:
    if file is not None and not (columns or said):
        found = members(file)
        if not isinstance(found, dict):
            raise BadParameter(f"{file} holds no object with a topic, columns and a key")
        return found
    is_placed = not said.keys().isdisjoint(("connection", "topic", "topic_pattern"))
    if file is not None or not (columns or is_placed):
        raise BadParameter(
            "give a FILE; or --connection and --topic, whose records have schemas; or a --column "
            "for each column"
        )
    if not columns:
        return dict(said)
    pairs = [column.strip().partition(" ") for column in columns]
    named = [{"name": column, "type": kind.strip()} for column, _, kind in pairs]
    place = {} if is_placed else {"connector": "http"}
    return {**place, "columns": named, **said}


def _toml(declaration: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a declaration in TOML, whose texts and arrays are those of JSON."""
    tables: dict[str, Any] = {}
    for member, value in declaration.items():
        is_table = isinstance(value, dict) or (value and isinstance(value[0], dict))
        if is_table:
            tables[member] = value
        else:
            yield f"{member} = {_written(value)}"
    for member, value in tables.items():
        head = f"[{member}]" if isinstance(value, dict) else f"[[{member}]]"
        for table in [value] if isinstance(value, dict) else value:
            yield from ("", head, *(f"{_written(n)} = {_written(v)}" for n, v in table.items()))


def _written(value: Any) -> str:
    return json_texts.dumps(value, ensure_ascii=False)
