"""The exchange of rows between the processes of a cluster, as a node.

It does not change the collection that is distributed among them, and on one process it is nothing.
"""

from dataclasses import dataclass

from ivm.dataflow.node import SameColumns, TypeText
from ivm.dataflow.schema_checks import key_exists
from ivm.dataflow.text import columns_text


@dataclass(frozen=True, slots=True, eq=False)
class Exchange(SameColumns):
    """Exchange moves each row to the process that owns its columns `key`, or to all (None).

    If the input is there `everywhere`, each process keeps what it owns, and nothing moves. Rows
    that are only counted, and of which the columns `summed` are only added up, may travel as fewer
    with the same counts and sums (None: they may not).

    >>> import pyarrow as pa
    >>> from ivm.dataflow.nodes import Get
    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> Exchange(orders, (0,)).text(str), Exchange(orders, None).text(str)
    ('by ($0)', 'to all')
    """

    key: tuple[int, ...] | None
    everywhere: bool = False
    summed: tuple[int, ...] | None = None
    expressions = ()
    passes_rows_on = True
    keeps_growth = True

    @property
    def constant_columns(self) -> tuple[int, ...]:
        return self.input.constant_columns

    def check(self) -> None:
        key_exists("an exchange", self.schema, self.key or ())

    def text(self, type_text: TypeText) -> str:
        if self.key is None:
            return "to all"
        added = "" if self.summed is None else ", added up"
        return f"{'own ' if self.everywhere else ''}by {columns_text(self.key)}{added}"
