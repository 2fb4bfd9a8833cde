"""`python -m api`: the command line."""

from api.cli.main import app

app()
