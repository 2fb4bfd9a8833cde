"""Every format and envelope keeps its contract, alone and with the others."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from connectors.envelopes.envelope import ENVELOPES
from connectors.errors import InvalidTable
from connectors.formats.format import FORMATS, REASONS
from connectors.named import by_name
from connectors.tables.spec import TableSpec
from ivm.values.types import JSON
from tests.unit.connectors.writers import kafka

SCHEMA = pa.schema([pa.field("id", pa.string(), nullable=False)])
DOCUMENTS = pa.schema([*SCHEMA, pa.field("doc", JSON)])


def declared(format: str, envelope: str) -> TableSpec:
    key = () if ENVELOPES[envelope].rows_stay else ("id",)
    schema = DOCUMENTS if envelope == "mongodb" else SCHEMA
    return kafka(schema, key, format=format, envelope=envelope)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("envelope", ENVELOPES)
def test_an_envelope_comes_in_the_formats_whose_values_it_can_read(
    format: str, envelope: str
) -> None:
    if FORMATS[format].holds in ENVELOPES[envelope].holds:
        assert declared(format, envelope).is_keyed != ENVELOPES[envelope].rows_stay
    else:
        with pytest.raises(InvalidTable, match=rf"format: '{format}' is not possible .*; choose"):
            declared(format, envelope)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_a_file_topic_takes_the_formats_of_lines(form: object) -> None:
    name = next(name for name, one in FORMATS.items() if one is form)
    if FORMATS[name].is_line:
        assert TableSpec("t", "t", SCHEMA, (), format=name, envelope="append").format == name
    else:
        with pytest.raises(InvalidTable, match=r"format: .* in a file topic, which holds lines"):
            TableSpec("t", "t", SCHEMA, (), format=name, envelope="append")


def test_the_reason_of_a_format_is_one_of_the_reasons_there_are() -> None:
    assert {form.reason for form in FORMATS.values()} <= set(REASONS)
    assert len(set(REASONS)) == len(REASONS)


def test_two_parts_of_one_name_are_refused() -> None:
    @dataclass
    class Part:
        name: str

    with pytest.raises(AssertionError, match="one part"):
        by_name(Part("a"), Part("a"))
