"""Texts of SQL: quoted names and constants, and the templates of `format`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

# Words of PostgreSQL 15 that are no names without quotes, from pg_get_keywords().
_RESERVED = """
    all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
    boolean both case cast char character check coalesce collate collation column concurrently
    constraint create cross current_catalog current_date current_role current_schema
    current_time current_timestamp current_user dec decimal default deferrable desc distinct do
    else end except exists extract false fetch float for foreign freeze from full grant greatest
    group grouping having ilike in initially inner inout int integer intersect interval into is
    isnull join lateral leading least left like limit localtime localtimestamp national natural
    nchar none normalize not notnull null nullif numeric offset on only or order out outer
    overlaps overlay placing position precision primary real references returning right row
    select session_user setof similar smallint some substring symmetric table tablesample then
    time timestamp to trailing treat trim true union unique user using values varchar variadic
    verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest
    xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
"""
_NO_NAMES = frozenset(_RESERVED.split())
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_CACHED_TEMPLATES = 1024
_MOST_WIDTH = 1 << 28  # characters
_SPECIFIER = re.compile(r"%(?:(\d+)\$)?(-*)(?:(\d+)|(\*)(?:(\d+)\$)?)?(.?)", re.DOTALL)


def quote_name(name: str) -> str:
    """Write a name, in quotes where it must be.

    >>> quote_name("my table")
    '"my table"'
    """
    if _PLAIN_NAME.fullmatch(name) and name not in _NO_NAMES:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """Write a text as a constant.

    >>> quote_literal("it's")
    "'it''s'"
    """
    quoted = "'" + text.replace("'", "''") + "'"
    return "E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted


@dataclass(frozen=True, slots=True)
class Specifier:
    """A part `%…` of a template; positions count from 1, None is the next argument."""

    kind: str
    position: int | None
    left: bool
    width: int
    indirect: bool  # the width is an argument
    width_position: int | None


def _specifier(found: re.Match[str]) -> Specifier:
    position, flags, width, indirect, width_position, kind = found.groups()
    if kind not in ("s", "I", "L"):
        raise ValueError(f"format() knows %s, %I and %L, not %{kind}")
    positions = [None if p is None else int(p) for p in (position, width_position)]
    if 0 in positions:
        raise ValueError("the arguments of format() are numbered from 1")
    return Specifier(kind, positions[0], bool(flags), int(width or 0), bool(indirect), positions[1])


Template = tuple[str | Specifier, ...]


@lru_cache(_CACHED_TEMPLATES)
def parse_template(template: str) -> Template:
    """Split a template of `format` into texts and specifiers (raises ValueError)."""
    parts: list[str | Specifier] = []
    at = 0
    while at < len(template):
        mark = template.find("%", at)
        if mark < 0:
            mark = len(template)
        parts.append(template[at:mark])
        at = mark
        if template.startswith("%%", at):
            parts.append("%")
            at += 2
        elif found := _SPECIFIER.match(template, at):
            parts.append(_specifier(found))
            at = found.end()
    return tuple(parts)


def filled(template: str, values: Sequence[str | None]) -> str:
    """Fill a template with values (raises ValueError, of too few too).

    >>> filled("%2$s is %L|%1$-4s|", ["a", "b", "it's"])
    "b is 'it''s'|a   |"
    """
    out: list[str] = []
    following = 1

    def take(position: int | None) -> str | None:
        nonlocal following
        at = following if position is None else position
        if at > len(values):
            raise ValueError("format() has too few arguments")
        following = at + 1
        return values[at - 1]

    for part in parse_template(template):
        if isinstance(part, str):
            out.append(part)
            continue
        width = int(take(part.width_position) or 0) if part.indirect else part.width
        if abs(width) > _MOST_WIDTH:
            raise OverflowError
        text = _written(part.kind, take(part.position))
        out.append(text.ljust(abs(width)) if part.left or width < 0 else text.rjust(width))
    return "".join(out)


def _written(kind: str, value: str | None) -> str:
    if kind == "s":
        return value or ""
    if kind == "L":
        return "NULL" if value is None else quote_literal(value)
    if value is None:
        raise ValueError("a name that is NULL")
    return quote_name(value)
