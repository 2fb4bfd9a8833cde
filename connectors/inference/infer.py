"""Finds the format of a topic, and its columns by schema or by the values of its first records.

The newest schema of the registry's subjects `TOPIC-value` and `TOPIC-key` comes first, since it is
there before a record is; else the schema that the first record names or holds.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import pyarrow as pa

from connectors.columns.faults import Fault
from connectors.columns.writer_schema import UNDESCRIBED, Logical
from connectors.declaration import Declaration
from connectors.envelopes.append import Append
from connectors.envelopes.envelope import ENVELOPES
from connectors.errors import InvalidTable, RegistryUnavailable
from connectors.formats.csv import Lines
from connectors.formats.format import FORMATS
from connectors.formats.parsed import Parsed, Reader
from connectors.formats.raw import Bytes
from connectors.inference import lines, schemas, values
from connectors.inference.assemble import Found, Key, assemble, envelope_of
from connectors.inference.guess import Guess
from connectors.inference.proposal import Given, Proposal
from connectors.inference.topics import Topic
from connectors.records import Part, Records

# Among so many records one is looked for that has a value, and one that has a key.
_FEW = 100


def describe(topic: Topic, given: Given) -> Proposal:
    """What the schemas of a topic say, in a registry or in the first record.

    Raises InvalidTable, which says what to declare instead; RegistryUnavailable; and what
    `Topic.first` raises.
    """
    look = _Look(topic, given, _FEW)
    with _telling(topic):
        form, written = look.written or ("", None)
        if written is None:
            raise InvalidTable(look.nothing)
        return _by_schema(look, form, written, is_sampled=False)


def infer(topic: Topic, given: Given, limit: int) -> Proposal:
    """What the first records of a topic, at most so many, show; or its schemas, if it has any.

    Raises as `describe`, but records need no schema.
    """
    look = _Look(topic, given, limit)
    with _telling(topic):
        if look.written is None:
            return _by_lines(look)
        form, written = look.written
        if written is not None:
            return _by_schema(look, form, written, is_sampled=True)
        return _by_values(look, form)


class _Look:
    """One look at a topic; records are read when they are first asked for."""

    def __init__(self, topic: Topic, given: Given, limit: int) -> None:
        self.topic = topic
        self.given = given
        self._limit = limit
        self._faults: list[str] = []
        named = Declaration(topic.name, topic.name, pa.schema([]), ())
        self._readers = {part: Reader(named, topic.schemas, part) for part in ("value", "key")}

    @cached_property
    def records(self) -> Records:
        """The first records."""
        return self.topic.first(self._limit)

    @cached_property
    def written(self) -> tuple[str, Logical | None] | None:
        """The format of the values, and their type where a schema gives it."""
        return self._by_subject("value", self._formats(registered=True)) or self._by_record()

    @property
    def has_deletions(self) -> bool:
        """Whether records without a value were seen, which delete the row of their key."""
        return any(value is None for value in self.records.values)

    @property
    def nothing(self) -> str:
        """Why there are no columns, and what to do."""
        place, told = self.topic.place, "; ".join(self._faults)
        if len(self.records) > 0:
            return (
                f"{place}: its records have no schema that says their columns"
                f"{told and f' ({told})'}; declare `columns` (`ivm source infer {self.topic.name}` "
                "proposes them)"
            )
        if told:
            return f"{place}: its schema in the registry cannot be read ({told}); declare `columns`"
        registry = ", and the schema registry has no subject of it" if self.topic.schemas else ""
        return f"{place}: it has no record yet{registry}; declare `columns`"

    def parse(self, form: str, part: Part, records: Records) -> Parsed:
        """The values or keys of records."""
        return FORMATS[form].parse(records, self._readers[part])

    def key(self, form: str) -> Key:
        """The form of the records' keys."""
        if not self.topic.has_keys:
            return Key()
        if (described := self._by_subject("key", [form])) is not None:
            return _described_key(described[1])
        keys = self.records.contents("key")
        first = next((n for n, key in enumerate(keys) if key is not None), None)
        if first is None:
            return Key()
        parsed = self.parse(form, "key", self.records.slice(first, first + 1))
        writer = parsed.writers[0] if parsed.writers is not None else None
        if isinstance(parsed.values[0], Fault):
            return Key(is_raw=True)
        if writer is not None and writer is not UNDESCRIBED:
            return _described_key(writer)
        found = self.parse(form, "key", self.records).values
        documents = [one for one in found if isinstance(one, Mapping)]
        if documents:
            return Key(values.guesses(documents))
        return Key(whole=values.guess([one for one in found if not isinstance(one, Fault)]))

    def _formats(self, *, registered: bool = False) -> list[str]:
        """The formats that describe themselves, or have schemas in the connection's registry."""
        wanted = [self.given.format] if self.given.format is not None else list(FORMATS)
        return [
            name
            for name in wanted
            if FORMATS[name].holds != "columns"
            and (self.topic.schemas is not None if FORMATS[name].needs_registry else not registered)
        ]

    def _by_subject(self, part: Part, formats: list[str]) -> tuple[str, Logical] | None:
        """The format and the type of a registered schema."""
        forms = [form for form in formats if FORMATS[form].needs_registry]
        registry = self.topic.schemas
        texts = registry.subject(f"{self.topic.name}-{part}") if registry and forms else None
        for form in forms if texts is not None else ():
            described = FORMATS[form].described(texts or ())
            if not isinstance(described, Fault):
                return form, described
            self._faults.append(f"{form}: {described.message}")
        return None

    def _by_record(self) -> tuple[str, Logical | None] | None:
        """The format of the first value, and the type that its schema gives it."""
        found = self.records.values
        first = next((n for n, value in enumerate(found) if value is not None), None)
        if first is None:
            return None
        for form in self._formats():
            parsed = self.parse(form, "value", self.records.slice(first, first + 1))
            value, writer = parsed.values[0], parsed.writers[0] if parsed.writers else None
            if isinstance(value, Fault):
                self._faults.append(f"{form}: {value.message}")
            elif writer is not None and writer is not UNDESCRIBED:
                return form, writer
            elif isinstance(value, Mapping):
                return form, None
        return None


