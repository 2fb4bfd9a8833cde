"""`docs/sql.md`: what SQL is supported, by what the files show."""

from collections.abc import Iterable
from pathlib import Path

from tests.slt.script import FILES, Refusal, Script, read

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"
_HEAD = """# SQL in views

The dialect is PostgreSQL's. Each line names the file of `tests/slt/files` that shows it: its
queries are installed as views, followed through inserts, updates and deletes, and compared with
PostgreSQL after every step. This page is written by `python -m tests.slt --table`.
"""
_REFUSED = """## Refused

What a view cannot have is refused when it is registered, with the place in its text.

| query | refusal |
| --- | --- |
"""


def scripts() -> list[Script]:
    """All files, by name."""
    return [read(path) for path in sorted(FILES.glob("*.slt"))]


def page(given: Iterable[Script]) -> str:
    """The page that the files make (raises BadScript)."""
    files = list(given)
    sections: dict[str, list[str]] = {}
    for feature in sorted((f for s in files for f in s.features()), key=lambda f: f.section):
        row = f"| {feature.what} | {feature.note} | {_link(feature.file)} |"
        sections.setdefault(feature.section, []).append(row)
    parts = [_HEAD]
    for section, rows in sections.items():
        head = f"## {section}\n\n| feature | note | shown by |\n| --- | --- | --- |\n"
        parts.append(head + "\n".join(rows) + "\n")
    refused = [r for s in files for r in s.records if isinstance(r, Refusal)]
    parts.append(_REFUSED + "\n".join(_refusal(r) for r in refused) + "\n")
    return "\n".join(parts)


def _link(file: str) -> str:
    return f"[{file.removesuffix('.slt')}](../tests/slt/files/{file})"


def _refusal(refusal: Refusal) -> str:
    sql = " ".join(refusal.sql.split()).replace("|", "\\|")
    return f"| `{sql}` | {refusal.error} |"
