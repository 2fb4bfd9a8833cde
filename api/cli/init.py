"""`ivm init`: a folder with an example of each thing that one defines, for `ivm apply`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from api.errors import BadParameter
from api.terminal import AsJson, out, plain_errors, print_json

FILES: Mapping[str, str] = {
    "sources/visits.toml": """\
# A table whose rows are posted: `ivm source write visits visits.ndjson`.
# A topic of Kafka has `connector = "kafka"`, a `connection` and a `topic` in its place.
connector = "http"
key = ["id"]

[[columns]]
name = "id"
type = "bigint"

[[columns]]
name = "page"
type = "text"

[[columns]]
name = "at"
type = "timestamptz"
""",
    "views/by_page.sql": """\
-- How often each page was visited.
-- ivm: key = ["page"]
SELECT page, count(*) AS visits, max(at) AS latest
FROM visits
GROUP BY page
""",
    "views/favourites.dl": """\
// The pages that were visited more than once: a view over a view, in Datalog.
?- by_page(Page, Visits, _), Visits > 1.
""",
    "_visits.ndjson": """\
{"id": 1, "page": "/", "at": "2026-01-01T10:00:00Z"}
{"id": 2, "page": "/prices", "at": "2026-01-01T10:01:00Z"}
{"id": 3, "page": "/", "at": "2026-01-01T10:02:00Z"}
""",
}


def init(
    folder: Annotated[Path, typer.Argument(help="Where; it must be empty, or not be there.")],
    json: AsJson = False,
) -> None:
    """Make a folder of definitions to begin with."""
    with plain_errors():
        if folder.exists() and any(folder.iterdir()):
            raise BadParameter(f"{folder} is not empty; name another folder")
        for name, text in FILES.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    files = [str(folder / name) for name in FILES]
    if json:
        print_json({"files": files})
        return
    out.print(escape("\n".join(files)), soft_wrap=True)
    shown = escape(str(folder))
    out.print("With the service running (`ivm serve`), go on with", soft_wrap=True)
    out.print(f"  ivm apply {shown}", soft_wrap=True)
    out.print(f"  ivm source write visits {shown}/_visits.ndjson", soft_wrap=True)
    out.print("  ivm view rows by_page", soft_wrap=True)
