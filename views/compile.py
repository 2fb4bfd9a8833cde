"""The room's main face: one query in, one dataflow out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ivm.dataflow import Node
from views.catalog import Catalog


@dataclass(frozen=True, slots=True)
class CompiledView:
    """A dataflow with the view's output `schema`, ready for `Pool.install(name, node, key)`.

    `key` names the columns to look the view up by; `dependencies` the tables and views it reads.
    """

    node: Node
    schema: pa.Schema
    key: tuple[str, ...]
    dependencies: tuple[str, ...]


def compile_view(
    query: str,
    catalog: Catalog,
    key: Sequence[str] | None = None,
    arranged: Collection[str] = (),
) -> CompiledView:
    """Compile an SQL query over the catalog's tables and views.

    `arranged` names the arrangements that exist already (`orders[customer_id]`): a join reads one
    of those in preference to indexing a filtered copy. Without `key` the view is looked up by what
    is known to be unique in it: the columns grouped by, a table's primary key, else all columns.
    Raises a kind of SqlError.
    """
    raise NotImplementedError
