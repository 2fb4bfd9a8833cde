"""`ivm program`: the library of programs, shown and made views of."""

from typing import Annotated

import typer
from rich.markup import escape

from api.terminal import AsJson, connected, out, plain_errors, print_answer, print_json, print_table
from ivm_client.service import path
from views.errors import BadDefinition
from views.programs import Program, load, names

app = typer.Typer(no_args_is_help=True, help="The library of programs.")

Name = Annotated[str, typer.Argument(help="A program, as `ivm program list` has it.")]
On = Annotated[
    list[str] | None,
    typer.Option(help="TABLE=YOURS,COLUMN=YOURS,…: what stands for a table; repeatable."),
]
Values = Annotated[
    list[str] | None, typer.Option("--set", help="PARAMETER=VALUE in place of its default.")
]


@app.command("list")
def list_programs(json: AsJson = False) -> None:
    """All programs."""
    found = [{"name": name, "program": load(name).summary} for name in names()]
    if json:
        print_json({"programs": found})
    else:
        print_table(found, ("name", "program"))


@app.command("show")
def show(name: Name, on: On = None, values: Values = None, json: AsJson = False) -> None:
    """Show the meaning, the needs and the text of a program, over your tables."""
    with plain_errors():
        program = load(name)
        query = _query(program, on, values)
    if json:
        relations = [{"name": r.name, "columns": dict(r.columns)} for r in program.relations]
        print_json(
            {
                "name": name,
                "description": program.description,
                "source": program.source,
                "reads": relations,
                "parameters": dict(program.parameters),
                "language": program.language,
                "query": query,
            }
        )
        return
    out.print(escape(f"{program.description}\n\n{program.source}\n"))
    for relation in program.relations:
        columns = ", ".join(f"{column} {kind}" for column, kind in relation.columns.items())
        out.print(escape(f"reads {relation.name}({columns})"))
    for parameter, default in program.parameters.items():
        out.print(escape(f"set {parameter}={default}"))
    out.rule(program.language)
    out.print(escape(query), highlight=False, soft_wrap=True)


@app.command("create")
def create(
    name: Name,
    view: Annotated[str | None, typer.Argument(help="The view's name; else the program's.")] = None,
    on: On = None,
    values: Values = None,
    json: AsJson = False,
) -> None:
    """Maintain a program over your tables as a view from now on."""
    with plain_errors():
        program = load(name)
        query = _query(program, on, values)
    body = {"query": query, "language": program.language, "key": list(program.key)}
    with connected() as service:
        print_answer(service.put(path("views", view or name), body), as_json=json)


def _query(program: Program, on: list[str] | None, values: list[str] | None) -> str:
    return program.query(_pairs(on, "--on"), **_pairs(values, "--set"))


def _pairs(written: list[str] | None, option: str) -> dict[str, str]:
    """Splits each at its first `=` (raises BadDefinition)."""
    pairs = [(one, *one.partition("=")) for one in written or ()]
    for one, name, _, value in pairs:
        if not (name and value):
            raise BadDefinition(f"{option} {one!r} is not of the form NAME=…")
    return {name: value for _, name, _, value in pairs}
