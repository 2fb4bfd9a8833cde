"""The files' format: text to records and back."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

FILES = Path(__file__).parent / "files"
_STATEMENT = re.compile(r"statement (?:ok|error (?P<error>.+))")
_QUERY = re.compile(
    r"query (?:error (?P<error>.+)|(?P<types>[BINRT]+)(?: rowsort)?(?: (?P<label>\S+))?)"
)
_FEATURE = re.compile(r"^# feature: (.+)$", re.M)


class BadScript(Exception):
    """A file is not in the format; the message begins with the place."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One step; `error` is what PostgreSQL must say, if it must fail."""

    sql: str
    error: str | None
    line: int
    comments: tuple[str, ...] = ()

    def text(self) -> str:
        """The record as it stands in the file."""
        head = "statement ok" if self.error is None else f"statement error {self.error}"
        return "\n".join([*self.comments, head, self.sql])


@dataclass(frozen=True, slots=True)
class Query:
    """A view's definition or a later mention of it, and its rows from here on."""

    types: str
    label: str | None
    sql: str
    rows: tuple[str, ...]
    line: int
    comments: tuple[str, ...] = ()
    ours_only: bool = False

    @property
    def key(self) -> str:
        """What a later mention has in common with the definition."""
        return self.label or self.sql

    def mention(self, of: "Query | None" = None) -> "Query":
        """The record that says this query's rows: `of`, as it stands, or a new one."""
        if of is not None:
            return replace(of, rows=self.rows)
        return replace(self, sql="" if self.label else self.sql, comments=())

    def text(self) -> str:
        """The record as it stands in the file."""
        head = f"query {self.types} rowsort" + (f" {self.label}" if self.label else "")
        only = ["onlyif ivm"] if self.ours_only else []
        return "\n".join(
            [*self.comments, *only, head, *filter(None, [self.sql]), "----", *self.rows]
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """A query that cannot become a view; `error` is searched in `code: message`."""

    sql: str
    error: str
    line: int
    comments: tuple[str, ...] = ()

    def text(self) -> str:
        """The record as it stands in the file."""
        return "\n".join([*self.comments, f"query error {self.error}", self.sql])


Record = Statement | Query | Refusal


@dataclass(frozen=True, slots=True)
class Feature:
    """A line of the table of SQL support."""

    section: str
    what: str
    note: str
    file: str


@dataclass(frozen=True, slots=True)
class Step:
    """A statement (none before the first one) and the queries and refusals that follow it."""

    statement: Statement | None
    checks: list[Query | Refusal] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Script:
    """One file: its name, the comments at its head, and its records."""

    name: str
    head: str
    records: tuple[Record, ...]

    def features(self) -> list[Feature]:
        """What the file says that it shows (raises BadScript)."""
        found = []
        for line in _FEATURE.findall(self.head):
            section, what, *note = (part.strip() for part in line.split("|"))
            found.append(Feature(section, what, note[0] if note else "", self.name))
        if not found:
            raise BadScript(f"{self.name}: a file begins with `# feature: section | what`")
        return found

    def steps(self) -> list[Step]:
        """The records, each statement with what follows it."""
        steps = [Step(None)]
        for record in self.records:
            if isinstance(record, Statement):
                steps.append(Step(record))
            else:
                steps[-1].checks.append(record)
        return steps

    def text(self) -> str:
        """The whole file."""
        return "\n\n".join([self.head, *(record.text() for record in self.records)]) + "\n"


def read(path: Path) -> Script:
    """The script of a file (raises BadScript)."""
    blocks = _blocks(path.read_text())
    name = path.name
    head: list[str] = []
    records: list[Record] = []
    comments: list[str] = []
    for line, lines in blocks:
        notes = [text for text in lines if text.startswith("#")]
        body = [text for text in lines if not text.startswith("#")]
        if not body and not records and not comments:
            head += ["", *notes] if head else notes
        elif not body:
            comments += [*notes, ""]
        else:
            place = f"{name}:{line + len(notes)}"
            record = _record(place, body, line + len(notes))
            records.append(replace(record, comments=(*comments, *notes)))
            comments = []
    return Script(name, "\n".join(head), _defined(name, records))


def _blocks(text: str) -> list[tuple[int, list[str]]]:
    """The paragraphs, with the number of their first line."""
    blocks: list[tuple[int, list[str]]] = []
    fresh = True
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            fresh = True
        elif fresh:
            blocks.append((number, [line.rstrip()]))
            fresh = False
        else:
            blocks[-1][1].append(line.rstrip())
    return blocks


def _record(place: str, body: list[str], line: int) -> Record:
    ours_only = body[0] == "onlyif ivm"
    head, *rest = body[1:] if ours_only else body
    if match := _STATEMENT.fullmatch(head):
        return Statement("\n".join(rest), match["error"], line)
    if match := _QUERY.fullmatch(head):
        if match["error"] is not None:
            return Refusal("\n".join(rest), match["error"], line)
        at = rest.index("----") if "----" in rest else len(rest)
        sql, rows = "\n".join(rest[:at]), tuple(rest[at + 1 :])
        return Query(match["types"], match["label"], sql, rows, line, ours_only=ours_only)
    raise BadScript(f"{place}: no record begins with {head!r}")


def _defined(name: str, records: list[Record]) -> tuple[Record, ...]:
    """See that a mention by label alone follows the definition."""
    known: set[str] = set()
    for record in records:
        if isinstance(record, Query):
            if not record.sql and record.key not in known:
                raise BadScript(f"{name}:{record.line}: no query {record.label!r} stands before")
            if record.sql and record.label in known:
                raise BadScript(f"{name}:{record.line}: a second query {record.label!r}")
            known.add(record.key)
    return tuple(records)