def _described_key(written: Logical) -> Key:
    if written.kind == "struct":
        return Key(schemas.guesses(written))
    return Key(whole=schemas.guess(written))


def _by_schema(look: _Look, form: str, written: Logical, *, is_sampled: bool) -> Proposal:
    key = look.key(form)
    is_table = look.topic.is_compacted or (is_sampled and look.has_deletions)
    envelope = envelope_of([written.fields], key, look.given, is_table=is_table)
    row = ENVELOPES[envelope].row(written)
    rows = schemas.guesses(row) if row is not None else {}
    found = Found(look.topic.place, form, envelope, [written.fields], rows, key)
    return assemble(found, look.given, guesses_key=is_sampled)


def _by_values(look: _Look, form: str) -> Proposal:
    found = [v for v in look.parse(form, "value", look.records).values if isinstance(v, Mapping)]
    key = look.key(form)
    is_table = look.topic.is_compacted or look.has_deletions
    envelope = envelope_of(found, key, look.given, is_table=is_table)
    recognition = ENVELOPES[envelope].recognition
    rows = values.guesses([row for value in found for row in recognition.rows_of(value)])
    told = Found(look.topic.place, form, envelope, found, rows, key)
    return _by_sample(assemble(told, look.given, guesses_key=True), len(look.records))


def _by_lines(look: _Look) -> Proposal:
    """Rows of texts that are cut at a delimiter, or of whole texts or bytes."""
    contents = [value for value in look.records.values if value is not None]
    if not contents:
        raise InvalidTable(look.nothing)
    try:
        texts = [content.decode() for content in contents]
    except UnicodeDecodeError:
        texts = []
    cut = lines.cut(texts) if texts and look.given.format in (None, Lines.name) else None
    if cut is None:
        whole = Guess(pa.string() if texts else pa.binary(), is_nullable=False)
        found = Found(look.topic.place, Bytes.name, Append.name, (), {"value": whole}, Key())
        return assemble(found, look.given, guesses_key=True)
    form, fields = cut
    rows, doubts = lines.guesses(fields)
    found = Found(look.topic.place, Lines.name, Append.name, (), rows, Key())
    made = assemble(found, look.given, guesses_key=True)
    made = replace(made, csv=form, unsure=(*doubts, *made.unsure))
    return _by_sample(made, len(contents))


def _by_sample(made: Proposal, count: int) -> Proposal:
    """A proposal with the doubt that all of it is by so many records."""
    whole = [
        field.name for field in made.schema if not field.nullable and field.name not in made.key
    ]
    told = f", as NULL in {', '.join(whole)}" if whole else ""
    doubt = f"by {count} records: there may be more than they show{told}"
    return replace(made, unsure=(doubt, *made.unsure))


@contextmanager
def _telling(topic: Topic) -> Iterator[None]:
    """Name the topic where its registry does not answer."""
    try:
        yield
    except RegistryUnavailable as error:
        raise RegistryUnavailable(
            f"{topic.place}: its columns are in the schema registry. {error}; try again, or "
            "declare `columns`"
        ) from error
