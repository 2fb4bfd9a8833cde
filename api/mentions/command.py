"""`ivm mentions`, where there is a demo: in a checkout."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from api.mentions.errors import BadMentions
from api.mentions.run import run_mentions
from api.mentions.stream import Stream, generate, read
from api.terminal import out, plain_errors

DAY = 86_400


def mentions(
    file: Annotated[
        Path | None, typer.Argument(help="Lines of user,mentions,hashtag,time; none: made up.")
    ] = None,
    window: Annotated[int, typer.Option(min=1, help="The window's width in seconds.")] = DAY,
    per_second: Annotated[float, typer.Option(min=0.001, help="Mentions made a second.")] = 10.0,
    steps: Annotated[int, typer.Option(min=1, help="Steps of one second.")] = 120,
    pace: Annotated[float, typer.Option(min=0.01, help="Steps in a second.")] = 1.0,
    json: Annotated[Path | None, typer.Option(help="Also write the figures to this file.")] = None,
) -> None:
    """Follow who mentions whom: components and top hashtags in a window that moves both ways.

    Verified at random cuts; fails on a mismatch.
    """
    with plain_errors():
        stream = read(file) if file else generate(window + steps, per_second)
        report = run_mentions(stream, width_of(stream, window), steps, pace, out)
    if json is not None:
        json.write_bytes(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2))
    raise typer.Exit(0 if report.is_verified else 1)


def width_of(stream: Stream, window: int) -> int:
    """The width asked for, or half of a stream that is shorter (raises BadMentions)."""
    seconds = stream.last - stream.first + 1
    if seconds < 2:
        raise BadMentions("all mentions are of one second, so that no window moves over them")
    return window if window < seconds else seconds // 2
