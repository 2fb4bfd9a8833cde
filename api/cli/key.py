"""`ivm key`: makes, lists and revokes the API keys of a service, in its file."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from pydantic import ValidationError

from api.errors import BadParameter, located
from api.security.keyring import add_key, read_keys, revoke_key
from api.security.keys import ApiKey, create_secret, hashed, written
from api.security.principal import Role
from api.settings import Settings
from api.terminal import AsJson, out, plain_errors, print_json, print_table

app = typer.Typer(no_args_is_help=True, help="API keys of the service that ivm.toml configures.")

COLUMNS = ("id", "name", "role", "on", "requests_per_second", "body_bytes", "created", "expires")


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Whose key it is, for the audit log.")],
    role: Annotated[str, typer.Option(help="read, write, or admin.")] = "read",
    on: Annotated[
        list[str] | None,
        typer.Option(help="A source or view that it is for, or a pattern (shop_*); repeatable."),
    ] = None,
    days: Annotated[float | None, typer.Option(help="After so many it expires.")] = None,
    rate: Annotated[float | None, typer.Option(help="Requests a second, at most.")] = None,
    body_bytes: Annotated[int | None, typer.Option(help="Bytes of a body, at most.")] = None,
    json: AsJson = False,
) -> None:
    """Make a key, and print it: it is shown this once, and the service takes it from now on.

    The file keeps a hash of it. A service that was started open stays so until it starts again.
    """
    with plain_errors():
        if role == Role.admin.name and on:
            raise BadParameter("an admin declares views over all there is: leave --on out")
        named, secret = create_secret()
        now = datetime.now(UTC)
        try:
            key = ApiKey(
                id=named,
                hash=hashed(secret),
                name=name,
                role=role,  # type: ignore[arg-type]  # it is validated
                grants=tuple(on) if on else None,
                requests_per_second=rate,
                body_bytes=body_bytes,
                created=now,
                expires=None if days is None else now + timedelta(days=days),
            )
        except ValidationError as error:
            raise BadParameter(located(error.errors())) from error
        add_key(Settings().keys_file, key)
    if json:
        print_json({"id": named, "key": written(named, secret)})
    else:
        print(written(named, secret))


@app.command("list")
def list_keys(json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    with plain_errors():
        keys = read_keys(Settings().keys_file)
    rows = [
        {**key.model_dump(mode="json", exclude={"hash", "grants"}), "on": list(key.grants or "*")}
        for key in keys
    ]
    if json:
        print_json({"keys": rows})
        return
    print_table([{c: "" if v is None else v for c, v in row.items()} for row in rows], COLUMNS)


@app.command()
def revoke(
    id: Annotated[str, typer.Argument(help="The id of the key, as listed.")], json: AsJson = False
) -> None:
    """Revoke a key: within a second the service refuses it."""
    with plain_errors():
        revoked = revoke_key(Settings().keys_file, id)
    if json:
        print_json({"revoked": revoked.id, "name": revoked.name})
    else:
        out.print(f"revoked the key of {revoked.name}")
