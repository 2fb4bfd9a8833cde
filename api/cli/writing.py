"""`ivm source write`: posts the rows of a file, or of a pipe, to a table with connector `http`."""

import sys
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

import typer
from rich.markup import escape

from api.posted import READERS
from api.terminal import AsJson, connected, naming, out, plain_errors, print_json
from ivm_client.service import path

Form = Literal["json", "ndjson", "csv", "arrow"]
FORMS: dict[Form, str] = dict(zip(("json", "ndjson", "csv", "arrow"), READERS, strict=True))
SUFFIXES: dict[str, Form] = {".json": "json", ".csv": "csv", ".arrow": "arrow", ".arrows": "arrow"}
# Bytes of one request; rows of lines are posted in several.
REQUEST_BYTES = 1 << 20


def write(
    name: Annotated[str, typer.Argument(help="The source.")],
    file: Annotated[Path, typer.Argument(help="Rows; - reads standard input.")],
    form: Annotated[
        Form | None, typer.Option("--format", help="By the file's suffix unless given; or ndjson.")
    ] = None,
    changes: Annotated[
        bool, typer.Option(help='Of rows, {"insert": …}, {"update": …}, {"delete": …}.')
    ] = False,
    json: AsJson = False,
) -> None:
    """Write the rows of FILE; a request that is repeated after a fault writes them once."""
    with plain_errors(), naming(file):
        body = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    written = form or SUFFIXES.get(file.suffix, "ndjson")
    rows, answer = 0, None
    with connected() as service:
        for part in _parts(body, written):
            answer = service.write(
                path("sources", name, "rows"), part, FORMS[written], str(uuid4()), changes
            )
            rows += answer["rows"]
    if json:
        print_json(answer)
    else:
        until = f"; look-ups wait for at_least={answer['at_least']}" if answer is not None else ""
        out.print(escape(f"{rows} rows written{until}"))


def _parts(body: bytes, form: Form) -> list[bytes]:
    """A body in parts of whole lines, where the form has lines, each below its header."""
    if form not in ("ndjson", "csv") or len(body) <= REQUEST_BYTES:
        return [body]
    lines = body.splitlines(keepends=True)
    header = lines.pop(0) if form == "csv" else b""
    parts = [bytearray(header)]
    for line in lines:
        if len(parts[-1]) + len(line) > REQUEST_BYTES and len(parts[-1]) > len(header):
            parts.append(bytearray(header))
        parts[-1] += line
    return [bytes(part) for part in parts]
