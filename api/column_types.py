"""Types of declared columns, by the names of Arrow or of SQL.

Where a name is both's it is Arrow's: `int8` has 8 bits. A length of texts or a precision of times,
as in `varchar(20)` or `timestamp(3)`, is the database's to enforce: the type is that without it.
"""

import re

import pyarrow as pa

from connectors.errors import InvalidTable
from connectors.tables import spec
from views import types
from views.errors import BadDefinition, suggestion

# Names that columns have in databases, and queries do not.
_DECLARED = {
    "character varying": "text",
    "character": "text",
    "char": "text",
    "bpchar": "text",
    "citext": "text",
    "smallserial": "smallint",
    "serial": "integer",
    "bigserial": "bigint",
    "datetime": "timestamp",
}
_SIZED = re.compile(
    r"(varchar|character varying|character|char|bpchar|timestamp|timestamptz|datetime|time)"
    r" ?\( ?\d+ ?\)"
)
_EXAMPLES = (
    "types are named as in SQL (bigint, text, numeric(12, 2), timestamptz, text[]) or by Arrow "
    "(int64, utf8, decimal128(12, 2), timestamp[us, tz=UTC], list<utf8>)"
)


def column_type(name: str) -> pa.DataType:
    """The type that Arrow or SQL calls `name` (raises InvalidTable, which offers what is near)."""
    for read in (spec.type_of, types.parse_type, _declared):
        try:
            return read(name)
        except (InvalidTable, BadDefinition):
            continue
    known = [*spec.TYPES, *types.names(), *_DECLARED]
    near = suggestion(name.lower(), known)
    raise InvalidTable(f"type {name!r} is not supported{near}; {_EXAMPLES}")


def _declared(name: str) -> pa.DataType:
    """The type of a name in a database's declaration (raises BadDefinition)."""
    plain = " ".join(name.lower().split())
    element = plain.rstrip("[]")
    array = plain[len(element) :]
    element = _SIZED.sub(r"\1", element)
    return types.parse_type(_DECLARED.get(element, element) + array)
