"""The envelopes of changes, and the contract that each keeps.

An envelope is a module of this package and a place in `ENVELOPES`: all that depends on it is asked
here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import pyarrow as pa

from connectors.columns.to_arrow import Converter
from connectors.columns.writer_schema import Logical
from connectors.declaration import Declaration
from connectors.envelopes.append import Append
from connectors.envelopes.canal import Canal
from connectors.envelopes.debezium import Debezium
from connectors.envelopes.flat import Flat
from connectors.envelopes.images import Contents, Images, Keys, Stamps
from connectors.envelopes.layout import Layout
from connectors.envelopes.maxwell import Maxwell
from connectors.envelopes.mongodb import MongoDb
from connectors.envelopes.recognition import Recognition
from connectors.envelopes.transactions import Transactions
from connectors.envelopes.upsert import Upsert
from connectors.formats.parsed import Holding
from connectors.named import by_name


class Envelope(Protocol):
    """Finds the rows that a record changes; stateless, and safe on any thread and executor.

    >>> from connectors.envelopes.images import Shape
    >>> update = {"op": "u", "before": {"id": 1, "n": 5}, "after": {"id": 1, "n": 6}}
    >>> contents = Contents([update], None, lambda i: None, Shape(("id", "n"), ("id",), False))
    >>> images = ENVELOPES["debezium"].images(contents)
    >>> list(zip(images.owners, images.rows, images.diffs))
    [(0, {'id': 1, 'n': 5}, -1), (0, {'id': 1, 'n': 6}, 1)]

    `holds`: the values that it can come in. `rows_stay`: rows are added and never taken away;
    otherwise a change is of a primary key's row. `keys`: the records' keys have the columns of the
    primary key. `has_before`: there may be whole images before changes. `has_transactions`:
    the ids of transactions may be told. `leaves_out`: a placeholder may stand for a value that did
    not change. `has_encodings`: a table's `encodings` say how values are written. `layout`: where
    its parts are, if they are decoded natively. `recognition`: how its records are told from
    others.
    """

    name: str
    holds: tuple[Holding, ...]
    rows_stay: bool
    keys: Keys
    has_before: bool
    has_transactions: bool
    leaves_out: bool
    has_encodings: bool
    layout: Layout | None
    recognition: Recognition

    def check(self, table: Declaration) -> None:
        """Raise InvalidTable where the key of a declaration does not fit the envelope."""

    def images(self, contents: Contents) -> Images:
        """The images of records, and a Fault for each that is no change."""

    def row(self, value: Logical) -> Logical | None:
        """The type of a row's image in a value of this type, if it can be told."""

    def image(self, diff: int) -> str:
        """A phrase for the object that a row of this diff came from, for messages."""

    def converter(self, field: pa.Field) -> Converter | None:
        """The maker of a column where no schema says how it is written; None: the format's."""

    def stamps(self, values: Sequence[Any], table: Declaration) -> Stamps:
        """When and where in the database each of these records' changes happened."""


ENVELOPES: Final[Mapping[str, Envelope]] = by_name(
    Debezium(), Flat(), Upsert(), Append(), Maxwell(), Canal(), MongoDb(), Transactions()
)
