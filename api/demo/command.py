"""`ivm demo`, where there is a demo: in a checkout."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from api.demo.run import run_demo
from api.terminal import out, plain_errors


def demo(
    changes: Annotated[
        int, typer.Option(min=2_000, help="Changes before the paced phase.")
    ] = 500_000,
    json: Annotated[Path | None, typer.Option(help="Also write the figures to this file.")] = None,
) -> None:
    """Maintain five views through a kill, and verify them with DuckDB; fails on a mismatch."""
    with plain_errors():
        report = run_demo(changes, out)
    if json is not None:
        json.write_bytes(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2))
    raise typer.Exit(0 if report.is_verified else 1)
