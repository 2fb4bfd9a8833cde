"""`python -m api`: the command line."""

from api.cli import app

app()
