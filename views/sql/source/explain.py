"""EXPLAIN in front of a query, as PostgreSQL has it: a statement about the query, and no query.

EXPLAIN [ANALYZE] query
EXPLAIN (option [, …]) query        with ANALYZE [boolean] and FORMAT TEXT or JSON
"""

import re
from dataclasses import dataclass
from typing import Literal, cast

from views.errors import SqlSyntaxError, UnsupportedSql
from views.sql.source.text import Source

PlanFormat = Literal["text", "json"]

# Possessive: many comments before what is no EXPLAIN are read once.
_SPACE = r"(?:\s|--[^\n]*+|/\*(?>.*?\*/))*+"
_EXPLAIN = re.compile(rf"{_SPACE}explain\b{_SPACE}", re.I | re.S)
_ANALYZE = re.compile(rf"analy[zs]e\b{_SPACE}", re.I | re.S)
_OPTIONS = re.compile(
    rf"\({_SPACE}(?!select\b|with\b|values\b|table\b|\()([^()]*)\){_SPACE}", re.I | re.S
)
_BOOLEANS = {
    "": True,
    "true": True,
    "on": True,
    "1": True,
    "false": False,
    "off": False,
    "0": False,
}


@dataclass(frozen=True, slots=True)
class Explained:
    """A query to be explained; `analyze` runs it. Its parts lie where they did in the statement."""

    query: str
    analyze: bool = False
    form: PlanFormat = "text"


def explained(statement: str) -> Explained | None:
    """The query after EXPLAIN; None if the statement is none (raises a kind of SqlError)."""
    begin = _EXPLAIN.match(statement)
    if begin is None:
        return None
    source, end = Source(statement), begin.end()
    options: dict[str, str] = {}
    if found := _OPTIONS.match(statement, end):
        options, end = _options(source, found), found.end()
    elif found := _ANALYZE.match(statement, end):
        options, end = {"analyze": ""}, found.end()
    if not statement[end:].strip():
        raise source.fault_at(SqlSyntaxError, "EXPLAIN is followed by a query", begin.end())
    blank = re.sub(r"[^\n]", " ", statement[:end])
    form = cast(PlanFormat, options.get("format", "text"))
    return Explained(blank + statement[end:], _BOOLEANS[options.get("analyze", "off")], form)


def _options(source: Source, found: re.Match[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for written in found[1].split(","):
        name, _, value = written.strip().lower().partition(" ")
        name, value = name.replace("analyse", "analyze"), value.strip()
        is_known = value in _BOOLEANS if name == "analyze" else value in ("text", "json")
        if name not in ("analyze", "format") or not is_known:
            told = (
                f"EXPLAIN's option {written.strip()} is not supported; those that are: ANALYZE, "
                "FORMAT TEXT and FORMAT JSON"
            )
            raise source.fault_at(
                UnsupportedSql, told, found.start(1) + found[1].index(written.strip())
            )
        options[name] = value
    return options
