"""Column types by their SQL names: spells Arrow's types, which are the type system, in SQL."""

import re

import pyarrow as pa

from ivm.values.type_names import NAMES, sql_name
from views.errors import BadDefinition

MAX_PRECISION = 38

_SYNONYMS = {
    "bool": "boolean",
    "int2": "smallint",
    "int": "integer",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "double": "double precision",
    "varchar": "text",
    "character varying": "text",
    "string": "text",
    "decimal": "numeric",
    "json": "jsonb",
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    "time without time zone": "time",
}
# A text's length and a moment's digits are the source's to keep.
_SIZED = re.compile(
    r"(varchar|character varying|time|timestamp|timestamptz)"
    r"\s*\(\s*\d+\s*\)(| with(?:out)? time zone)"
)
_PADDED = re.compile(r"(?:char|character|bpchar)\s*(?:\(\s*\d+\s*\))?")
_SCALED = re.compile(r"(?:numeric|decimal)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


def parse_type(text: str) -> pa.DataType:
    """Reads the Arrow type that an SQL type name denotes (raises BadDefinition).

    `numeric` without a precision has 20 digits before the point and 18 after it. An array's name is
    that of its elements' type and `[]`; an array of arrays is a list of lists of any lengths.
    """
    name = " ".join(text.lower().split())
    if name.endswith("[]"):
        return pa.list_(parse_type(name.removesuffix("[]")))
    if match := _SCALED.fullmatch(name):
        precision, scale = int(match[1]), int(match[2] or 0)
        if not (1 <= precision <= MAX_PRECISION and scale <= precision):
            raise BadDefinition(f"{text}: precision is 1 to {MAX_PRECISION}, scale at most that")
        return pa.decimal128(precision, scale)
    if _PADDED.fullmatch(name):
        raise BadDefinition(
            f"{text}: its values come padded with blanks; declare text, and compare rtrim(column)"
        )
    if match := _SIZED.fullmatch(name):
        name = match[1] + match[2]
    kind = NAMES.get(_SYNONYMS.get(name, name))
    if kind is None:
        known = ", ".join([*NAMES, "numeric(p, s)", "arrays (text[])"])
        raise BadDefinition(f"unknown column type {text!r}; known are {known}")
    return kind


def shown_type(kind: pa.DataType) -> str:
    """Names a type for a message: also that of rows, which no stored column has."""
    if isinstance(kind, pa.StructType):
        return f"({', '.join(f'{f.name} {shown_type(f.type)}' for f in kind)})"
    if isinstance(kind, pa.ListType):
        return f"{shown_type(kind.value_type)}[]"
    return type_name(kind)


def type_name(kind: pa.DataType) -> str:
    """Names an Arrow type in SQL; `parse_type` is its inverse (raises BadDefinition)."""
    name = sql_name(kind)
    if name is None:
        raise BadDefinition(f"columns of type {kind} are not supported")
    return name


def names() -> list[str]:
    """Lists the names that `parse_type` reads without a precision."""
    return [*NAMES, *_SYNONYMS]
