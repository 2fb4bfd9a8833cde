"""Validation checks that nodes fit together, before they are planned.

What functions take and give is checked where they are compiled, and what aggregates and window
calls give where they are planned.
"""

from collections.abc import Hashable

from ivm.dataflow.loop_nodes import free_names
from ivm.dataflow.nodes import Node
from ivm.dataflow.schema_checks import expressions_fit
from ivm.dataflow.traversal import walk
from ivm.errors import Unsupported


def check(node: Node) -> None:
    """Check `node` and all that it reads: each must fit the nodes that it reads.

    Raises SchemaMismatch for a column that does not exist or has another type; Unsupported for an
    object that is no node, for an impossible number of rows or rounds, for a recursive name that
    no loop binds, and for a join whose paths do not belong together.

    >>> import pyarrow as pa
    >>> from ivm.dataflow.nodes import Arrange, Get
    >>> orders = Get("orders", pa.schema([("id", pa.int64())]))
    >>> check(Arrange(orders, (1,)))
    Traceback (most recent call last):
    ivm.errors.SchemaMismatch: an arrangement of column 1, where there are 1
    """
    check_parts(node)
    for each in walk(node):
        if not isinstance(each, Node):
            raise Unsupported(f"no operator for {type(each).__name__}")
        if each.expressions:
            expressions_fit(each.children[0].schema, each.expressions)
        each.check()
    if names := free_names(node):
        raise Unsupported(f"no loop binds {', '.join(map(repr, sorted(names)))}")


def check_parts(node: Hashable) -> None:
    """Raise Unsupported for a node with a part that has no hash, such as a list."""
    try:
        hash(node)
    except TypeError as error:
        raise Unsupported(f"a node with a part that cannot be compared: {error}") from error
