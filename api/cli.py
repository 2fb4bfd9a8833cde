"""`ivm`: the command line of the service."""

import typer

from api.serve import serve as run_service
from api.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Views over change data capture, kept exactly up to date."""


@app.command()
def serve() -> None:
    """Run the service; it is configured by ivm.toml and IVM_* variables."""
    run_service(Settings())
